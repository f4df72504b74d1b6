"""A job whose GPUs the scheduler takes away: it queues again, or comes to its end (FS-5)."""

from collections.abc import Sequence

from app.core.job import Job, ran_ms
from app.core.job_errors import EVICTED, FROM_OUTSIDE
from app.core.replica import Replica, Worker
from app.core.times import WorldTime
from app.core.values import evolve


def evicted(job: Job, replicas: Sequence[Replica], at: WorldTime) -> tuple[Job, list[Replica]]:
    """The job queues again since `at`, its workers are stopped, and none has a node; any number of times. One whose end
    is decided from outside, as its cluster's is, comes to that end."""
    if job.failure in FROM_OUTSIDE:
        return job, [_without_node(one, at) for one in replicas]
    at = max(at, job.acted_at or at)  # a pass of a whole second may find work of the same second done
    again = evolve(
        job,
        retries={**job.retries, EVICTED: job.retries.get(EVICTED, 0) + 1},
        ran_ms=ran_ms(job, at),
        admitted_at=None,
        queued_at=at,
        retry_at=at,
        updated_at=at,
        **dict.fromkeys(
            ("running_at", "attempt_at", "internal_at", "failure", "failure_replica", "failure_code", "decide_at")
        ),
    )
    return again, [_without_node(one, at) for one in replicas]


def failed(job: Job, replicas: Sequence[Replica], failure: str, at: WorldTime) -> tuple[Job, list[Replica]]:
    """The job's end is decided on at `at` by this failure, and none of its workers has a node."""
    over = evolve(job, failure=failure, failure_replica=None, failure_code=None, decide_at=at)
    return over, [_without_node(one, at) for one in replicas]


def _without_node(replica: Replica, at: WorldTime) -> Replica:
    if replica.status is Worker.STOPPED:
        return evolve(replica, node=None)
    return evolve(replica, node=None, stop_at=replica.stop_at or at)
