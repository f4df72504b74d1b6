"""What a job decides once its workers have done what was due at an instant (VX-5 to VX-9, VX-12 to VX-15)."""

from collections.abc import Sequence
from datetime import timedelta

from app.core import job_errors, job_faults
from app.core.asking import ask
from app.core.gang import Gang, Surroundings
from app.core.job import FLEX_START, Job, JobState, ran_ms
from app.core.job_errors import FROM_OUTSIDE, INTERNAL_ERROR, PREEMPTED, RETRIES, STOCKOUT
from app.core.log_lines import ERROR, WARNING
from app.core.replica import AT_WORK, IDLE, Replica, Worker
from app.core.times import WorldTime, after
from app.core.timings import STOCKOUT_PAUSE, STOCKOUT_WAIT
from app.core.values import evolve
from app.core.workers import move

STARTING = (
    "Waiting for job to be provisioned.",
    "Vertex AI is provisioning job running framework. First time usage might take couple of minutes, and subsequent "
    "runs can be much faster.",
    "Vertex AI is setting up this job.",
    "Waiting for training program to start.",
    "Job is preparing.",
)
"""What the service writes when a job begins, in this order (seen in logs)."""
_FRESH = dict.fromkeys(
    ("launch_after", "waiting_since", "up_at", "done_at", "exit_at", "exit_code", "lost_at", "lost_to", "stop_at")
)


def work(job: Job, replicas: Sequence[Replica], at: WorldTime, around: Surroundings) -> Gang:
    """All that the job has to do at `at`: its workers' stages, machines for those who ask, and its decisions."""
    at = max(at, job.acted_at or at)  # a worker that lags may have freed a machine, or lost a node, in its past
    gang = Gang(job, list(replicas), at, around)
    was_over = is_over(gang)
    gang.become(acted_at=at)
    again = True
    while again:
        move(gang)
        again = decide(gang) or ask(gang)
    if gang.job.ended_at is not None and gang.job.attempt and not was_over and is_over(gang):
        gang.tell("Finished tearing down training program.")
        if gang.job.outcome == JobState.SUCCEEDED:
            gang.tell("Job completed successfully.")
    return gang


def is_over(gang: Gang) -> bool:
    """No worker has anything left to do."""
    return all(replica.status is Worker.STOPPED for replica in gang.replicas)


def decide(gang: Gang) -> bool:
    """One decision of this instant; False when there is none left."""
    job = gang.job
    if job.ended_at is not None:
        return False
    if gang.is_cancelled:
        return _cancel(gang)
    if _primary(gang).status is Worker.DONE:
        _succeed(gang)
        return True
    if job.attempt_at is None and job.failure not in FROM_OUTSIDE:
        return _begin_attempt(gang)
    return _running(gang) or _failed(gang) or _too_long(gang) or _no_machines(gang)


def next_due(gang: Gang) -> WorldTime | None:
    """When the job itself next needs looking at, its workers left aside."""
    job = gang.job
    if job.ended_at is not None or gang.is_cancelled:
        return None
    if job.attempt_at is None and job.failure not in FROM_OUTSIDE:
        begins_at = job.retry_at if job.admitted_at is not None and _are_idle(gang) else None
        times = [begins_at, job.cancel_at]
    else:
        times = [job.cancel_at, job.decide_at, job.internal_at, _times_out_at(gang), _gives_up_at(gang)]
    return min((time for time in times if time is not None), default=None)


def _primary(gang: Gang) -> Replica:
    return gang.replicas[0]


def _are_idle(gang: Gang) -> bool:
    return all(replica.status in IDLE for replica in gang.replicas)


def _stop(gang: Gang) -> None:
    """Every worker ends now, whatever it does."""
    for place, replica in enumerate(gang.replicas):
        if replica.status is not Worker.STOPPED:
            gang.put(place, evolve(replica, stop_at=replica.stop_at or gang.at))


def _cancel(gang: Gang) -> bool:
    """VX-15: the workers are stopped, and then the job is cancelled."""
    if is_over(gang):
        _end(gang, JobState.CANCELLED, (job_errors.CANCELLED, job_errors.CANCEL_MESSAGE))
        gang.tell(job_errors.CANCEL_MESSAGE)
        return True
    if all(replica.stop_at is not None for replica in gang.replicas if replica.status is not Worker.STOPPED):
        return False
    _stop(gang)
    return True


def _succeed(gang: Gang) -> None:
    """VX-8: the primary is done, so the job is; VX-9: it began at the latest when the primary did."""
    if gang.job.started_at is None:
        gang.become(started_at=_primary(gang).up_at)
    _end(gang, JobState.SUCCEEDED, None)


def _end(gang: Gang, outcome: JobState, error: tuple[int, str] | None) -> None:
    """The job is over. A failure is told a while later, anything else at once (VX-9)."""
    failed = outcome is JobState.FAILED
    code, message = error or (None, None)
    if failed and message is not None:
        gang.tell(job_errors.with_logs(message, gang.job.account, gang.job.job_id), severity=ERROR)
    gang.become(
        ended_at=gang.at,
        updated_at=gang.at,
        outcome=outcome.value,
        shown_at=after(gang.at, gang.around.error_delay) if failed else gang.at,
        error_code=code,
        error_message=message,
        ran_ms=ran_ms(gang.job, gang.at),
        decide_at=None,
        internal_at=None,
        retry_at=None,
    )
    if gang.job.attempt:
        gang.tell("Tearing down training program.")
    _stop(gang)


