"""The recipes of `clients/`: what can be run here is run, and of the rest what they name exists (CT-15)."""

import ast
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from app.cli import app
from app.settings import load
from tests.clients.conftest import need
from tests.clients.drivers import INSTALLED, PATIENCE, ROOT
from tests.kit import Running

CLIENTS = ROOT / "clients"
ACTION: dict[str, Any] = yaml.safe_load((CLIENTS / "github-action" / "action.yml").read_text())
GITLAB: dict[str, Any] = yaml.safe_load((CLIENTS / "gitlab" / "windtunnel.gitlab-ci.yml").read_text())
CONTAINER = (CLIENTS / "testcontainers" / "windtunnel_container.py").read_text()
DEVCONTAINER: dict[str, Any] = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
RECIPES = [path for path in CLIENTS.rglob("*") if path.suffix in (".md", ".yml", ".py") and "src" not in path.parts]
COMMAND = re.compile(r"(?:^|[\s`\"'/])windtunnel (up|exec|env|status)\b([^\n`|&;]*)", re.M)


@functools.cache
def shown(verb: str) -> str:
    """The help of a command."""
    return CliRunner().invoke(app, [verb, "--help"], terminal_width=200).stdout


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.relative_to(CLIENTS).as_posix())
def test_commands_and_their_options_exist(path: Path) -> None:
    for verb, rest in COMMAND.findall(path.read_text()):
        options = re.findall(r"(?<=\s)--[a-z-]+", rest.partition(" -- ")[0])
        assert [each for each in options if each not in shown(verb)] == [], f"windtunnel {verb}{rest}"


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


def test_curl(service: Running) -> None:
    """CT-0: a world is made, advanced and dropped by the block as it stands there."""
    block = re.search(r"```shell\n(.*?)```", (CLIENTS / "README.md").read_text(), re.S)
    assert block
    told = os.environ | {"WINDTUNNEL_ENDPOINT": service.base}
    ran = subprocess.run(["bash", "-e", "-c", block[1]], env=told, capture_output=True, text=True, timeout=PATIENCE)
    made, advanced, dropped = json.JSONDecoder().decode(f"[{ran.stdout.replace('}{', '},{')}]")
    assert (made["name"], advanced["settled"], dropped) == ("test-1", True, {"dropped": "test-1"})


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[int]:
    """The port of somebody who is ready as soon as the stand-in has been started."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_up = (tmp_path / "up").exists()
            self.send_response(404 if self.path != "/_windtunnel/ready" else 200 if is_up else 503)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_the_action_starts_a_service_and_tells_where_it_is(ready: int, tmp_path: Path) -> None:
    """Its script in bash, with what GitHub would give it; `up` is a stand-in that notes its options."""
    script = tmp_path / "windtunnel"
    up = 'case $1 in up) cd "$RUNNER_TEMP"; echo "$@" >new; mv new up;; *)'
    script.write_text(f'#!/bin/sh\n{up} PYTHONPATH="{ROOT}" exec "{sys.executable}" -m app.cli "$@";; esac\n')
    script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WINDTUNNEL_", "AWS_"))}
    given = {name.upper(): each["default"] for name, each in ACTION["inputs"].items()} | {"PORT": str(ready)}
    runner = {"RUNNER_TEMP": str(tmp_path), "GITHUB_ENV": str(tmp_path / "env")}
    step = next(step for step in ACTION["runs"]["steps"] if step["name"] == "Start")
    ran = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        env=kept | given | runner | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (tmp_path / "up").read_text() == f"up --ephemeral --port {ready} --frozen\n"
    assert int((tmp_path / "windtunnel.pid").read_text()) > 0
    told = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert told["AWS_ENDPOINT_URL"] == told["WINDTUNNEL_ENDPOINT"] == f"http://127.0.0.1:{ready}"
