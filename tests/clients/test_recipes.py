"""The recipes of `clients/`: what can be run here is run, and of the rest what they name exists (CT-15)."""

import ast
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from app.settings import load
from tests.clients.conftest import need
from tests.clients.drivers import INSTALLED, PATIENCE, ROOT
from tests.clients.stranger import Stranger, wait_for_the_end
from tests.kit import Running

CLIENTS = ROOT / "clients"
ACTION: dict[str, Any] = yaml.safe_load((CLIENTS / "github-action" / "action.yml").read_text())
GITLAB: dict[str, Any] = yaml.safe_load((CLIENTS / "gitlab" / "windtunnel.gitlab-ci.yml").read_text())
CONTAINER = (CLIENTS / "testcontainers" / "windtunnel_container.py").read_text()
DEVCONTAINER: dict[str, Any] = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
RECIPES = [path for path in CLIENTS.rglob("*") if path.suffix in (".md", ".yml", ".py") and "src" not in path.parts]
COMMAND = re.compile(r"(?:^|[\s`\"'/])windtunnel (up|exec|env|status)\b([^\n`|&;]*)", re.M)


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.relative_to(CLIENTS).as_posix())
def test_commands_and_their_options_exist(path: Path) -> None:
    helps: dict[str, str] = {}
    for verb, rest in COMMAND.findall(path.read_text()):
        if verb not in helps:
            words = [sys.executable, "-m", "app.cli", verb, "--help"]
            helps[verb] = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        options = re.findall(r"(?<=\s)--[a-z-]+", rest.partition(" -- ")[0])
        assert [each for each in options if each not in helps[verb]] == [], f"windtunnel {verb}{rest}"


def test_the_packages_are_ours() -> None:
    """What is installed is what `make build` makes, with an extra that there is."""
    project = (ROOT / "pyproject.toml").read_text()
    kit = (CLIENTS / "python" / "pyproject.toml").read_text()
    for path in RECIPES:
        text = path.read_text()
        for name, extra in re.findall(r"\b(windtunnel(?:-testkit)?)(?:\[(\w+)\])?(?:==|['\"]| pytest|$)", text, re.M):
            assert f'name = "{name}"' in project + kit
            assert not extra or f"\n{extra} = [" in project


def test_the_recipes_have_the_form_that_is_wanted() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all({"name", "run", "shell"} <= set(step) for step in ACTION["runs"]["steps"])
    named = set(re.findall(r"inputs\.(\w+)", json.dumps(ACTION["runs"])))
    assert named == set(ACTION["inputs"])
    assert all({"image", "script"} <= set(job) for job in GITLAB.values())
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
    assert DEVCONTAINER["postCreateCommand"].split() == ["make", "install"]
    assert "install" in targets
    assert DEVCONTAINER["forwardPorts"] == [4600]


def test_the_container_s_variables_are_settings() -> None:
    """CT-14: with the token it may listen where the host reaches it."""
    assignments = [node for node in ast.parse(CONTAINER).body if isinstance(node, ast.Assign)]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(assignments, []), "container", "exec"), names)
    assert "--host 0.0.0.0" in names["COMMAND"]
    found = load({"host": "0.0.0.0"}, names["VARIABLES"])
    assert (found.control_token, found.allowed_hosts) == (names["TOKEN"], ("localhost", "127.0.0.1"))


def test_javascript(service: Running, tmp_path: Path) -> None:
    """CT-0: the block, as it stands there, in a world of its own."""
    modules = INSTALLED / "node_modules"
    sdk = modules / "@aws-sdk" / "client-sagemaker"
    need("the AWS SDK for JavaScript v3, or node,", sdk.is_dir() and shutil.which("node") is not None)
    block = re.search(r"```js\n(.*?)```", (CLIENTS / "README.md").read_text(), re.S)
    assert block
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "program.mjs").write_text(block[1])
    told = os.environ | {"WINDTUNNEL_ENDPOINT": service.world().endpoint}
    words = ["node", "--no-deprecation", "program.mjs"]
    ran = subprocess.run(words, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.stdout, ran.returncode) == ("0\n", 0), ran.stderr


@pytest.mark.timeout(400)
def test_the_action_starts_a_service_and_tells_where_it_is(open_folder: Path) -> None:
    """CT-7: its script in bash, with what GitHub would give it; then aws-cli's variables lead there."""
    runner = Stranger(open_folder, open_folder).prepare()
    step = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Start")
    port = _free_port()
    variables = runner.environment() | {
        "RUNNER_TEMP": str(open_folder),
        "GITHUB_ENV": str(open_folder / "env"),
        "PORT": str(port),
        "OPTIONS": f"{ACTION['inputs']['options']['default']} --grpc-port 0",
    }
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]], env=variables, capture_output=True, text=True
    )
    process = int((open_folder / "windtunnel.pid").read_text())
    try:
        assert ran.returncode == 0, ran.stdout + ran.stderr
        told = dict(line.split("=", 1) for line in (open_folder / "env").read_text().splitlines())
        assert told["AWS_ENDPOINT_URL"] == told["WINDTUNNEL_ENDPOINT"] == f"http://127.0.0.1:{port}"
        aws = [str(Path(sys.executable).parent / "aws"), "sagemaker", "list-clusters"]
        listed = subprocess.run(aws, env=variables | told, capture_output=True, text=True)
        assert json.loads(listed.stdout) == {"ClusterSummaries": []}, listed.stderr
    finally:
        if psutil.pid_exists(process):
            os.kill(process, signal.SIGTERM)
        wait_for_the_end(process)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
