"""`windtunnel doctor`: each finding has a next step (CT-11)."""

import fcntl
import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands import surroundings
from app.settings import Settings
from app.store import leftovers

HERE = Settings(port=4600)


@pytest.mark.parametrize(
    ("environ", "found", "step"),
    [
        ({}, "go to AWS", "windtunnel env"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}, "is http://127.0.0.1:4566", "windtunnel env"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:4600/w/other"}, "go to http://127.0.0.1:4600/w/other", None),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:4600", "AWS_ENDPOINT_URL_SAGEMAKER": "http://x", "AWS_PROFILE": "p"},
            "elsewhere",
            "unset AWS_ENDPOINT_URL_SAGEMAKER AWS_PROFILE",
        ),
    ],
)
def test_where_the_terminal_s_clients_go(environ: dict[str, str], found: str, step: str | None) -> None:
    told, following = surroundings.clients(HERE, environ)
    assert found in told
    assert (following is None) is (step is None)
    assert step is None or step in str(following)


@pytest.mark.parametrize(
    ("environ", "step"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://proxy:3128"}, "export NO_PROXY=127.0.0.1,localhost"),
        ({"all_proxy": "http://proxy", "no_proxy": "corp.example"}, "export NO_PROXY=corp.example,127.0.0.1,localhost"),
        ({"http_proxy": "http://proxy:3128", "NO_PROXY": "127.0.0.1,localhost"}, None),
        ({"http_proxy": "http://proxy:3128", "NO_PROXY": "*"}, None),
    ],
)
def test_proxies_that_catch_requests_for_this_machine(environ: dict[str, str], step: str | None) -> None:
    assert surroundings.proxies(HERE, environ)[1] == step


def test_what_killed_runs_have_left(tmp_path: Path) -> None:
    """Data that a supervisor holds is not left; what was to be kept is no leftover."""
    for name in ("windtunnel-a", "windtunnel-b", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").write_text("1")
    with (tmp_path / "windtunnel-b" / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert list(leftovers.ephemeral(tmp_path)) == [leftovers.Leftover(tmp_path / "windtunnel-a", None)]
        [(found, step)] = surroundings.left_behind(Settings(data=tmp_path / "kept"), tmp_path)
    assert found.endswith("windtunnel-a")
    assert step == f"rm -r {tmp_path}/windtunnel-a"
    assert leftovers.of(tmp_path / "nothing") is None


def test_a_taken_port_and_a_setting_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-11, CT-13: exit code 1, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("WINDTUNNEL_PORT", str(taken.getsockname()[1]))
        ran = CliRunner().invoke(app, ["doctor", "--json"])
    findings = {each["about"]: each for each in json.loads(ran.stdout)["findings"]}
    assert (ran.exit_code, findings["address"]["ok"]) == (1, False)
    assert "--port" in findings["address"]["next"]
    monkeypatch.setenv("WINDTUNNEL_FOO", "1")
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 1
    assert "FAIL  settings   WINDTUNNEL_FOO is not a setting" in ran.stdout
