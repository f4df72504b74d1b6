"""Faults of workers whose programs run already when the rule is made (CT-3)."""

from app.core.faults import Faults, Rule
from app.core.gang import Gang
from app.core.job_faults import befalls, strike_run
from app.core.replica import Replica, Worker
from app.core.scope import Scope
from app.core.world import World
from app.store import faults, jobs
from app.store.db import Tx
from app.usecases.job_passes import load, save, surroundings
from app.usecases.provisioning import Policy


async def strike_running(tx: Tx, world: World, rule: Rule) -> Rule:
    """Strike the workers that run now, in the order of their jobs, pools and ordinals. The world must be locked, so
    that no pass is under way. The rule with its counts."""
    struck = Faults([rule], world.seed)
    at = max(world.now, rule.after) if rule.after is not None else world.now
    for account, region in await jobs.homes(tx, world.name, rule.account, rule.region):
        scope = Scope(world.name, account, region)
        loaded = await load(tx, scope, await jobs.lock_active(tx, scope, rule.job))
        around = await surroundings(tx, world, scope, loaded, Policy(), struck)
        gangs = [Gang(one.claimed.job, list(one.replicas), at, around) for one in loaded]
        hit = [(one, gang) for one, gang in zip(loaded, gangs, strict=True) if _strikes(gang, rule)]
        for one, gang in hit:
            if at > world.now or (one.claimed.due_at or at) < at:
                gang.lines.clear()  # its log has not got there yet
        await save(tx, scope, world, [one for one, _ in hit], [gang for _, gang in hit])
    if not struck.counted:
        return rule
    await faults.record(tx, world.name, struck.counted, struck.hits, struck.hits_before)
    return struck.counted[0]


def _strikes(gang: Gang, rule: Rule) -> bool:
    """Strike the job's workers; True if that changes anything."""
    before = list(gang.replicas)
    if not gang.is_deciding and befalls(gang, rule.effect):
        for place, replica in enumerate(before):
            if replica.status is Worker.RUNNING and replica.lost_at is None and not _has_ended(gang, replica):
                gang.put(place, strike_run(gang, replica))
    return bool(gang.lines) or any(new is not old for new, old in zip(gang.replicas, before, strict=True))


def _has_ended(gang: Gang, replica: Replica) -> bool:
    """The run is over, or the whole job is, which no pass has seen yet."""
    ends = (replica.done_at, replica.exit_at, gang.replicas[0].done_at)
    return any(end is not None and end < gang.at for end in ends)
