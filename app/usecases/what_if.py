"""What would be if one thing were different: two forks of a world, one of them changed, advanced alike (CT-0)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.core.outlook import Outlook, Span, Work, outlook
from app.core.times import WorldTime, after, to_millis
from app.store.db import Database, Tx
from app.usecases import bills, capacity, clocks, fleet_policies, workloads, worlds
from app.usecases.clocks import Advanced, Goal
from app.usecases.provisioning import Policy

Change = Callable[[Tx, str], Awaitable[object]]
"""What is different in the world of that name."""
MOST_LOOKED_AT = 1000
"""Workloads and decisions that are looked at, the newest."""


@dataclass(frozen=True, slots=True)
class Runner:
    """By whom and how a world is advanced."""

    policy: Policy
    owner: str
    lease_seconds: float
    most_wall_seconds: float


@dataclass(frozen=True, slots=True)
class Compared:
    """How both came out between `since` and `until`; `unsettled` says why one stopped early."""

    since: WorldTime
    until: WorldTime
    as_is: Outlook
    changed: Outlook
    unsettled: str | None


async def compare(
    db: Database, world: str, names: tuple[str, str], change: Change, by: timedelta, runner: Runner
) -> Compared:
    """Fork the world twice under these names, change the second, advance both, and look. The forks stay.

    What the change refuses is raised before anything is advanced.
    """
    for name in names:
        await db.run(worlds.fork, world, name, frozen=True, rate=None)
    await db.run(change, names[1])
    since = (await db.run(clocks.read, names[0])).now
    goal = Goal(to=after(since, by), most_wall_seconds=runner.most_wall_seconds)
    done = [await _advance(db, name, goal, runner) for name in names]
    until = min(one.after for one in done)
    looks = [await db.run(look, name, since, until) for name in names]
    return Compared(since, until, looks[0], looks[1], next((one.reason for one in done if not one.settled), None))


async def drop(db: Database, names: Sequence[str]) -> None:
    """Remove the forks that are there."""
    for name in names:
        if await db.run(worlds.exists, name):
            await db.run(worlds.drop, name)


async def _advance(db: Database, name: str, goal: Goal, runner: Runner) -> Advanced:
    return await clocks.advance(db, name, goal, runner.policy, runner.owner, runner.lease_seconds)


async def look(tx: Tx, world: str, since: WorldTime, until: WorldTime) -> Outlook:
    """What has come of the world in [since, until)."""
    evictions = await fleet_policies.decisions(tx, world, None, None, ("preempt",), None, MOST_LOOKED_AT)
    bill = await bills.bill(tx, world, by="budget", since=since, until=until) if since < until else None
    rows = [one.row for one in await workloads.listed(tx, world, None, None, (), MOST_LOOKED_AT)]
    supply = await capacity.overview(tx, world)
    nodes = sum(pool.used for pool in supply.pools) + sum(used for _, _, used in supply.unlimited)
    return outlook(
        Span(to_millis(since), to_millis(until)),
        [Work(row.submit, row.first_bound_at, row.ended_at, row.gpus * row.replicas) for row in rows],
        [part for line in bill.lines for part in line.workloads] if bill else [],
        [one.at for one in evictions],
        nodes,
        bill.total_micro_usd if bill else 0,
    )
