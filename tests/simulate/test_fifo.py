"""First come, first served, with and without EASY, by hand."""

from app.simulate.settings import Settings
from app.simulate.workloads import Job
from tests.simulate.driving import HOUR, SECOND, drive, job, trace_of

STRICT, EASY = Settings(backfill=False), Settings(backfill=True)


def _queue() -> list[Job]:
    """Half a host for two hours; then somebody who needs all of it; then two who need the other half."""
    return [
        job("first", None, 4, runtime=2 * HOUR),
        job("head", None, 8, submit=SECOND),
        job("long", None, 4, submit=2 * SECOND, runtime=3 * HOUR),
        job("short", None, 4, submit=3 * SECOND, runtime=HOUR),
    ]


def test_the_head_blocks_everybody() -> None:
    started = drive("fifo", trace_of(_queue(), 1, []), STRICT).started()
    assert started == {"first": 0, "head": 2 * HOUR, "long": 3 * HOUR, "short": 3 * HOUR}


def test_who_is_done_before_the_head_starts_may_pass_it() -> None:
    """EASY, every 30 seconds: the short one is done at 1:00, before 2:00; the long one would delay the head."""
    started = drive("fifo", trace_of(_queue(), 1, []), EASY).started()
    assert started == {"first": 0, "head": 2 * HOUR, "short": 31 * SECOND, "long": 3 * HOUR}


def test_who_fits_beside_the_reservation_may_pass_the_head() -> None:
    """Half of n0 is held until 2:00 and of n1 until 5:00: the head waits for n0, and n1 takes a job of four hours.

    `last` fits on neither: what is free on n0 is reserved, and `beside` has the rest of n1.
    """
    jobs = [
        job("a", None, 4, runtime=2 * HOUR),
        job("b", None, 4, runtime=SECOND),
        job("c", None, 4, runtime=5 * HOUR),
        job("head", None, 8, submit=2 * SECOND),
        job("beside", None, 4, submit=3 * SECOND, runtime=4 * HOUR),
        job("last", None, 4, submit=4 * SECOND, runtime=4 * HOUR),
    ]
    driver = drive("fifo", trace_of(jobs, 2, []), EASY)
    started = driver.started()
    assert started["beside"] == 32 * SECOND
    assert started["head"] == 2 * HOUR
    assert started["last"] == 3 * HOUR


def test_nobody_is_evicted() -> None:
    driver = drive("fifo", trace_of(_queue(), 1, []), EASY)
    assert driver.stopped == []
    assert len(driver.done) == 4
