"""The searches find better points than chance, and the same ones again (VX-21)."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from app.core.reports import metrics_of, program_of, reports
from app.core.search_space import space_of
from app.usecases import search
from app.usecases.search import REMEMBERED, Search, Tried
from tests.core.studies import categorical, discrete, double, integer, study, trial_job, under

BOWL = study(
    double("x", 0, 10), double("y", 1e-4, 1, "UNIT_LOG_SCALE"), categorical("kind", "a", "b", "c"), integer("n", 1, 50)
)
TREE = study(
    under(categorical("opt", "adam", "sgd"), (["sgd"], double("momentum"))),
    double("lr", 0.01, 1, "UNIT_REVERSE_LOG_SCALE"),
)
SMALL = study(integer("n", 1, 3), categorical("c", "a", "b"))


def searching(spec: dict[str, Any], algorithm: str = "", seed: int = 7) -> Search:
    return Search(algorithm, space_of(spec), metrics_of(spec), seed, "t-1")


def play(one: Search, spec: dict[str, Any], count: int, parallel: int = 1) -> list[Tried]:
    """So many trials, each batch of them started when the one before has completed."""
    program, history = program_of(trial_job(), spec), list[Tried]()
    while len(history) < count:
        found = one.suggest(len(history) + 1, parallel, history)
        history += [Tried(values, final(program, values)) for values in found]
        if len(found) < parallel:
            break
    return history


def final(program: Any, values: Mapping[str, Any]) -> Mapping[str, float]:
    return reports(program, 7, "", values, 1000, 1000)[-1].metrics


def best(history: list[Tried]) -> float:
    return max(one.metrics["accuracy"] for one in history if one.metrics)


def test_the_default_search_learns() -> None:
    """VX-21: after 40 trials it has found what 40 draws of chance have not, for each of three seeds."""
    for seed in (1, 2, 3):
        learnt, chance = (best(play(searching(BOWL, name, seed), BOWL, 40)) for name in ("", "RANDOM_SEARCH"))
        assert learnt > chance


def test_the_first_trial_is_the_centre() -> None:
    assert searching(BOWL).suggest(1, 1, []) == [{"x": 5.0, "y": 0.01, "kind": "b", "n": 26}]


@pytest.mark.parametrize("spec", [BOWL, TREE, SMALL], ids=["bowl", "tree", "small"])
@pytest.mark.parametrize("algorithm", ["", "RANDOM_SEARCH"])
def test_the_same_again(spec: dict[str, Any], algorithm: str) -> None:
    """RL-10: from the same trials the same suggestion, of whatever process."""
    history = play(searching(spec, algorithm), spec, 24, parallel=4)
    for done in range(0, len(history), 4):
        again = searching(spec, algorithm).suggest(done + 1, 4, history[:done])
        assert again == [one.values for one in history[done : done + 4]]
    assert play(searching(BOWL, algorithm, 8), BOWL, 4) != play(searching(BOWL, algorithm, 7), BOWL, 4)


def test_conditions_hold() -> None:
    for one in play(searching(TREE), TREE, 30, parallel=3):
        assert one.values.keys() == ({"opt", "momentum", "lr"} if one.values["opt"] == "sgd" else {"opt", "lr"})


def test_parallel_trials_differ() -> None:
    first = play(searching(BOWL), BOWL, 20, parallel=20)
    assert len({tuple(one.values.items()) for one in first}) == 20


def test_a_finite_space_is_tried_once() -> None:
    """The default search ends when nothing is left; a grid goes in order."""
    learnt, in_order = (play(searching(SMALL, name), SMALL, 50) for name in ("", "GRID_SEARCH"))
    assert len(learnt) == len(in_order) == 6
    assert sorted(map(str, learnt)) == sorted(map(str, in_order))
    assert [one.values for one in in_order][:3] == [{"n": 1, "c": "a"}, {"n": 1, "c": "b"}, {"n": 2, "c": "a"}]


def test_failed_trials_teach_nothing_and_are_not_tried_again() -> None:
    history = [Tried({"n": n, "c": c}, failed=True) for n in (1, 2, 3) for c in "ab"]
    assert searching(SMALL).suggest(7, 1, history) == []
    assert searching(SMALL).suggest(6, 2, history[:-1]) == [{"n": 3, "c": "b"}]


def test_two_metrics() -> None:
    both = study(
        double("x"), discrete("d"), metrics=[{"metricId": "accuracy"}, {"metricId": "loss", "goal": "MINIMIZE"}]
    )
    assert len(play(searching(both), both, 15)) == 15


def test_a_long_history_is_cut() -> None:
    """Half of what is kept are the best."""
    history = [Tried({"x": n / 1000}, {"accuracy": n % 500}) for n in range(1000)]
    kept = search._remembered(history, metrics_of(study())[0])
    assert len(kept) == REMEMBERED and kept[REMEMBERED // 2 :] == history[-REMEMBERED // 2 :]
    assert min(one.metrics["accuracy"] for one in kept[: REMEMBERED // 2] if one.metrics) == 450


WITHOUT = """
import sys
sys.modules["optuna"] = None
from app.usecases import search
from app.core.errors import FailedPrecondition
search.check("GRID_SEARCH")
try:
    search.check("")
except FailedPrecondition as refused:
    print(refused.message)
"""


def test_without_optuna() -> None:
    """Only the default search needs it, and says so."""
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert "windtunnel[search]" in run.stdout
    search.check("")


def test_optuna_is_loaded_when_it_is_needed() -> None:
    code = "import sys, app.usecases.search; print('optuna' in sys.modules, 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
