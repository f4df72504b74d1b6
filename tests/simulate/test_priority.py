"""Ai2's old policy by hand: caps on what is not preemptible, eviction of what is, and who may pass whom."""

from app.simulate.policies.baseline import Baseline
from app.simulate.policies.priority import Backfill, Priority
from app.simulate.workloads import Job, Share
from tests.simulate.driving import HOUR, SECOND, Driver, drive, job, trace_of

HALVES = [Share("a", "", 1), Share("b", "", 1)]


def test_a_team_at_its_cap_waits_beside_idle_gpus() -> None:
    """Two hosts, two teams, so a cap of eight: the third four of team a wait, and b's two hosts' half stays idle."""
    jobs = [job(f"a{number}", "a", 4) for number in range(3)]
    assert drive("priority", trace_of(jobs, 2, HALVES)).started() == {"a0": 0, "a1": 0, "a2": HOUR}


def test_caps_may_come_to_more_than_the_fleet() -> None:
    """At one and a half times its half of sixteen GPUs, team a runs three times four, and b's later eight find four."""
    jobs = [job(f"a{number}", "a", 4) for number in range(4)] + [job("b", "b", 8, submit=SECOND)]
    trace = trace_of(jobs, 2, HALVES)
    driver = Driver(trace, Baseline(trace, Priority(Backfill.PREEMPTIBLE, caps=1_500))).run()
    assert driver.started() == {"a0": 0, "a1": 0, "a2": 0, "a3": HOUR, "b": HOUR}


def test_preemptible_work_exceeds_the_cap_and_yields_the_youngest_first() -> None:
    """Team a runs four times four GPUs on all sixteen; b's eight GPUs of other work push out the youngest two."""
    jobs = [job(f"a{number}", "a", 4, submit=number * SECOND, min_runtime=0, runtime=3 * HOUR) for number in range(4)]
    jobs += [job(f"b{number}", "b", 4, submit=HOUR) for number in range(2)]
    driver = drive("priority", trace_of(jobs, 2, HALVES))
    assert driver.stopped == [(HOUR, "a3"), (HOUR, "a2")]
    assert driver.started()["b0"] == driver.started()["b1"] == HOUR


def test_what_is_not_preemptible_is_never_evicted() -> None:
    """Team b's low work runs on; team a's high work waits for it, though it is far past its minimum runtime."""
    shares = [Share("a", "", 1), Share("b", "", 1)]
    jobs = [
        job("low", "b", 4, runtime=20 * HOUR),
        job("gone", "a", 4, runtime=HOUR),
        job("other", "b", 4, runtime=20 * HOUR, submit=SECOND),
        job("high", "a", 8, submit=2 * HOUR, priority=2),
    ]
    driver = drive("priority", trace_of(jobs, 2, shares))
    assert driver.stopped == []
    assert driver.started()["high"] == 20 * HOUR


def test_priority_goes_before_the_time_of_submission() -> None:
    jobs = [job("run", "a", 8), job("low", "a", 8, submit=SECOND), job("high", "a", 8, submit=2 * SECOND, priority=2)]
    driver = drive("priority", trace_of(jobs, 2, HALVES))
    assert driver.started() == {"run": 0, "high": HOUR, "low": 2 * HOUR}


def test_a_job_larger_than_its_cap_runs_preemptible() -> None:
    """Sixteen GPUs under a cap of eight: it takes the idle fleet, and leaves as soon as b asks for its own."""
    jobs = [job("large", "a", 8, 2, runtime=5 * HOUR), job("b", "b", 1, submit=HOUR)]
    driver = drive("priority", trace_of(jobs, 2, HALVES))
    assert driver.stopped == [(HOUR, "large")]


def _fragmented() -> list[Job]:
    """From 1:00 each host is half b's: a's eight GPUs fit its cap and no host, and block who comes after them."""
    return [
        job("b0", "b", 4, runtime=9 * HOUR),
        job("a0", "a", 4, submit=SECOND, runtime=HOUR),
        job("b1", "b", 4, submit=2 * SECOND, runtime=9 * HOUR),
        job("blocked", "a", 8, submit=2 * HOUR),
        job("debug", "a", 1, submit=2 * HOUR + SECOND),
        job("free", None, 1, submit=2 * HOUR + SECOND),
    ]


def _starts(backfill: Backfill) -> dict[str, int]:
    trace = trace_of(_fragmented(), 2, HALVES)
    return Driver(trace, Baseline(trace, Priority(backfill))).run().started()


def test_who_may_pass_a_blocked_job() -> None:
    """Of STRICT_PRIORITY: everybody, preemptible work alone, nobody."""
    at_once = 2 * HOUR + SECOND
    unblocked = 9 * HOUR
    everybody = _starts(Backfill.ALL)
    assert (everybody["debug"], everybody["free"]) == (at_once, at_once)
    preemptible = _starts(Backfill.PREEMPTIBLE)
    assert (preemptible["debug"], preemptible["free"]) == (10 * HOUR, at_once)
    nobody = _starts(Backfill.NONE)
    assert (nobody["debug"], nobody["free"]) == (10 * HOUR, unblocked)
