"""Fault rules that strike jobs and their workers (CT-3): what a run or an attempt has in store."""

from datetime import timedelta

from app.core.errors import Invalid
from app.core.faults import Rule, Subject
from app.core.gang import Gang
from app.core.job import SPOT
from app.core.job_errors import OUT_OF_MEMORY, PREEMPTED
from app.core.program import MOST_CODE
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


def check_exit_code(code: str | None) -> None:
    """Invalid for a code that no program can exit with."""
    if code is None or code == TRANSIENT or (code.isascii() and code.isdecimal() and int(code) <= MOST_CODE):
        return
    raise Invalid(f"The code of {EXIT} is a number from 0 to {MOST_CODE}, or {TRANSIENT}; not '{code[:40]}'.")


def strike_run(gang: Gang, replica: Replica) -> Replica:
    """The worker, whose run's own end is appointed, with what befalls it before that."""
    fitting = tuple(effect for effect in RUN_EFFECTS if befalls(gang, effect))
    rule = gang.around.faults.strike_any(fitting, subject(gang, replica), gang.at)
    return replica if rule is None else _struck(gang, replica, rule)


def befalls(gang: Gang, effect: str) -> bool:
    """Whether the effect can strike the job's workers: a cluster's nodes have faults of their own."""
    if effect == PREEMPTION:
        return gang.plan.strategy == SPOT
    return effect != MAINTENANCE or not gang.job.on_cluster


def _struck(gang: Gang, replica: Replica, rule: Rule) -> Replica:
    """The worker with what the rule appoints, `seconds` from now."""
    at = after(gang.at, timedelta(seconds=rule.seconds or 0))
    if rule.effect == PREEMPTION:
        return evolve(replica, lost_at=at, lost_to=PREEMPTED)
    if rule.effect == MAINTENANCE and not gang.has_gpus(replica):
        gang.tell(f"The machine of {replica.name} migrates for maintenance while its program runs.")
        return replica
    if rule.effect == MAINTENANCE or rule.code == TRANSIENT:
        return evolve(replica, lost_at=at, lost_to=rule.code or "maintenance")
    code = OUT_OF_MEMORY[gang.pools[replica.pool].python] if rule.effect == MEMORY else int(rule.code or USUAL_CODE)
    return exits(replica, at, code)


def exits(replica: Replica, at: WorldTime, code: int) -> Replica:
    """The worker whose program exits so, unless it ends earlier anyway."""
    if any(end is not None and end < at for end in (replica.done_at, replica.exit_at)):
        return replica
    if code == 0:
        return evolve(replica, done_at=at, exit_at=None, exit_code=None)
    return evolve(replica, done_at=None, exit_at=at, exit_code=code)
