"""Jobs whose nodes the scheduler takes away (FS-5)."""

from datetime import timedelta

import pytest

from app.core.evicting import evicted
from app.core.job_errors import CLUSTER_GONE, EVICTED, PROGRAM
from app.core.replica import Worker
from app.core.times import after
from tests.core.work import T0, job, replica

LATER = after(T0, timedelta(seconds=9))


def test_an_evicted_job_queues_whatever_was_to_become_of_it() -> None:
    """FS-5: its attempt is over, and with it a failure of that attempt; its workers stop."""
    was = job(fleet="f", attempt=1, attempt_at=T0, running_at=T0, failure=PROGRAM, decide_at=after(LATER, timedelta(1)))
    now, [worker] = evicted(was, [replica(status=Worker.RUNNING, node="n")], LATER)
    assert (now.admitted_at, now.queued_at, now.failure, now.decide_at) == (None, LATER, None, None)
    assert (now.ran_ms, now.retries) == (9000, {EVICTED: 1})
    assert (worker.node, worker.stop_at) == (None, LATER)


def test_a_job_whose_cluster_goes_does_not_queue_again() -> None:
    """VX-24: nobody would ever take it off the queue."""
    was = job(fleet="f", attempt=1, attempt_at=T0, running_at=T0, failure=CLUSTER_GONE, decide_at=T0)
    now, [worker] = evicted(was, [replica(status=Worker.RUNNING, node="n")], LATER)
    assert now is was
    assert (worker.node, worker.stop_at) == (None, LATER)


@pytest.mark.parametrize("milliseconds", [1, 999])
def test_an_eviction_is_not_before_what_the_job_has_done(milliseconds: int) -> None:
    """FS-15: a pass is of a whole second, and may come after the job began to run within it."""
    begun = after(T0, timedelta(milliseconds=milliseconds))
    was = job(fleet="f", attempt=1, attempt_at=T0, running_at=begun, acted_at=begun)
    now, [worker] = evicted(was, [replica(status=Worker.RUNNING, node="n", since=begun)], T0)
    assert (now.ran_ms, now.queued_at, worker.stop_at) == (0, begun, begun)
