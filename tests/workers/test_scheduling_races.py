"""What happens while the scheduler makes a pass, or just before and after: nothing asked for is lost (FS-15, RL-2)."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from app.core.scope import Scope
from app.core.times import WorldTime, after, to_millis
from app.store import listed_workloads, wakes, workloads, worlds
from app.store.db import Database
from app.usecases import explanations, scheduling
from app.usecases.fleet_memory import MEMORY
from tests.fleets import gpus
from tests.fleets import submit as submit_job
from tests.kit import Running, TestWorld
from tests.workloads import HOUR, fleet, funded, statuses, submit, told

BLOCKED = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)"


class Stepped:
    """A world of one cluster, whose clock is set without a pass, and whose passes are made one by one."""

    def __init__(self, db: Database, world: TestWorld) -> None:
        self.db, self.world = db, world

    async def now(self) -> WorldTime:
        found = await self.db.run(worlds.read, self.world.name)
        assert found is not None
        return found.now

    async def move(self, milliseconds: int) -> None:
        """Time goes by, and nothing happens yet; the clock runs, but not by a millisecond in a test."""
        at = after(await self.now(), timedelta(milliseconds=milliseconds))
        await self.db.run(worlds.set_clock, self.world.name, at, rate=1e-6, frozen=False)

    async def make_pass(self) -> Any:
        return await self.db.run(scheduling.pass_over, self.world.name)

    async def fleet(self) -> tuple[Scope, str, WorldTime | None]:
        """Whose it is, its id, and when it is due."""
        async with self.db.transaction() as tx:
            row = await tx.fetchrow(
                "SELECT account, region, fleet, due_at FROM fleet WHERE world = $1 AND workloads > 0", self.world.name
            )
        assert row is not None
        return Scope(self.world.name, row[0], row[1]), row[2], row[3]

    async def until_blocked(self) -> None:
        """Until somebody waits for a lock."""
        async with self.db.connection() as tx:
            async with asyncio.timeout(30):
                while not await tx.fetchval(BLOCKED):
                    pass


@pytest.fixture
async def demo(service: Running, database: Database) -> AsyncIterator[Stepped]:
    """A node of eight GPUs, and budgets."""
    world = await asyncio.to_thread(lambda: fleet(service.world(), 1, vision=1, speech=1))
    made = Stepped(database, world)
    await made.move(0)
    yield made
    world.close()


@pytest.mark.parametrize(
    ("path", "body"), [("budgets/vision", {"weight": 3}), ("fleets/demo", {"unfunded_grace_seconds": 30})]
)
async def test_a_change_within_the_second_of_a_pass_is_not_lost_by_it(
    demo: Stepped, path: str, body: dict[str, int]
) -> None:
    """FS-15: the pass of a second's beginning comes late, when something has been asked for the next one already."""
    submit(demo.world, "a", budget="vision", min_runtime_seconds=HOUR)
    demo.world.control("POST", "workloads", json={"name": "b", "gpus": 8})
    before = await demo.now()
    await demo.move(700)
    demo.world.control("PATCH", path, json=body)
    assert await demo.make_pass() is not None
    assert (await demo.fleet())[2] == after(before, timedelta(seconds=1))
    assert statuses(demo.world) == {"a": "running", "b": "waiting"}


async def test_news_of_a_pass_that_lags_takes_no_later_news_away(demo: Stepped) -> None:
    """FS-15: what is told of an earlier instant, behind something later, is taken with that."""
    submit(demo.world, "a", budget="vision", min_runtime_seconds=HOUR)
    scope, name, _ = await demo.fleet()
    at = await demo.now()
    async with demo.db.transaction() as tx:
        await workloads.tell(tx, scope, name, "a", to_millis(at) + 1500, workloads.PRIORITY, priority=3)
        await workloads.tell(tx, scope, name, "a", to_millis(at) + 800, workloads.HOLE)
        for seconds in (1, 2):
            await wakes.leave(tx, scope, wakes.FLEET, name, after(at, timedelta(seconds=seconds)))
    await demo.move(1000)
    assert await demo.make_pass() is not None
    assert told(demo.world, "a")["priority"] == 0
    await demo.move(1000)
    assert await demo.make_pass() is not None
    assert told(demo.world, "a")["priority"] == 3


