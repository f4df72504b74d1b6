"""Sizes, generated files, claims, and what must not be in the repository."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.cluster import cluster_status, group_status
from scripts import diagrams

ROOT = Path(__file__).parents[2]
LONGEST = 400
TEXT = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".json", ".ini", ".cfg", ".sh", ".html", ".css", ".js", ""}
GENERATED = sorted(path.stem for path in (ROOT / "scripts").glob("*.py") if path.stem != "__init__")
RULE = re.compile(r"\b(HP|CT|RL|VX|FS)-(W?)(\d+)\b")
LAST = {"HP-W": 7, "HP-": 40, "CT-": 16, "RL-": 30, "VX-": 24, "FS-": 20}
"""The highest number of each family of rules."""
NO_SUCH_RULE = {f"HP-{n}" for n in range(32, 40)}


def tracked() -> list[Path]:
    """The files of the repository: what git knows of, and in an export without git whatever is there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        names = [path for path in ROOT.rglob("*") if not any(part.startswith(".") for part in path.parts)]
    return [path for path in names if path.is_file() and path.suffix in TEXT]


def lines() -> Iterator[tuple[Path, int, str]]:
    for path in tracked():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path.relative_to(ROOT), number, line


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "app").rglob("*.py")}
    assert {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > LONGEST} == {}


def test_no_file_is_called_after_nothing() -> None:
    """A module has the name of a thing."""
    empty = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
    assert [path for path in (ROOT / "app").rglob("*.py") if path.stem in empty] == []


@pytest.mark.parametrize("script", GENERATED)
def test_generated_files_are_current(script: str) -> None:
    """`make check` says the same."""
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{script}", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_drawn_rules_are_the_code_s() -> None:
    """For every combination of facts; a drawing that says something else is not written."""
    for rules, computed in (
        (diagrams.CLUSTER_RULES, diagrams.computed_cluster),
        (diagrams.GROUP_RULES, diagrams.computed_group),
    ):
        diagrams.check_rules(rules, computed)
        with pytest.raises(SystemExit):
            diagrams.check_rules(rules[1:], computed)
    assert cluster_status.__doc__
    assert group_status.__doc__


def claims() -> dict[str, set[str]]:
    """Each rule that a test names, with the files that do."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        for family, wire, number in RULE.findall(path.read_text(encoding="utf-8")):
            found.setdefault(f"{family}-{wire}{number}", set()).add(path.name)
    return found


def test_tests_name_rules_that_exist() -> None:
    wrong = {rule: names for rule, names in claims().items() if not _exists(rule)}
    assert wrong == {}


def _exists(rule: str) -> bool:
    match = RULE.fullmatch(rule)
    assert match is not None
    family, wire, number = match.groups()
    return int(number) <= LAST[f"{family}-{wire}"] and rule not in NO_SUCH_RULE


PROVED = [
    *(f"HP-W{n}" for n in range(1, 8)),
    *(f"HP-{n}" for n in (*range(1, 32), 40)),
    *(f"CT-{n}" for n in (*range(10), *range(11, 17))),
    *(f"RL-{n}" for n in (1, 3, 6, 7, 8, 10, 11, 12, 13, 14, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28)),
]
"""The rules of HyperPod, of our own API as far as it is there, and the promises that are tested on every change."""


def test_every_rule_of_what_is_there_is_named_by_a_test() -> None:
    assert [rule for rule in PROVED if rule not in claims()] == []


def test_no_path_of_a_machine_is_in_the_repository() -> None:
    """Written apart, so that this file does not find itself."""
    words = ["/" + "work/", "/" + "root/", "/home/" + "runner", "issue" + " 2"]
    found = [f"{path}:{number}" for path, number, line in lines() if any(word in line for word in words)]
    assert found == []


def test_constraints_name_no_registry() -> None:
    """Nor credentials: versions and nothing else."""
    constraint = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+")
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    wanted = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line for line in wanted if not constraint.fullmatch(line)] == []
    assert "://" not in text
    assert "index-url" not in text


def test_no_private_registry_is_named() -> None:
    """Whoever installs the project uses a registry of their own choice."""
    settings = re.compile(r"(index[-_]url|extra[-_]index|trusted[-_]host|registry\.npmjs)", re.IGNORECASE)
    skipped = Path("tests/architecture/test_house.py")
    assert [f"{path}:{n}" for path, n, line in lines() if path != skipped and settings.search(line)] == []
