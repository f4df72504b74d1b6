"""What follows when a worker's stage fires: bills, failures, lost work, what its program does next (VX-4 to VX-7)."""

from datetime import timedelta

from app.core import job_faults
from app.core.gang import Gang, fire_due, label
from app.core.job_errors import LOST, PREEMPTED, class_of
from app.core.lifecycle import Fired
from app.core.log_lines import ERROR, WARNING
from app.core.metering import Interval
from app.core.program import fate, saved
from app.core.replica import BILLED, Replica, Worker
from app.core.times import WorldTime, after, millis
from app.core.timings import DECISION
from app.core.values import evolve

MOST_RESTARTS = 5
"""VX-7: so often a worker that was lost is restarted in one attempt of the job."""
_NO_RUN = dict.fromkeys(("done_at", "exit_at", "lost_at", "lost_to"))


def move(gang: Gang) -> None:
    """Fire all stages that are due, in the order of pools and ordinals."""
    for place in range(len(gang.replicas)):
        for before, moved, fired in fire_due(gang, place):
            gang.put(place, _bill(gang, before, _follow(gang, place, before, moved, fired), fired))


def _follow(gang: Gang, place: int, before: Replica, replica: Replica, fired: Fired) -> Replica:
    match fired.target:
        case Worker.RUNNING:
            return _run(gang, place, replica)
        case Worker.DONE:
            gang.tell(_completed(0), replica.name)
            return replica
        case Worker.RESTARTING:
            return _exited(gang, before, replica)
        case Worker.WAITING:
            return _lost(gang, before, replica)
        case Worker.STOPPING:
            return _worked(gang, before, replica) if _starts_over(gang) else replica
        case Worker.STOPPED:
            return _stopped(gang, replica)
    return replica


def _starts_over(gang: Gang) -> bool:
    """The worker is stopped for another attempt, so that work may be lost by it."""
    return gang.job.ended_at is None and not gang.is_cancelled


def _run(gang: Gang, place: int, replica: Replica) -> Replica:
    """A run begins: what will end it is appointed, unless the job's end is near anyway (VX-5); what really runs ends by
    itself."""
    at = gang.at
    replica = evolve(replica, up_at=replica.up_at or at, run_at=at, runs=replica.runs + 1, exit_code=None)
    if gang.is_deciding:
        return replica
    if gang.around.executes:
        gang.executed[place] = replica.runs
        return job_faults.strike_run(gang, replica)
    if replica.saved_ms:
        gang.tell(f"The program resumes from its checkpoint at {_seconds(replica.saved_ms)} s.", replica.name)
    end = fate(gang.programs[replica.pool], timedelta(milliseconds=replica.saved_ms), gang.memory_gb(replica))
    return job_faults.strike_run(gang, job_faults.exits(replica, after(at, end.after), end.code))


def _completed(code: int) -> str:
    reason = "SUBPROCESS_EXCEPTION" if code else "SUCCEEDED"
    return f"Task completed. Exit code ({code}). Exit reason ({reason})"


def _exited(gang: Gang, before: Replica, replica: Replica) -> Replica:
    """VX-5: it is restarted at once, and the job's fate is decided later, by the first failure that there was."""
    code = replica.exit_code or 1
    gang.tell(_completed(code), replica.name, ERROR)
    if not gang.is_deciding:
        failure = class_of(code, gang.pools[replica.pool].python)
        gang.become(
            failure=failure, failure_replica=replica.name, failure_code=code, decide_at=after(gang.at, DECISION)
        )
    return _worked(gang, before, replica)


def _worked(gang: Gang, before: Replica, replica: Replica) -> Replica:
    """A run ended before its work was done, or is to be done again: what no checkpoint holds is lost (VX-16)."""
    if before.status not in (Worker.RUNNING, Worker.DONE):
        return replica
    ran = _ran(gang, before)
    had = timedelta(milliseconds=replica.saved_ms)
    kept = saved(gang.programs[replica.pool], had, ran) // timedelta(milliseconds=1)
    lost = replica.saved_ms + ran // timedelta(milliseconds=1) - kept
    if lost:
        gang.tell(f"{_seconds(lost)} s of work since the last checkpoint are lost.", replica.name, WARNING)
    return evolve(replica, saved_ms=kept, lost_ms=replica.lost_ms + lost)


def _ran(gang: Gang, before: Replica) -> timedelta:
    """How long the run has lasted: one that is done has ended, and its worker was idle since."""
    end = gang.at if before.status is Worker.RUNNING else before.since
    return timedelta(milliseconds=millis(before.run_at or end, end))


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}".rstrip("0").rstrip(".")


def _lost(gang: Gang, before: Replica, replica: Replica) -> Replica:
    """VX-7: the machine is gone. The worker goes on elsewhere, or the whole job does."""
    cause = replica.lost_to or "maintenance"
    gang.tell(f"The machine of {replica.name} is lost ({cause}).", severity=WARNING)
    replica = _worked(gang, before, replica)
    restarts = replica.restarts + 1
    if not gang.is_deciding:
        if cause == PREEMPTED:
            gang.become(failure=PREEMPTED, failure_replica=replica.name, decide_at=gang.at)
        elif restarts > MOST_RESTARTS or gang.plan.restart_all:
            gang.become(failure=LOST, failure_replica=replica.name, decide_at=gang.at)
    _give_back(gang, replica)
    asks = None if gang.job.on_cluster else gang.at  # a cluster's node is given, not asked for
    return evolve(replica, restarts=restarts, zone=None, node=None, launch_after=asks, waiting_since=asks, **_NO_RUN)


def _stopped(gang: Gang, replica: Replica) -> Replica:
    """It has no machine of a pool any more; a cluster's node stays its place until the job ends or loses it."""
    _give_back(gang, replica)
    keeps = gang.job.admitted_at is not None and gang.job.ended_at is None
    return evolve(
        replica,
        zone=None,
        node=replica.node if keeps else None,
        launch_after=None,
        waiting_since=None,
        stop_at=None,
        **_NO_RUN,
    )


def _give_back(gang: Gang, replica: Replica) -> None:
    if replica.zone is not None:
        gang.around.stock.give_back(replica.machine_type, replica.zone, gang.at)


def _bill(gang: Gang, before: Replica, replica: Replica, fired: Fired) -> Replica:
    """VX-23: from the machine's start to its stop; a job on a cluster has no price of its own."""
    if gang.job.on_cluster:
        return replica
    if fired.target in BILLED and replica.billed_from is None:
        replica = evolve(replica, billings=replica.billings + 1, billed_from=fired.at)
        gang.opened.append(_interval(gang, replica, fired.at, None, replica.billed_until))
    elif fired.target not in BILLED and replica.billed_from is not None:
        gang.closed.append(_interval(gang, before, replica.billed_from, fired.at, None))
        replica = evolve(replica, billed_from=None, billed_until=fired.at)
    return replica


def _interval(
    gang: Gang, replica: Replica, start: WorldTime, end: WorldTime | None, previous: WorldTime | None
) -> Interval:
    return Interval(
        logical_id=replica.name,
        number=replica.billings,
        instance_id=replica.machine or "",
        group=f"workerpool{replica.pool}",
        instance_type=label(gang.goods(replica)),
        started_at=start,
        ended_at=end,
        previous_end=previous,
    )
