"""Limits that several fleets share: passes at once never spend the same hour twice (FS-3)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.core.budget_tree import ROOT, Limit, Period, Unit
from app.core.scheduling import events
from app.core.scheduling.explaining import Reason, explain
from app.core.scheduling.history import apply_change
from app.core.scheduling.keeping import keep_workload
from app.core.scheduling.schedule import schedule
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload
from app.core.scope import Scope
from app.core.times import from_millis, to_millis
from app.store import budgets as kept_budgets
from app.store import worlds
from app.store.db import Database, Tx
from app.store.rows import insert_rows
from app.usecases import budget_limits, budgets, prices
from app.usecases.budget_limits import Outlook
from tests.core.builders import ACCOUNT, REGION, T0
from tests.store.conftest import make_world

HOUR = 3_600_000
START = to_millis(T0)
_WORKLOAD = (
    *("world", "account", "region", "fleet", "name", "number", "leaf", "gpus", "replicas", "min_runtime", "priority"),
    *("submit", "resumable", "kind", "model", "zone", "status", "state", "funded", "ended_at"),
)
_SEGMENT = (
    *("world", "account", "region", "fleet", "seq", "leaf", "workload", "attempt", "gpus", "started", "ended"),
    "funded",
)


class Fleet:
    """A fleet of one node with eight GPUs, whose passes write what others need to know of it."""

    def __init__(self, db: Database, world: str, name: str) -> None:
        self.db, self.scope, self.name = db, Scope(world, ACCOUNT, REGION), name
        self.state = State()
        self.now = START
        self.segments = 0
        self.asked: list[Workload] = []
        events.node_ready(self.state, "n", START, gpus=8)

    def submit(self, name: str, hours: int = 1, leaf: str = "a") -> None:
        """Eight GPUs, protected for so long; the next pass sees it."""
        self.asked.append(Workload(name, leaf=leaf, gpus=8, min_runtime=hours * HOUR, submit=self.now))

    async def step(self, now: int | None = None, ends: str | None = None) -> Outlook:
        return await self.db.run(self._pass, now or self.now, ends)

    async def _pass(self, tx: Tx, now: int, ends: str | None) -> Outlook:
        self.now = now
        for change in await kept_budgets.changes(tx, self.scope.world, self.state.applied):
            apply_change(self.state, change.step)
        for workload in self.asked:
            events.submit(self.state, workload, now)
        self.asked = []
        if ends is not None:
            events.finish(self.state, ends, now)
        outlook = await budget_limits.refresh(tx, self.scope, self.name, self.state, now)
        await asyncio.sleep(0)  # another pass may come in between, if anything lets it
        schedule(self.state, now)
        await self._write(tx)
        await budget_limits.tell_others(tx, self.scope, self.name, outlook, now)
        return outlook

    async def _write(self, tx: Tx) -> None:
        key = (self.scope.world, ACCOUNT, REGION, self.name)
        await tx.execute("DELETE FROM workload WHERE (world, account, region, fleet) = ($1, $2, $3, $4)", *key)
        rows = [
            (
                *(*key, one.id, number, one.leaf, 8, 1, one.min_runtime, 0, one.submit, True, "batch", "", ""),
                *(one.status, keep_workload(one), one.funded, None),
            )
            for number, one in enumerate(self.state.workloads.values())
        ]
        await insert_rows(tx, "workload", _WORKLOAD, rows)
        closed = [
            (*key, self.segments + place, s.leaf, s.workload, s.attempt, s.gpus, s.start, s.end, s.funded)
            for place, s in enumerate(self.state.ledger)
        ]
        await insert_rows(tx, "segment", _SEGMENT, closed)
        self.segments += len(closed)
        self.state.ledger.clear()

    def status(self, name: str) -> Status:
        return self.state.workloads[name].status

    def left(self, name: str = "a") -> int:
        budget = self.state.budgets[name]
        [limit] = budget.limits
        return limit.left(budget, self.now)


@pytest.fixture
async def world(database: Database) -> AsyncIterator[str]:
    name = await make_world(database)
    await database.run(budgets.create, name, "a", ROOT, 1)
    await database.run(budgets.create, name, "b", ROOT, 1)
    yield name
    async with database.transaction() as tx:
        await worlds.remove(tx, name)


async def limit(database: Database, world: str, amount: int, unit: str = "gpu-hours", period: str = "all") -> None:
    given = [Limit(amount, Unit(unit), Period(period))]
    await database.run(budgets.set_limits, world, "a", given)


async def test_two_passes_at_once_do_not_both_spend_the_last_hour(database: Database, world: str) -> None:
    """FS-3: one conditional update, whichever fleet comes first; the other is told why it waits."""
    await limit(database, world, 8)
    fleets = [Fleet(database, world, name) for name in ("f-1", "f-2")]
    for fleet in fleets:
        fleet.submit("w")
    await asyncio.gather(*(fleet.step() for fleet in fleets))
    assert sorted(fleet.status("w") for fleet in fleets) == [Status.RUNNING, Status.WAITING]
    [waits] = [fleet for fleet in fleets if fleet.status("w") is Status.WAITING]
    told = explain(waits.state, "w", waits.now)
    assert (told.reason, told.blocker) == (Reason.BUDGET_EXHAUSTED, "a")


async def test_what_another_fleet_gives_back_can_be_spent_here(database: Database, world: str) -> None:
    """FS-3: a reservation that ends early; the other fleet is woken for it."""
    await limit(database, world, 10)
    one, other = Fleet(database, world, "f-1"), Fleet(database, world, "f-2")
    one.submit("w")
    await one.step()
    other.submit("w")
    await other.step()
    assert (other.status("w"), other.left()) == (Status.WAITING, 2 * HOUR)
    half = START + HOUR // 8
    await one.step(half, ends="w")
    woken = await database.run(wakes_of, world)
    assert ("f-2", from_millis(half)) in woken
    assert (await other.step(half)).changed
    assert other.status("w") is Status.RUNNING
    assert other.left() == 10 * HOUR - HOUR - 8 * HOUR, "nine GPU-hours are spent or reserved"


async def wakes_of(tx: Tx, world: str) -> list[tuple[str, object]]:
    return [(row[0], row[1]) for row in await tx.fetch("SELECT subject, at FROM wake WHERE world = $1", world)]


async def test_a_month_begins_with_the_whole_limit(database: Database, world: str) -> None:
    """FS-3: the turn of the month, UTC, is a due instant."""
    await limit(database, world, 8, period="month")
    fleet = Fleet(database, world, "f-1")
    fleet.submit("first")
    fleet.submit("second")
    outlook = await fleet.step()
    turn = budget_limits.due(fleet.state, outlook, fleet.now)
    assert turn == to_millis(T0.replace(month=2))  # type: ignore[arg-type]
    await fleet.step(START + HOUR, ends="first")
    assert (fleet.status("second"), fleet.left()) == (Status.WAITING, 0)
    assert (await fleet.step(turn)).changed
    assert (fleet.status("second"), fleet.left()) == (Status.RUNNING, 0)


async def test_two_fleets_that_spend_meet_the_limit_together(database: Database, world: str) -> None:
    """FS-3: after protection both go on unfunded at the instant at which the sum is spent, and not later."""
    await limit(database, world, 32)
    fleets = [Fleet(database, world, name) for name in ("f-1", "f-2")]
    for fleet in fleets:
        fleet.submit("w")
        await fleet.step()
    for fleet in fleets:
        outlook = await fleet.step(START + HOUR)
        assert budget_limits.due(fleet.state, outlook, fleet.now) == START + 2 * HOUR
    for fleet in fleets:
        await fleet.step(START + 2 * HOUR)
        assert not fleet.state.workloads["w"].funded
    assert sum(fleet.state.budgets["a"].usage.total(START + 9 * HOUR) for fleet in fleets) == 32 * HOUR


async def test_dollars_are_counted_at_the_price_of_the_fleets_gpus(database: Database, world: str) -> None:
    """Of a node with eight GPUs at 80 dollars an hour: eighty dollars pay for eight GPU-hours."""
    await database.run(prices.set_price, world, "ml.p5.48xlarge", "*", 80_000_000)
    columns = ("world", "account", "region", "cluster_id", "logical_id", "number", "instance_id", "group_name")
    record = (world, ACCOUNT, REGION, "f-1", "n", 1, "i-1", "workers", "ml.p5.48xlarge", 1, "published", T0.isoformat())
    async with database.transaction() as tx:
        await insert_rows(
            tx, "ledger", (*columns, "instance_type", "micro_usd_per_hour", "price_evidence", "started_at"), [record]
        )
    await limit(database, world, 80_000_000, "micro-usd")
    fleet = Fleet(database, world, "f-1")
    fleet.submit("first")
    fleet.submit("second")
    await fleet.step()
    assert (fleet.status("first"), fleet.left()) == (Status.RUNNING, 0)
    await fleet.step(START + HOUR, ends="first")
    assert fleet.status("second") is Status.WAITING


async def test_a_limit_that_is_lifted_limits_no_more(database: Database, world: str) -> None:
    await limit(database, world, 0)
    fleet = Fleet(database, world, "f-1")
    fleet.submit("w")
    await fleet.step()
    assert fleet.status("w") is Status.WAITING
    await database.run(budgets.set_limits, world, "a", [])
    await fleet.step(START + 1000)
    assert fleet.status("w") is Status.RUNNING
