"""What the scheduler of the service decides and writes down in a second, part by part, and how that grows.

    python -m benchmarks.live_scheduler [NODES ...]

The service's own pass against an embedded Postgres, in this process: a cluster of so many nodes of 8 GPUs that came by
the normal way, twelve budgets, and workloads that were submitted as the API submits them. `waves`: much of what runs
ends at one instant, so that a pass takes hundreds of decisions. `trickle`: the same kind of work ends one by one, so
that a pass takes a few. `among many`: ten workloads a node wait. The peer, in the same run, writes the same rows with
one decision a transaction and without any policy, as a controller does that updates one object at a time. Kueue's own
test of performance admits 43 workloads a second. Seconds of the processor are this process's and Postgres's: they tell
as much on a machine that is busy with other things.
"""

import asyncio
import inspect
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import psutil

from app.core.job_labels import Home
from app.core.own_workload import Wanted
from app.core.scheduling.policy import HOUR, MINUTE, SECOND
from app.core.scope import Scope
from app.core.times import WorldTime, to_millis
from app.settings import Settings
from app.store import clusters, placements, scheduling, workloads, worlds
from app.store.db import Database, Tx
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ensure_schema
from app.store.rows import insert_rows
from app.store.workloads import Row
from app.usecases import budget_limits, budgets, clocks, fleet_binding, fleet_changes, queues, team_quotas
from app.usecases import clusters as cluster_requests
from app.usecases import scheduling as passes
from app.usecases import workloads as requests
from app.usecases import worlds as world_requests
from app.usecases.fleet_memory import MEMORY
from app.usecases.provisioning import Policy
from app.usecases.requests import cluster_intent
from app.usecases.worlds import Setting
from benchmarks.scale import eks, slope

SIZES = (128, 1000)
HOME = Home()
START = WorldTime(datetime(2026, 1, 1, tzinfo=UTC))
LEASE_SECONDS = 7200.0
LEAVES, SAMPLE = 12, 40
MOST_PASSES = 400
PEER = 300
"""Decisions that the peer writes."""
BAR = 500
"""Durable decisions a second."""
PARTS: tuple[tuple[str, Any, str], ...] = (
    ("lock cluster", clusters, "lock"),
    ("lock fleet", scheduling, "lock"),
    ("memory", passes, "load"),
    ("nodes", placements, "nodes"),
    ("quotas", team_quotas, "refresh"),
    ("news", fleet_changes, "take"),
    ("limits", budget_limits, "refresh"),
    ("decide", passes, "schedule"),
    ("bind", fleet_binding, "carry_out"),
    ("write", passes._Pass, "_write"),
)


