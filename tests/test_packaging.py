"""What a checkout and a wheel must hold for `make up` and `pip install` to work."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from app import __version__
from app.store.migrate import migrations_dir, revisions

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_requirement_is_pinned() -> None:
    """`make` installs what was tested: each direct requirement has an exact version in constraints.txt."""
    listed = PROJECT["project"]["dependencies"] + [
        each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra
    ]
    names = {normal(match[0]) for each in listed if (match := re.match(r"[\w.-]+", each))}
    assert names - {normal(name) for name in PINS} - {"windtunnel"} == set()


def test_pins_name_no_place() -> None:
    text = (ROOT / "constraints.txt").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_migrations_are_found() -> None:
    assert (migrations_dir() / "env.py").is_file()
    known, head = revisions()
    assert head in known


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_version_is_one() -> None:
    ran = subprocess.run([sys.executable, "-m", "app.cli", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == __version__


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_names_its_targets() -> None:
    ran = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"up", "test", "check", "clients", "clean"} <= {line.split()[0] for line in ran.stdout.splitlines()}


def test_no_python_is_an_error_that_says_so(tmp_path: Path) -> None:
    """`make up` where only an old Python is."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    ran = subprocess.run(["make", "install", "PYTHON="], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "no Python 3.11 or newer found" in ran.stderr


def test_the_clients_are_pinned_and_name_no_place() -> None:
    """What `make clients` installs: exact versions, and from wherever the machine's own settings say."""
    clients = ROOT / "tests" / "clients"
    wanted = json.loads((clients / "package.json").read_text())["dependencies"]
    assert [version for version in wanted.values() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    assert [path.name for path in clients.iterdir() if "lock" in path.name] == []
    lines = [line for line in (clients / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert any(line.startswith("sagemaker-core==") for line in lines)
