"""The rules of the house are build failures: each contract holds, and each bites."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BANNED = SETTINGS["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
CONTRACTS = [contract["name"] for contract in SETTINGS["tool"]["importlinter"]["contracts"]]


def run(*command: str | Path, directory: Path = ROOT, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(directory), "NO_COLOR": "1", "COLUMNS": "200"},
    )


def test_the_contracts_hold() -> None:
    done = run(TOOLS / "lint-imports", "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"{name} KEPT" in done.stdout for name in CONTRACTS)


PLANTED = {
    "Layers point inwards": {
        "app/core/chance.py": "from app.store import rows",
        "app/store/rows.py": "import app.usecases.prices",
        "app/usecases/prices.py": "import app.wire.safety",
        "app/console/forms.py": "import app.wire.safety",
    },
    "Edges reach the store through use cases; of it they know the database alone": {
        "app/console/rendering.py": "import app.store.clusters",
        "app/wire/front.py": "import app.store.clusters",
        "app/workers/loop.py": "import app.store.ledger",
    },
    "The two clouds do not know each other": {"app/wire/vertex/names.py": "import app.wire.sagemaker"},
    "The core is pure": {"app/core/ids.py": "import asyncio", "app/core/faults.py": "import sqlalchemy"},
    "The catalogue is data": {"app/catalog/tables.py": "import app.core.times"},
    "Only model.py knows botocore": {"app/usecases/limits.py": "import botocore.session"},
    "Only gRPC knows Google's packages": {"app/usecases/tagging.py": "import grpc"},
    "Only search.py knows optuna": {"app/usecases/quotas.py": "import optuna"},
    "The simulator knows the core alone": {"app/simulate/waits.py": "import sqlalchemy"},
    "Only plots.py knows matplotlib, and only machines.py Ray": {"app/simulate/report.py": "import matplotlib.figure"},
}


def test_every_folder_is_a_package() -> None:
    """import-linter does not look into a folder without `__init__.py`, and finds nothing wrong in it."""
    folders = {path.parent for path in (ROOT / "app").rglob("*.py")}
    assert [str(each) for each in folders if not (each / "__init__.py").exists()] == []


def test_every_contract_bites(tmp_path: Path) -> None:
    """A planted import breaks each of them: a contract that names modules wrongly would keep silent."""
    shutil.copytree(ROOT / "app", tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for files in PLANTED.values():
        for name, line in files.items():
            path = tmp_path / name
            path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    done = run(TOOLS / "lint-imports", "--no-cache", directory=tmp_path)
    assert done.returncode != 0
    assert set(CONTRACTS) == set(PLANTED), "a new contract needs a planted violation"
    assert [name for name in CONTRACTS if f"{name} BROKEN" not in done.stdout] == []


def planted(name: str) -> str:
    """A line that uses a banned name."""
    module, _, attribute = name.rpartition(".")
    return f"from {module} import {attribute}\n" if module else f"import {name}\n"


def lint(path: str, text: str) -> str:
    command = ("check", "--no-cache", "--select", "TID251", "--output-format", "concise", "--stdin-filename", path, "-")
    return run(TOOLS / "ruff", *command, text=text).stdout


@pytest.mark.parametrize("name", BANNED)
def test_clocks_and_chance_are_banned(name: str) -> None:
    """Only app/clock.py reads clocks and entropy."""
    uses = {
        "datetime.datetime.now": "import datetime\ndatetime.datetime.now()\n",
        "datetime.datetime.utcnow": "import datetime\ndatetime.datetime.utcnow()\n",
        "datetime.datetime.today": "from datetime import datetime\ndatetime.today()\n",
    }
    text = uses.get(name) or planted(name)
    assert "TID251" in lint("app/core/planted.py", text)
    assert "TID251" not in lint("app/clock.py", text)


REQUIRED = {
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "time.time",
    "time.monotonic",
    "time.sleep",
    "asyncio.sleep",
    "random",
    "secrets",
    "uuid.uuid4",
    "sqlalchemy.func.now",
}


def test_nothing_has_left_the_list() -> None:
    assert set(BANNED) >= REQUIRED


def test_one_file_is_exempt() -> None:
    """No `noqa` and no wider pattern lets a clock into another file of the application."""
    ignores = SETTINGS["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert [path for path, rules in ignores.items() if "TID251" in rules and path.startswith("app")] == ["app/clock.py"]
    files = [path for path in (ROOT / "app").rglob("*.py") if "TID251" in path.read_text(encoding="utf-8")]
    assert files == []
