"""The world's clock: read, freeze, resume, rate, and the settled advance (CT-1)."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from app import clock
from app.core.errors import Conflict, Invalid, NotFound
from app.core.times import WorldTime, after, to_iso
from app.core.world import World
from app.store import worlds
from app.store.db import Database, Tx
from app.usecases import job_passes, scheduling, tuning_passes, wakes
from app.usecases.capacity import apply_due_changes, wake_waiting
from app.usecases.health import failing
from app.usecases.provisioning import Policy, pass_over

LATEST = WorldTime(clock.LATEST)
WAIT_SECONDS = 0.05
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Goal:
    """How far to advance: by a duration, to an instant, or (both None) to the next thing that is due."""

    by: timedelta | None = None
    to: WorldTime | None = None
    most_passes: int | None = None
    most_wall_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Advanced:
    """Where the clock was and is; `settled` is False when a limit or a failing cluster stopped it early."""

    before: WorldTime
    after: WorldTime
    settled: bool
    counts: Counter[str]
    reason: str | None = None


async def read(tx: Tx, name: str) -> World:
    return _there(await worlds.read(tx, name), name)


async def kept(tx: Tx, name: str) -> World:
    """The world, which nobody may copy or drop until this transaction ends: first of all locks of a write."""
    return _there(await worlds.keep(tx, name), name)


async def locked(tx: Tx, name: str) -> World:
    return _there(await worlds.lock(tx, name), name)


def _there(world: World | None, name: str) -> World:
    if world is None:
        raise NotFound(f"There is no world '{name}'. Create it with `windtunnel world create {name}`.")
    return world


async def read_with_next(tx: Tx, name: str) -> tuple[World, WorldTime | None]:
    """The world, and the earliest instant at which something of it is due."""
    return await read(tx, name), (await worlds.agenda(tx, name)).first


async def set_clock(tx: Tx, name: str, *, frozen: bool | None, rate: float | None) -> World:
    """Freeze, resume or change the rate; the clock goes on from where it is."""
    world = await locked(tx, name)
    if world.leased:
        raise Conflict(f"World '{name}' is being advanced. Try again when the advance has returned.")
    await worlds.set_clock(
        tx, name, world.now, rate=rate or world.rate, frozen=world.frozen if frozen is None else frozen
    )
    return await read(tx, name)


async def advance(db: Database, name: str, goal: Goal, policy: Policy, owner: str, lease_seconds: float) -> Advanced:
    """Visit every due instant in order up to the goal, and settle each; waits for its turn if another advances."""
    if (leapt := await db.run(_leap, name, goal)) is not None:
        return leapt
    deadline = clock.monotonic() + goal.most_wall_seconds
    epoch = await _take_turn(db, name, owner, lease_seconds, deadline)
    try:
        return await _Journey(db, name, goal, policy, epoch, lease_seconds, deadline).travel()
    finally:
        await db.run(worlds.release, name, epoch)


async def _leap(tx: Tx, name: str, goal: Goal) -> Advanced | None:
    """Nothing is due on the way: set the clock, in one transaction. None when there is work or somebody's lease."""
    world = await locked(tx, name)
    due = (await worlds.agenda(tx, name)).first
    target = _target(world, goal, due)
    if world.leased or (due is not None and due <= target):
        return None
    await worlds.set_clock(tx, name, target, rate=world.rate, frozen=world.frozen)
    return Advanced(world.now, target, True, Counter())


def _target(world: World, goal: Goal, due: WorldTime | None) -> WorldTime:
    if goal.to is not None:
        target = goal.to
    elif goal.by is not None:
        if goal.by > LATEST - world.now:
            raise Invalid(f"The clock ends at {LATEST:%Y-%m-%d}. Advance by less.")
        target = after(world.now, goal.by)
    else:
        target = due or world.now
    if target > LATEST:
        raise Invalid(f"The clock ends at {LATEST:%Y-%m-%d}. Advance to an earlier instant.")
    if target < world.now and goal.to is not None:
        raise Invalid(
            f"Time never goes backward: world '{world.name}' is at {to_iso(world.now)} already. "
            "Advance to a later instant, or reset the world to begin again."
        )
    return max(target, world.now)


async def _take_turn(db: Database, name: str, owner: str, lease_seconds: float, deadline: float) -> int:
    while True:
        epoch = await db.run(worlds.take_lease, name, owner, lease_seconds)
        if epoch is not None:
            return epoch
        await db.run(read, name)
        if clock.monotonic() > deadline:
            raise Conflict(f"World '{name}' is being advanced by another request. Try again when it has returned.")
        await clock.sleep(WAIT_SECONDS)