async def test_what_is_asked_while_a_pass_is_made_is_for_the_next(demo: Stepped) -> None:
    """FS-15: at the same instant, by another process, after the pass has read the news."""
    submit(demo.world, "runs")
    submit(demo.world, "waits")
    demo.world.control("POST", "workloads/runs/cancel")
    async with demo.db.transaction() as tx:
        assert await scheduling.pass_over(tx, demo.world.name) is not None
        asked = asyncio.create_task(
            asyncio.to_thread(demo.world.control, "PATCH", "workloads/waits", json={"priority": 2})
        )
        await demo.until_blocked()
    await asked
    assert await demo.make_pass() is not None
    assert told(demo.world, "waits")["priority"] == 2
    assert statuses(demo.world) == {"runs": "ended", "waits": "running"}


async def test_a_pass_that_is_undone_leaves_nothing_in_memory(demo: Stepped) -> None:
    """FS-14: rows are the truth, and the next pass decides the same once more."""
    submit(demo.world, "runs")
    demo.world.control("POST", "workloads", json={"name": "waits", "gpus": 8})
    demo.world.control("POST", "workloads/runs/cancel")
    with pytest.raises(ZeroDivisionError):
        async with demo.db.transaction() as tx:
            assert await scheduling.pass_over(tx, demo.world.name) is not None
            raise ZeroDivisionError
    assert statuses(demo.world) == {"runs": "running", "waits": "new"}
    assert await demo.make_pass() is not None
    assert statuses(demo.world) == {"runs": "ended", "waits": "running"}


async def test_an_eviction_waits_for_a_job_before_it_closes_its_placements(demo: Stepped) -> None:
    """RL-1: in the order in which a pass over the job takes them, or the two would wait for each other."""
    job = await asyncio.to_thread(submit_job, demo.world, gpus(1, 8, RUN_SECONDS="6000"))
    demo.world.advance(seconds=30)
    funded(demo.world, "new", "vision")
    await demo.move(11_000)
    key = (demo.world.name, job.rpartition("/")[2])
    async with demo.db.transaction() as tx:
        await tx.execute("SELECT 1 FROM custom_job WHERE world = $1 AND job_id = $2 FOR UPDATE", *key)
        under_way = asyncio.create_task(demo.make_pass())
        await demo.until_blocked()
        held = await tx.fetch("SELECT 1 FROM placement WHERE world = $1 AND job_id = $2 FOR UPDATE NOWAIT", *key)
        assert len(held) == 1
    assert await under_way is not None
    assert statuses(demo.world)["new"] == "running"


async def test_who_reads_while_a_pass_is_made_sees_one_state(demo: Stepped, monkeypatch: pytest.MonkeyPatch) -> None:
    """FS-13: as it was when the reading began, though the same process has gone on since."""
    funded(demo.world, "a", "vision", runtime_seconds=HOUR)
    seen_at = to_millis(await demo.now())
    kept = listed_workloads.decisions

    async def decisions(*args: Any, **kwargs: Any) -> Any:
        await asyncio.to_thread(demo.world.advance, hours=2)
        return await kept(*args, **kwargs)

    monkeypatch.setattr(listed_workloads, "decisions", decisions)
    standing = await demo.db.run(explanations.stand, demo.world.name, None, "a")
    assert (standing.as_of, standing.listed.row.status, sum(standing.places.values())) == (seen_at, "running", 1)
    monkeypatch.undo()
    assert statuses(demo.world) == {"a": "ended"}


async def test_a_restored_world_is_scheduled_from_its_rows(demo: Stepped) -> None:
    """FS-14, CT-0: whatever the process remembers of the time that is undone."""
    world = demo.world
    funded(world, "a", "vision", runtime_seconds=HOUR)
    world.control("POST", "snapshots", json={"name": "then"})
    world.control("POST", "workloads/a/cancel")
    world.advance(0)
    submit(world, "b")
    world.control("POST", "snapshots/then/restore")
    assert statuses(world) == {"a": "running"}
    submit(world, "c")
    assert statuses(world) == {"a": "running", "c": "waiting"}
    MEMORY.forget()
    world.advance(hours=1)
    assert statuses(world) == {"a": "ended", "c": "running"}
