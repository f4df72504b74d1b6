"""Fault rules that strike jobs and their workers (CT-3): what a run or an attempt has in store."""

from datetime import timedelta

from app.core.faults import Rule, Subject
from app.core.gang import Gang
from app.core.job import SPOT
from app.core.job_errors import OUT_OF_MEMORY, PREEMPTED
from app.core.replica import Replica
from app.core.times import WorldTime, after
from app.core.values import evolve

EXIT, MEMORY, MAINTENANCE = "worker-exit", "worker-oom", "vm-maintenance"
PREEMPTION, STOCKOUT, INTERNAL = "spot-preemption", "stockout", "internal-error"
RUN_EFFECTS = (EXIT, MEMORY, MAINTENANCE, PREEMPTION)
"""What befalls a run: when it begins, or the runs that there are when the rule is made."""
CREATE = "CreateCustomJob"
"""The operation that begins what an `internal-error` makes fail."""
TRANSIENT = "transient"
"""The code of a worker-exit that loses the worker (VX-6)."""
USUAL_CODE = 1


def subject(gang: Gang, replica: Replica | None = None, operation: str = "") -> Subject:
    """The job, or one of its workers, as fault rules see it."""
    job = gang.job
    who = f"/{replica.name}" if replica else ""
    return Subject(
        account=job.account,
        region=job.region,
        job=job.job_id,
        job_name=job.display_name,
        replica=replica.name if replica else "",
        instance_type=replica.machine_type if replica else "",
        logical_id=f"{job.job_id}{who}",
        instance_id=(replica.node or replica.machine or "") if replica else "",
        attempt=job.attempt,
        operation=operation,
        turn=replica.runs if replica else 0,
    )


def strike_run(gang: Gang, replica: Replica) -> Replica | None:
    """The worker with what befalls its run, which has just begun; None: nothing does."""
    fitting = tuple(effect for effect in RUN_EFFECTS if befalls(gang, effect))
    rule = gang.around.faults.strike_any(fitting, subject(gang, replica), gang.at)
    return None if rule is None else struck(gang, replica, rule, gang.at)


def befalls(gang: Gang, effect: str) -> bool:
    """Whether the effect can strike the job's workers: a cluster's nodes have faults of their own."""
    if effect == PREEMPTION:
        return gang.plan.strategy == SPOT
    return effect != MAINTENANCE or not gang.job.on_cluster


def struck(gang: Gang, replica: Replica, rule: Rule, now: WorldTime) -> Replica | None:
    """The worker with the end of its run that the rule appoints; None when the run goes on as if nothing was."""
    at = after(now, timedelta(seconds=rule.seconds or 0))
    if rule.effect == MEMORY:
        return evolve(replica, exit_at=at, exit_code=OUT_OF_MEMORY[gang.pools[replica.pool].python])
    if rule.effect == PREEMPTION:
        return evolve(replica, lost_at=at, lost_to=PREEMPTED)
    if rule.effect == MAINTENANCE:
        if gang.has_gpus(replica):
            return evolve(replica, lost_at=at, lost_to="maintenance")
        gang.tell(f"The machine of {replica.name} migrates for maintenance while its program runs.")
        return None
    if rule.code == TRANSIENT:
        return evolve(replica, lost_at=at, lost_to=TRANSIENT)
    code = int(rule.code) if rule.code else USUAL_CODE
    return evolve(replica, exit_at=at, exit_code=code) if code else evolve(replica, done_at=at)