def _fail(gang: Gang, code: int, message: str) -> None:
    _end(gang, JobState.FAILED, (code, message))


def _begin_attempt(gang: Gang) -> bool:
    """The workers wait for their machines, all anew; an internal error may lie in wait."""
    job, at = gang.job, gang.at
    if job.admitted_at is None or not _are_idle(gang) or (job.retry_at is not None and job.retry_at > at):
        return False
    if job.attempt == 0:
        for text in STARTING:
            gang.tell(text)
    gang.become(attempt=job.attempt + 1, attempt_at=at, retry_at=None, updated_at=at)
    for place, replica in enumerate(gang.replicas):
        fresh = evolve(replica, status=Worker.WAITING, since=at, restarts=0, **_FRESH)
        waits = job.on_cluster and replica.node is None  # for a node, which is given, not asked for
        gang.put(place, fresh if waits else evolve(fresh, launch_after=at))
    rule = gang.around.faults.strike(job_faults.INTERNAL, job_faults.subject(gang, operation=job_faults.CREATE), at)
    if rule is not None:
        gang.become(internal_at=after(at, timedelta(seconds=rule.seconds or 0)))
    return True


def _running(gang: Gang) -> bool:
    """VX-2: all workers are up."""
    if gang.job.running_at is not None or not all(replica.status in AT_WORK for replica in gang.replicas):
        return False
    at = gang.at
    gang.become(running_at=at, started_at=gang.job.started_at or at, updated_at=at)
    gang.tell("Job is running.")
    return True


def _failed(gang: Gang) -> bool:
    """The first failure that there was decides, by its class (VX-6, VX-14a)."""
    job = gang.job
    if job.internal_at is not None and job.internal_at <= gang.at:
        gang.become(internal_at=None)
        if job.failure is None:
            gang.become(failure=INTERNAL_ERROR, decide_at=gang.at)
        return True
    if job.failure is None or job.decide_at is None or job.decide_at > gang.at:
        return False
    if gang.plan.disable_retries or job.retries.get(job.failure, 0) >= RETRIES.get(job.failure, 0):
        _fail(gang, *job_errors.error(job.failure, job.region, job.failure_replica, job.failure_code))
    else:
        _retry(gang, job.failure)
    return True


def _retry(gang: Gang, failure: str) -> None:
    """The whole job begins again, once its workers have stopped; one whose machines were taken away queues first."""
    job, at = gang.job, gang.at
    count = job.retries.get(failure, 0) + 1
    gang.tell(f"The job is retried ({failure}, {count} of {RETRIES[failure]}).", severity=WARNING)
    gang.become(
        retries={**job.retries, failure: count},
        ran_ms=ran_ms(gang.job, gang.at),
        running_at=None,
        attempt_at=None,
        retry_at=after(at, STOCKOUT_PAUSE) if failure == STOCKOUT else at,
        internal_at=None,
        updated_at=at,
        **dict.fromkeys(("failure", "failure_replica", "failure_code", "decide_at")),
    )
    if failure == PREEMPTED:
        requeue(gang)
    _stop(gang)


def requeue(gang: Gang) -> None:
    """The job gives up its place and queues for another, a little later."""
    gang.become(admitted_at=None, queued_at=after(gang.at, gang.around.timings.delays["requeue"]))


def _times_out_at(gang: Gang) -> WorldTime | None:
    """VX-14: running time counts, over all attempts."""
    job = gang.job
    if job.running_at is None:
        return None
    return after(job.running_at, gang.plan.timeout - timedelta(milliseconds=job.ran_ms))


def _too_long(gang: Gang) -> bool:
    out_at = _times_out_at(gang)
    if out_at is None or out_at > gang.at:
        return False
    seconds = gang.plan.timeout // timedelta(seconds=1)
    _fail(gang, job_errors.DEADLINE_EXCEEDED, job_errors.TIMEOUT_MESSAGE.format(seconds))
    return True


def _gives_up_at(gang: Gang) -> WorldTime | None:
    """VX-12: when the attempt has waited for machines long enough. On a cluster, and with a wait for ever, never."""
    patience = gang.plan.max_wait if gang.plan.strategy == FLEX_START else STOCKOUT_WAIT
    since = [replica.waiting_since for replica in gang.replicas if replica.waiting_since is not None]
    if not since or patience is None or gang.job.on_cluster or gang.job.failure is not None:
        return None
    return after(min(since), patience)


def _no_machines(gang: Gang) -> bool:
    up_at = _gives_up_at(gang)
    if up_at is None or up_at > gang.at:
        return False
    if gang.plan.strategy == FLEX_START:
        _fail(gang, *job_errors.error(STOCKOUT, gang.job.region, None, None))
    else:
        gang.become(failure=STOCKOUT, decide_at=gang.at)
    return True