class _Journey:
    """An advance under way: the lease, the limits, and what has been done."""

    def __init__(
        self, db: Database, name: str, goal: Goal, policy: Policy, epoch: int, lease_seconds: float, deadline: float
    ) -> None:
        self._db, self._name, self._goal, self._policy = db, name, goal, policy
        self._epoch, self._lease_seconds, self._deadline = epoch, lease_seconds, deadline
        self._counts: Counter[str] = Counter()
        self._renewed = clock.monotonic()

    async def travel(self) -> Advanced:
        start = await self._db.run(read, self._name)
        agenda = await self._db.run(worlds.agenda, self._name)
        target, reached = _target(start, self._goal, agenda.first), start.now
        visited: WorldTime | None = None
        while agenda.first is not None and agenda.first <= target:
            if agenda.first > reached:
                reached = agenda.first
                await self._move(reached)
            if visited != reached:
                visited = reached
                self._counts["instants"] += 1
            if reason := self._limit():
                return Advanced(start.now, reached, False, self._counts, reason)
            done = await settle_once(self._db, self._name, agenda, reached, self._policy, self._epoch)
            if done is None and agenda.fleet is not None and agenda.fleet <= reached:
                done = await self._db.run(scheduling.pass_over, self._name, epoch=self._epoch)
            if done is None:
                return Advanced(start.now, reached, False, self._counts, await self._db.run(_undone, self._name))
            self._counts.update(done)
            await self._renew(reached)
            agenda = await self._db.run(worlds.agenda, self._name)
        await self._move(target)
        return Advanced(start.now, target, True, self._counts)

    def _limit(self) -> str | None:
        if self._goal.most_passes is not None and self._counts["passes"] >= self._goal.most_passes:
            return f"the limit of {self._goal.most_passes} events was reached; advance again to go on"
        if clock.monotonic() > self._deadline:
            return f"the limit of {self._goal.most_wall_seconds:g} wall seconds was reached; advance again to go on"
        return None

    async def _renew(self, now: WorldTime) -> None:
        if clock.monotonic() - self._renewed > self._lease_seconds / 3:
            await self._move(now)

    async def _move(self, now: WorldTime) -> None:
        if not await self._db.run(worlds.move, self._name, self._epoch, now, self._lease_seconds):
            raise Conflict(f"The advance of world '{self._name}' lost its lease. Nothing is lost: advance again.")
        self._renewed = clock.monotonic()


async def _undone(tx: Tx, name: str) -> str:
    """Why the clock cannot go on, and whose fault it is."""
    names = [f"'{row['name']}'" for row in await failing(tx, name)]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    who = f" of {', '.join(names[:MOST_NAMED])}{more}" if names else ""
    return f"something that is due{who} could not be done; `windtunnel status` tells the errors"


async def settle_once(
    db: Database, name: str, agenda: worlds.Agenda, now: WorldTime, policy: Policy, epoch: int | None = None
) -> Counter[str] | None:
    """One piece of due work of a world, in the order: capacity that changes, those who wait for machines, clusters,
    jobs, studies, what is to be looked at again. None: no work that can be done. Fleets are the scheduler's.

    A status has changed by the clock alone: such an instant is counted, and there is nothing to do. Where all that is
    due of one kind backs off, or others are at it, the next kind has its turn.
    """
    if agenda.shown is not None and agenda.shown <= now:
        return Counter(status_changes=1)
    if agenda.change is not None and agenda.change <= now:
        return Counter(capacity_changes=await db.run(apply_due_changes, name, now))
    if agenda.machines is not None and agenda.machines <= now:
        return Counter(woken=await db.run(wake_waiting, name, now))
    passes = (
        (agenda.cluster, partial(pass_over, policy=policy, epoch=epoch)),
        (agenda.job, partial(job_passes.pass_over, policy=policy, epoch=epoch)),
        (agenda.study, partial(tuning_passes.pass_over, epoch=epoch)),
        (agenda.wake, partial(wakes.handle_first, epoch=epoch)),
    )
    for at, work in passes:
        if at is not None and at <= now and (done := await db.run(work, name)) is not None:
            return done
    return None


async def busy_worlds(tx: Tx) -> list[str]:
    """The running worlds in which something is due and which nobody advances."""
    return await worlds.busy(tx)


async def busy_fleets(tx: Tx) -> list[str]:
    """The running worlds in which a fleet is due and which nobody advances."""
    return await worlds.busy_fleets(tx)


async def schedule_running(db: Database, name: str, leader: str, lease_seconds: float) -> Counter[str] | None:
    """One pass over a fleet of a running world; None when none is due, or when the world is not ours to move."""
    world, _ = await db.run(_look, name)
    if world is None or world.frozen or world.leased:
        return None
    return await db.run(scheduling.pass_over, name, leader=leader, lease_seconds=lease_seconds)


async def settle_running(db: Database, name: str, policy: Policy) -> Counter[str] | None:
    """One piece of due work of a running world; None when there is none, or when the world is not ours to move."""
    world, agenda = await db.run(_look, name)
    if world is None or world.frozen or world.leased:
        return None
    return await settle_once(db, name, agenda, world.now, policy)


async def _look(tx: Tx, name: str) -> tuple[World | None, worlds.Agenda]:
    return await worlds.read(tx, name), await worlds.agenda(tx, name)