@dataclass(slots=True)
class Watch:
    """Seconds of each part, and of whole passes."""

    spent: dict[str, float] = field(default_factory=dict)
    passes: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    """Seconds of the processor that each took, here and in Postgres: whatever else the machine does does not count."""
    decisions: list[int] = field(default_factory=list)
    """Of each pass."""

    @property
    def seconds(self) -> float:
        return sum(self.passes)

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def stop(began: float) -> None:
            self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - began

        @wraps(work)
        async def later(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return await work(*args, **kwargs)
            finally:
                stop(began)

        @wraps(work)
        def now(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                stop(began)

        return later if inspect.iscoroutinefunction(work) else now


@contextmanager
def watched() -> Iterator[Watch]:
    """Every part of a pass is timed while the block lasts."""
    watch, before = Watch(), [getattr(where, name) for _, where, name in PARTS]
    for (label, where, name), work in zip(PARTS, before, strict=True):
        setattr(where, name, watch.timed(label, work))
    try:
        yield watch
    finally:
        for (_, where, name), work in zip(PARTS, before, strict=True):
            setattr(where, name, work)


@dataclass(frozen=True, slots=True)
class Lab:
    """A world with one cluster."""

    db: Database
    world: str
    scope: Scope
    fleet: str
    nodes: int
    epoch: int
    """Of the lease on the world: the clock is moved by hand."""

    async def submit(self, prefix: str, count: int, **facts: Any) -> float:
        """Submit so many: the first by the request's own way, and the others as it would write them; how many a second
        the first took."""
        draw, began = random.Random(f"{prefix}{self.nodes}"), time.perf_counter()
        wanted = [self._wanted(draw, prefix, number, facts) for number in range(count)]
        for one in wanted[:SAMPLE]:
            await self.db.run(requests.submit, self.world, "lab", one, HOME)
        rate = min(SAMPLE, count) / (time.perf_counter() - began)
        async with self.db.transaction() as tx:
            row, at = await scheduling.lock(tx, self.scope, self.fleet), (await clocks.read(tx, self.world)).now
            others = enumerate(wanted[SAMPLE:], row.workloads + 1)
            await seed(tx, self.scope, self.fleet, [requests._row(one, place, to_millis(at)) for place, one in others])
        return rate

    def _wanted(self, draw: random.Random, prefix: str, number: int, facts: dict[str, Any]) -> Wanted:
        made = {name: value(draw) if callable(value) else value for name, value in facts.items()}
        return Wanted(f"{prefix}{number}", gpus=8, budget=f"team{number % LEAVES}", **made)

    async def run(self, watch: Watch, most: int, hours: int = 24) -> None:
        """Passes as they come due, up to so many within so many hours of the world's time."""
        until = (await self.db.run(clocks.read, self.world)).now + timedelta(hours=hours)
        for _ in range(most):
            due = await self._next()
            if due is None or due > until:
                break
            before = await self._decisions()
            began, worked = time.perf_counter(), await self._worked()
            done = await self.db.run(passes.pass_over, self.world, self.epoch)
            watch.passes.append(time.perf_counter() - began)
            watch.worked.append(await self._worked() - worked)
            assert done is not None and not done["failed"], done
            watch.decisions.append(await self._decisions() - before)

    async def _next(self) -> WorldTime | None:
        """When the fleet is due: that is now. Whatever else is due before is done."""
        while True:
            agenda = await self.db.run(worlds.agenda, self.world)
            if agenda.first is None:
                return None
            await self._go(agenda.first)
            if agenda.fleet == agenda.first and (agenda.cluster is None or agenda.cluster > agenda.first):
                return agenda.fleet
            assert await clocks.settle_once(self.db, self.world, agenda, agenda.first, Policy(), self.epoch) is not None

    async def _go(self, at: WorldTime) -> None:
        now = max(at, (await self.db.run(clocks.read, self.world)).now)
        assert await self.db.run(worlds.move, self.world, self.epoch, now, LEASE_SECONDS)

    async def _worked(self) -> float:
        """Seconds of the processor until now, of this process and of Postgres."""
        async with self.db.connection() as connection:
            pids = [row[0] for row in await connection.fetch("SELECT pid FROM pg_stat_activity")]
        times = [psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)]
        return time.process_time() + sum(one.user + one.system for one in times)

    async def _decisions(self) -> int:
        async with self.db.transaction() as tx:
            row = await scheduling.read(tx, self.scope, self.fleet)
        return 0 if row is None else row.decisions

    async def living(self) -> list[Row]:
        return await self.db.run(workloads.living, self.scope, self.fleet)


async def seed(tx: Tx, scope: Scope, fleet: str, rows: Sequence[Row]) -> None:
    """Many workloads at once, each with its number, as `app.store.workloads.insert` writes one."""
    columns = workloads.INSERT_COLUMNS
    asked = [name for name in columns if name in Row.__slots__ and name != "status"]
    key = (scope.world, scope.account, scope.region, fleet)
    records = [
        (*key, *(getattr(row, name) for name in asked), workloads.NEW, [{"at": row.submit, "kind": workloads.SUBMIT}])
        for row in rows
    ]
    await insert_rows(tx, "workload", columns, records)
    await tx.execute(
        """UPDATE fleet SET workloads = workloads + $5
        WHERE (world, account, region, fleet) = ($1, $2, $3, $4)""",
        *key,
        len(rows),
    )


async def build(db: Database, nodes: int) -> Lab:
    """The cluster is in service, and budgets of several weights share it."""
    world = f"lab-{nodes}"
    await db.run(world_requests.create, world, Setting(7, "instant", START, 1.0, True))
    scope = Scope(world, HOME.account, HOME.region)
    request: Any = eks("lab", nodes, 1)
    made = await cluster_requests.create(db, scope, cluster_intent(request, Settings()))
    for number in range(LEAVES):
        await db.run(budgets.create, world, f"team{number}", "", number % 4 + 1)
    await clocks.advance(db, world, clocks.Goal(by=timedelta(hours=1)), Policy(), "benchmark", 60)
    epoch = await db.run(worlds.take_lease, world, "benchmark", LEASE_SECONDS)
    assert epoch is not None
    return Lab(db, world, scope, made.cluster_id, nodes, epoch)


def report(what: str, nodes: int, watch: Watch) -> tuple[float, float]:
    """Durable decisions a second, and a second of the processor, of passes that take one or more for eight nodes;
    else of all."""
    count, middle = len(watch.passes), sorted(watch.passes)[len(watch.passes) // 2] * 1000
    full = [place for place, made in enumerate(watch.decisions) if made * 8 >= nodes] or range(count)
    made = sum(watch.decisions[place] for place in full)
    rate = made / sum(watch.passes[place] for place in full)
    worked = made / sum(watch.worked[place] for place in full)
    print(
        f"{nodes:5} nodes, {what:11} {count:4} passes, {sum(watch.decisions) / count:6.1f} decisions each,"
        f" median {middle:6.1f} ms, longest {max(watch.passes) * 1000:6.1f} ms, of the processor"
        f" {sum(watch.worked) / count * 1000:.1f} ms; {len(full)} with {made / len(full):.0f} decisions each:"
        f" {rate:.0f} durable decisions/s, {worked:.0f} a second of the processor"
    )
    parts = {label: watch.spent.get(label, 0.0) for label, _, _ in PARTS}
    parts["the rest"] = watch.seconds - sum(parts.values())
    print("      ms a pass: " + ", ".join(f"{label} {spent / count * 1000:.1f}" for label, spent in parts.items()))
    return rate, worked


async def waves(lab: Lab) -> tuple[float, float]:
    """Decisions a second, and a second of the processor."""
    runtimes = [minutes * MINUTE for minutes in (30, 30, 60, 90)]
    rate = await lab.submit("wave", lab.nodes * 6, min_runtime=30 * MINUTE, runtime=lambda draw: draw.choice(runtimes))
    print(f"{lab.nodes:5} nodes, requests submit {rate:.0f} workloads/s")
    with watched() as watch:
        await lab.run(watch, MOST_PASSES, hours=3)
    return report("waves", lab.nodes, watch)


async def trickle(lab: Lab) -> float:
    """Milliseconds of a pass in the middle."""
    await lab.submit(
        "one", lab.nodes * 3, min_runtime=15 * MINUTE, runtime=lambda draw: draw.randrange(1200, 7200) * SECOND
    )
    with watched() as watch:
        await lab.run(watch, 1)
    with watched() as watch:
        await lab.run(watch, 100)
    report("trickle", lab.nodes, watch)
    return sorted(watch.passes)[len(watch.passes) // 2] * 1000


async def among_many(lab: Lab) -> dict[str, float]:
    """Ten workloads a node wait: milliseconds of a pass, of its policy, of building its memory, of the queue."""
    await lab.submit("many", lab.nodes * 11, min_runtime=8 * HOUR)
    with watched() as watch:
        await lab.run(watch, 1)
    await lab.submit("late", SAMPLE, min_runtime=5 * MINUTE)
    with watched() as watch:
        await lab.run(watch, 20)
    report("among many", lab.nodes, watch)
    began = time.perf_counter()
    found = await lab.db.run(queues.queue, lab.world, None)
    asked = (time.perf_counter() - began) * 1000
    MEMORY.forget()
    began = time.perf_counter()
    await lab.db.run(queues.queue, lab.world, None, limit=1)
    built = (time.perf_counter() - began) * 1000
    count = len(watch.passes)
    decide = watch.spent["decide"] / count * 1000
    waiting = len(await lab.living())
    print(
        f"{lab.nodes:5} nodes, {waiting} workloads live: the policy alone {decide:.1f} ms a pass; the first"
        f" {len(found)} of the queue explained in {asked:.0f} ms; the memory built again from rows in {built:.0f} ms"
    )
    return {"pass": watch.seconds / count, "decide": decide / 1000, "build": built / 1000, "queue": asked / 1000}


WRITE = (
    "SELECT 1 FROM fleet WHERE (world, account, region, fleet) = ($1, $2, $3, $4) FOR UPDATE",
    """INSERT INTO decision (world, account, region, fleet, seq, at, kind, code, workload, body)
    VALUES ($1, $2, $3, $4, $5, 0, 'admit', 'free', $6, $7)""",
    """UPDATE workload SET status = status, state = state, ends_at = ends_at
    WHERE (world, account, region, fleet, name) = ($1, $2, $3, $4, $5)""",
)


async def _one(tx: Tx, key: tuple[str, ...], number: int, name: str) -> None:
    await tx.execute(WRITE[0], *key)
    await tx.execute(WRITE[1], *key, -number, name, {"places": [["a node", 1]], "at": 0, "code": "free"})
    await tx.execute(WRITE[2], *key, name)


async def peer(lab: Lab) -> tuple[float, float]:
    """Decisions a second, and a second of the processor, each in a transaction; they are taken away again."""
    names = [row.name for row in await lab.living()][:PEER]
    key = (lab.scope.world, lab.scope.account, lab.scope.region, lab.fleet)
    began, worked = time.perf_counter(), await lab._worked()
    for number, name in enumerate(names, 1):
        await lab.db.run(_one, key, number, name)
    rates = len(names) / (time.perf_counter() - began), len(names) / (await lab._worked() - worked)
    async with lab.db.transaction() as tx:
        await tx.execute("DELETE FROM decision WHERE world = $1 AND seq < 0", lab.scope.world)
    return rates


async def measure(db: Database, nodes: int) -> dict[str, float]:
    lab = await build(db, nodes)
    rate, worked = await waves(lab)
    middle = await trickle(lab)
    found = await among_many(lab)
    alone, alone_worked = await peer(lab)
    print(
        f"{nodes:5} nodes, one decision a transaction, without a policy: {alone:.0f} decisions/s, {alone_worked:.0f} a"
        f" second of the processor; in waves we write {rate / alone:.1f} and {worked / alone_worked:.1f} times as many;"
        f" {rate / BAR:.1f} and {worked / BAR:.1f} times the bar of {BAR}"
    )
    return found | {"trickle": middle / 1000}


async def run(postgres: EmbeddedPostgres, sizes: tuple[int, ...]) -> None:
    dsn = await postgres.start()
    try:
        await ensure_schema(dsn)
        db = await Database.connect(dsn, size=4, name="benchmark", statement_timeout=60)
        try:
            found = {nodes: await measure(db, nodes) for nodes in sizes}
        finally:
            await db.close()
    finally:
        await postgres.stop()
    if len(sizes) > 1:
        slopes = {name: slope({nodes: one[name] for nodes, one in found.items()}) for name in found[sizes[0]]}
        print("exponents, nodes and workloads alike: " + ", ".join(f"{name} {at:.2f}" for name, at in slopes.items()))


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(prefix="windtunnel-live-") as scratch:
        Path(scratch).chmod(0o755)
        asyncio.run(run(EmbeddedPostgres(Path(scratch) / "data"), tuple(map(int, sys.argv[1:])) or SIZES))


if __name__ == "__main__":
    main()
