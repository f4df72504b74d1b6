"""How a simulated program runs and ends (VX-16), and what a replica may use of its machine (VX-11)."""

from datetime import timedelta

import pytest

from app.core.errors import Invalid
from app.core.job_spec import pools
from app.core.program import Fate, Program, fate, program, saved
from tests.jobs import pool, spec

DEFAULT = timedelta(seconds=10)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def told(labels: dict[str, str] | None = None, environment: dict[str, str] | None = None, **env: str) -> Program:
    [one] = pools(spec(pool(**env)))
    return program(one, labels or {}, environment or {}, DEFAULT)


def ends(what: Program, done: float = 0, memory: float | None = None) -> Fate:
    return fate(what, seconds(done), memory)


def test_by_default_it_runs_for_a_while_and_exits_0() -> None:
    assert ends(told()) == Fate(DEFAULT, 0)


@pytest.mark.parametrize(
    ("env", "end"),
    [
        ({"RUN_SECONDS": "90"}, Fate(seconds(90), 0)),
        ({"RUN_SECONDS": "1.5", "EXIT_CODE": "3"}, Fate(seconds(1.5), 3)),
        ({"EXIT_AFTER_SECONDS": "40"}, Fate(seconds(40), 1)),
        ({"EXIT_AFTER_SECONDS": "4", "EXIT_CODE": "139"}, Fate(seconds(4), 139)),
        ({"EXIT_AFTER_SECONDS": "4", "EXIT_CODE": "0"}, Fate(seconds(4), 0)),
        ({"EXIT_AFTER_SECONDS": "90", "RUN_SECONDS": "20"}, Fate(seconds(20), 0)),
        ({"RUN_SECONDS": "", "EXIT_CODE": " "}, Fate(DEFAULT, 0)),
    ],
)
def test_variables_of_the_pool(env: dict[str, str], end: Fate) -> None:
    assert ends(told(**env)) == end


def test_labels_of_the_job_hold_for_pools_that_say_nothing() -> None:
    labels = {"windtunnel-run-time": "1h30m", "windtunnel-exit-code": "7", "windtunnel-checkpoint-interval": "10m"}
    what = told(labels)
    assert (what.run, what.exit_code, what.checkpoint) == (seconds(5400), 7, seconds(600))
    assert told(labels, RUN_SECONDS="5").run == seconds(5)


def test_variables_of_a_trial_come_before_the_pools() -> None:
    assert told(environment={"WINDTUNNEL_RUN_SECONDS": "7"}, RUN_SECONDS="5").run == seconds(7)


@pytest.mark.parametrize("text", ["soon", "-1", "1e9", "nan", "99999999999"])
def test_what_cannot_be_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(Invalid, match="WINDTUNNEL_RUN_SECONDS is"):
        told(RUN_SECONDS=text)


@pytest.mark.parametrize("text", ["256", "-1", "1.0", "one"])
def test_exit_codes_are_whole_and_small(text: str) -> None:
    with pytest.raises(Invalid, match="from 0 to 255"):
        told(EXIT_CODE=text)
    with pytest.raises(Invalid, match="windtunnel-exit-code"):
        told({"windtunnel-exit-code": text})


def test_too_little_memory_kills_it_after_a_minute() -> None:
    what = told(MEMORY_GB="10", RUN_SECONDS="600")
    assert ends(what, memory=9.9) == Fate(seconds(60), 137)
    assert ends(what, memory=10) == Fate(seconds(600), 0)
    assert ends(told(MEMORY_GB="10"), memory=9) == Fate(DEFAULT, 137)


def test_checkpoints_hold_whole_intervals() -> None:
    what = told(CHECKPOINT_SECONDS="30", RUN_SECONDS="100")
    assert [saved(what, seconds(0), seconds(ran)) for ran in (29, 30, 89.9)] == [seconds(0), seconds(30), seconds(60)]
    assert saved(what, seconds(60), seconds(35)) == seconds(90)
    assert ends(what, done=90) == Fate(seconds(10), 0)
    assert saved(told(), seconds(0), seconds(9)) == seconds(0)
