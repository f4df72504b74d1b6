"""What a shell proposes: verbs, options, and names of what is there (CT-11)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from tests.commands.conftest import Line
from tests.kit import eks, group


def proposed(*words: str, **environ: str) -> list[str]:
    """What bash would propose for the last word."""
    asked = {"COMP_WORDS": " ".join(("windtunnel", *words)), "COMP_CWORD": str(len(words))}
    given = {"_WINDTUNNEL_COMPLETE": "complete_bash", **asked, **environ}
    ran = CliRunner().invoke(app, [], prog_name="windtunnel", env=given)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.split()


def test_verbs_and_options() -> None:
    assert set(proposed("wor")) == {"workload", "world"}
    assert "--cluster" in proposed("queue", "--cl")
    assert proposed("up", "--profile", "rea") == ["realistic"]


def test_names_of_the_catalogue_and_of_effects() -> None:
    """CT-11: these are there without a service."""
    assert proposed("fault", "add", "script-") == ["script-failed", "script-hang"]
    assert "ml.p5.48xlarge" in proposed("capacity", "set", "ml.p5.4")
    assert "a3-highgpu-8g" in proposed("price", "set", "a3-highgpu")
    assert "us-west-2" in proposed("capacity", "set", "x", "1", "--region", "us-w")
    assert proposed("simulate", "--policy", "max") == ["maxmin"]
    assert "margin=" in proposed("fleet", "set", "demo", "mar")


def test_names_of_what_the_service_has(line: Line) -> None:
    """CT-11: worlds, clusters, budgets, rules, snapshots, workloads, of the world that the line names."""
    world = line.world
    where = {"WINDTUNNEL_ENDPOINT": world.endpoint}
    world.sagemaker.create_cluster(**eks(group("workers", 1, InstanceType="ml.p5.48xlarge")))
    world.advance(hours=1)
    line.say("budget", "create", "team-a")
    line.say("snapshot", "save", "early")
    line.say("workload", "submit", "train-7b", "--gpus", "8")
    rule = world.fault("boot-slow")
    assert world.name in proposed("clock", "show", "--world", "t-", **where)
    assert proposed("bill", "--cluster", "de", **where) == ["demo"]
    assert proposed("budget", "show", "team", **where) == ["team-a"]
    assert proposed("snapshot", "restore", "e", **where) == ["early"]
    assert proposed("why", "tr", **where) == ["train-7b"]
    assert proposed("fault", "rm", rule[:2], **where) == [rule]
    [host] = line.ask("host", "list")["hosts"]
    assert proposed("host", "show", host["node"][:4], **where) == [host["node"]]
    elsewhere = proposed("snapshot", "restore", "--world", world.name, "e", WINDTUNNEL_ENDPOINT=world.base)
    assert elsewhere == ["early"]


def test_without_a_service_nothing_is_proposed() -> None:
    assert proposed("budget", "show", "t", WINDTUNNEL_ENDPOINT="http://127.0.0.1:1") == []
    assert proposed("budget", "show", "t", WINDTUNNEL_ENDPOINT="no address") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str) -> None:
    ran = CliRunner().invoke(app, ["completion", shell])
    assert ran.exit_code == 0
    assert f"_WINDTUNNEL_COMPLETE=complete_{shell}" in ran.stdout


def test_bash_itself_completes(tmp_path: Path) -> None:
    """CT-11: the script as `eval` takes it, with the command on the PATH."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "windtunnel"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m app.cli "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(windtunnel completion bash)"; COMP_WORDS=(windtunnel fault add worker-); COMP_CWORD=3; '
        '_windtunnel_completion windtunnel; echo "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        [bash, "--norc", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.stdout.split() == ["worker-exit", "worker-oom"], ran.stderr
