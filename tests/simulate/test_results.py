"""Cases over processes, and results as tables, files and pictures."""

import csv
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from app.core.errors import Invalid
from app.simulate import machines, processes
from app.simulate.cases import Case, solve
from app.simulate.files import write
from app.simulate.plots import draw
from app.simulate.report import summary
from tests.simulate.small import at_random

CASES = [Case("budget", partial(at_random, seed), label=label) for seed in (1, 2) for label in ("", "again")]


def test_cases_over_processes_are_those_of_one_in_their_order() -> None:
    """FS-16: where a case runs changes nothing."""
    done: list[int] = []
    spread = processes.solve_all(CASES, 2, done.append)
    assert spread == [solve(case) for case in CASES]
    assert done == sorted(done)
    assert done[-1] == len(CASES)


def test_a_failure_in_a_process_is_told_as_it_was() -> None:
    """Nor does it wait for a case that would run for hours."""
    before = set(active_children())
    month = partial(at_random, 1, jobs=100_000, nodes=200, hours=24 * 30)
    with pytest.raises(Invalid, match="no policy 'lottery'"):
        processes.solve_all([Case("budget", month), Case("lottery", month)], 2, lambda _done: None)
    for child in set(active_children()) - before:
        child.join(30)
    assert set(active_children()) <= before


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(Invalid, match=r"windtunnel\[ray\]"):
        machines.solve_all(CASES, "auto", lambda _done: None)


def test_progress_is_the_simulated_time_to_the_end() -> None:
    heard: list[tuple[int, int]] = []
    result = solve(CASES[0], lambda now, ends: heard.append((now, ends)))
    assert heard[-1] == (result.ends, result.ends)
    assert heard == sorted(heard)


def test_the_summary_takes_seeds_together() -> None:
    one, two = (solve(Case("budget", partial(at_random, seed))) for seed in (1, 2))
    both = summary([one, two])
    singles = [summary([one]), summary([two])]
    assert both["seeds"] == 2
    assert both["submitted"] == sum(row["submitted"] for row in singles)
    assert both["worst_leaf"] == min(row["worst_leaf"] for row in singles)
    assert both["delivered"] == pytest.approx(sum(row["delivered"] for row in singles) / 2, abs=1e-4)
    assert both["all_jobs"] == sum(row["all_jobs"] for row in singles)


def test_files_and_pictures_are_the_same_each_time(tmp_path: Path) -> None:
    """The same results leave the same files, byte for byte, and a table has every policy and leaf."""
    pytest.importorskip("matplotlib")
    results = [solve(case) for case in CASES[:2]]
    for folder in (tmp_path / "one", tmp_path / "two"):
        written = write(results, folder) + draw(results[:1], folder)
    one = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert one == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    assert set(one) == {path.name for path in written} >= {"summary.csv", "waits.svg", "shares-budget.svg"}
    with (tmp_path / "one" / "leaves.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["policy"], row["leaf"]) for row in rows} == {
        (policy, leaf) for policy in ("budget", "again") for leaf in ("shop", "lab.a", "lab.b")
    }
