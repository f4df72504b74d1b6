"""The image and the compose file name only what exists in the code."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.service import compose
from app.settings import PREFIX, load
from app.wire import emulated
from app.wire.control.application import application

ROOT = Path(__file__).parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
OURS = {name: each for name, each in COMPOSE["services"].items() if "build" in each}


@pytest.mark.parametrize("name", OURS)
def test_commands_exist(name: str) -> None:
    verb, *options = OURS[name]["command"]
    shown = subprocess.run(
        [sys.executable, "-m", "app.cli", verb, "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert [each for each in options if each.startswith("--") and each not in shown] == []


@pytest.mark.parametrize("name", OURS)
def test_settings_are_accepted(name: str) -> None:
    """Every variable is a setting, and together with the token they are enough for the command's address."""
    environment = {key: _filled(value) for key, value in OURS[name]["environment"].items()}
    command = OURS[name]["command"]
    flags = {"host": command[command.index("--host") + 1]} if "--host" in command else {}
    found = load(flags, environment)
    assert found.control_token == "given"
    assert found.database_url is not None
    assert COMPOSE["services"]["database"]["environment"]["POSTGRES_PASSWORD"] in found.database_url


def _filled(value: str) -> str:
    """As compose does it: `${A:-default}` the default, `${A:?message}` what the user gave."""
    return re.sub(r"\$\{\w+:(.)([^}]*)\}", lambda found: found[2] if found[1] == "-" else "given", str(value))


def test_the_control_token_must_be_given() -> None:
    """RL-23: the containers bind 0.0.0.0, so nothing starts without a token of the user's own."""
    for service in OURS.values():
        assert service["environment"][f"{PREFIX}CONTROL_TOKEN"].startswith(f"${{{PREFIX}CONTROL_TOKEN:?")


def test_the_shape_of_the_service() -> None:
    """Replicas of the API, gRPC, two reconcilers, one scheduler, and all wait for the one-shot migration."""
    replicas = {name: each.get("deploy", {}).get("replicas", 1) for name, each in OURS.items()}
    assert replicas == {"migrate": 1, "api": 2, "grpc": 1, "reconciler": 2, "scheduler": 1}
    for name in ("api", "grpc", "reconciler", "scheduler"):
        assert OURS[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert all(port.startswith("127.0.0.1:") for name in ("api", "grpc") for port in OURS[name]["ports"])


def test_grpc_listens_where_its_ports_lead() -> None:
    """VX-20: the port that the command names, and TLS on the next."""
    command = OURS["grpc"]["command"]
    port = int(command[command.index("--grpc-port") + 1])
    assert [int(each.rpartition(":")[2]) for each in OURS["grpc"]["ports"]] == [port, port + 1]
    assert f"EXPOSE 4600 {port} {port + 1}" in DOCKERFILE


def test_the_image_copies_what_exists_and_is_not_root() -> None:
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert [each for each in copied if not (ROOT / each).exists()] == []
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")]
    assert sorted(copied) == sorted(allowed)
    assert re.search(r"^USER (?!root)", DOCKERFILE, re.MULTILINE)


def test_the_image_keeps_the_models_that_are_read(tmp_path: Path) -> None:
    """The image's own command takes all other services out of botocore, and nothing else."""
    (command,) = re.findall(r"&& (find /opt/windtunnel/\S*/botocore/data .*\{\} \+)$", DOCKERFILE, re.M | re.S)
    read = {service.name for service in emulated.services()}
    for name in {*read, "ec2", "s3"}:
        (tmp_path / name / "2017-07-24").mkdir(parents=True)
    (tmp_path / "endpoints.json").touch()
    subprocess.run(["sh", "-c", re.sub(r"/opt/\S+", str(tmp_path), command)], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {*read, "endpoints.json"}


def test_the_health_check_asks_a_route_that_exists() -> None:
    """CT-7."""
    path = re.search(r"127\.0\.0\.1:4600(/\S+?)'", DOCKERFILE)
    assert path
    served = application(compose(load({}, {f"{PREFIX}DATABASE_URL": "postgresql://h/d"}), "image"))
    assert path[1] in served.openapi()["paths"]


def test_the_image_runs_variables_that_are_settings() -> None:
    named = dict(re.findall(rf"({PREFIX}\w+)=(\S+)", "\n".join(re.findall(r"^ENV .+$", DOCKERFILE, re.MULTILINE))))
    assert named
    load({}, {key: value for key, value in named.items() if key not in os.environ})
