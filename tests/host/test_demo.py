"""`windtunnel demo`: what it tells, that its commands do what it did, and that it leaves nothing behind."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from app.cli import app
from app.settings import Settings
from tests.kit import PLAIN, Running, TestWorld, serving

PATIENCE = 120.0  # wall seconds; only a failure waits so long
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Running]:
    """A service whose log does not mix with what the verbs print in the same process."""
    with serving(Settings(database_url=dsn, frozen=True)) as running:
        yield running


def played(service: Running, *words: str) -> str:
    runner = CliRunner(env={"COLUMNS": "160"})
    ran = runner.invoke(app, ["demo", "--endpoint", service.base, *words], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


@pytest.fixture(scope="module")
def told(service: Running) -> dict[str, Any]:
    """Played where there is a world `demo` already."""
    service.http.post("/_windtunnel/worlds", json={"name": "demo"}).raise_for_status()
    document: dict[str, Any] = json.loads(played(service, "--json"))
    return document


def test_it_is_told_step_by_step(service: Running) -> None:
    """A rollback after three hours, a preemption after the protected window, a bill; and where to look."""
    text = played(service, "--world", "told")
    acts = [text.index(act) for act in ("A rollback", "A preemption", "The bill")]
    assert acts == sorted(acts)
    for words in (
        "Minimum capacity of 8 instances was not reached within 3 hours",
        "gpus-protected",
        "product 0.9911 against research 1.0119",
        "hours for nothing",
        f"{service.base}/console/told",
        "windtunnel world drop told",
    ):
        assert words in text


def test_as_json_it_is_the_same_steps(service: Running, told: dict[str, Any]) -> None:
    """In the first world that has a free name; one that is there is left alone."""
    assert told["endpoint"] == f"{service.base}/w/demo-2"
    assert told["console"] == f"{service.base}/console/demo-2"
    steps = told["steps"]
    assert [step["act"] for step in steps if step["means"].startswith("Warn")] == ["A rollback"]
    [refused] = [row for step in steps for row in step["rows"] if row.get("reason")]
    assert refused == {"reason": "gpus-protected", "wanted": 8, "free": 0, "earliest": "2026-01-01T05:11:00.000Z"}
    assert all(step["commands"] and step["says"] for step in steps)


def test_its_commands_do_what_it_did(service: Running, told: dict[str, Any]) -> None:
    """Typed into a shell they make an equal world, to the byte (CT-2)."""
    other = TestWorld(service.base, "typed")
    commands = [command for step in told["steps"] for command in step["commands"]]
    for command in (each for each in commands if "describe-cluster" not in each):
        typed = command.replace("create demo-2", f"create typed --endpoint {service.base}")
        words = shlex.split(typed)
        if words[0] == "windtunnel":
            where = [] if "--endpoint" in words else ["--endpoint", other.endpoint]
            ran = CliRunner().invoke(app, [*words[1:], *where], catch_exceptions=False)
            assert ran.exit_code == 0, (command, ran.output)
        elif words[0] == "aws":
            _aws(other.endpoint, words[1:])
        else:
            assert command == f'eval "$(windtunnel env --endpoint {service.base} --world demo-2)"'
    compared = service.http.get("/_windtunnel/worlds/demo-2/compare/typed").json()
    other.close()
    assert compared == {"equal": True, "count": 0, "differences": []}


def _aws(endpoint: str, words: list[str]) -> None:
    told = {"AWS_ENDPOINT_URL": endpoint, "AWS_DEFAULT_REGION": "us-west-2", "AWS_PAGER": ""}
    told |= {"AWS_ACCESS_KEY_ID": "windtunnel", "AWS_SECRET_ACCESS_KEY": "windtunnel"}
    program = Path(sys.executable).with_name("aws")
    ran = subprocess.run([program, *words], env=os.environ | told, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr


def test_a_world_that_is_there_is_refused(service: Running, told: dict[str, Any]) -> None:
    ran = CliRunner().invoke(app, ["demo", "--endpoint", service.base, "--world", told["world"]])
    assert "There is a world 'demo-2' already" in str(ran.exception)


def test_what_is_about_its_own_service_is_refused_on_another(service: Running) -> None:
    """CT-11."""
    ran = CliRunner().invoke(app, ["demo", "--endpoint", service.base, "--keep"])
    assert ran.exit_code == 2
    assert "--keep" in ran.stderr


def test_its_own_service_stays_until_it_is_told() -> None:
    """`--keep`; the settings of the environment are not for it, and what it made is removed."""
    environment = os.environ | {"WINDTUNNEL_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "demo", "--keep", "--json"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    document, _ = json.JSONDecoder().raw_decode(_document(process))
    base = document["endpoint"].partition("/w/")[0]
    data = Path(httpx.get(f"{base}/_windtunnel/status", verify=PLAIN).json()["data"])
    assert data.exists()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()
    assert not data.exists()


def _document(process: "subprocess.Popen[str]") -> str:
    """What it prints up to the line that closes the document."""
    lines = []
    assert process.stdout
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            return "".join(lines)
    raise AssertionError(f"it ended: {''.join(lines)}")
