"""How many statements a pass of the scheduler costs, whatever the number of nodes and workloads (FS-15)."""

import pytest

from app.core.job_labels import Home
from app.core.metering import Interval
from app.core.node import Node
from app.core.own_workload import Wanted
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import ledger, scheduling, wakes, workloads, worlds
from app.store.db import Database, Tx
from app.usecases import scheduling as passes
from app.usecases import workloads as requests
from tests.core.builders import ACCOUNT, GPU, REGION, T0, at
from tests.store.conftest import make_world
from tests.store.rows import CLUSTER_ID, RATES, add_cluster, add_nodes
from tests.store.rows import nodes as some_nodes
from tests.store.test_round_trips import counted

LEASE = 60.0


async def fleet(tx: Tx, world: str, count: int) -> Scope:
    """A cluster in service with so many nodes, which the scheduler has not seen."""
    scope = Scope(world, ACCOUNT, REGION)
    await add_cluster(tx, scope, in_service_at=T0)
    running = some_nodes(count, status=Node.RUNNING, billings=1, billed_from=T0)
    await add_nodes(tx, scope, *running)
    stays = [Interval(one.logical_id, 1, f"i-{one.ordinal}", "workers", GPU, T0, None, None) for one in running]
    await ledger.insert(tx, scope, CLUSTER_ID, stays, RATES)
    return scope


async def submit(tx: Tx, scope: Scope, prefix: str, count: int) -> None:
    for number in range(count):
        wanted = Wanted(f"{prefix}{number}", gpus=8, runtime=60_000)
        await requests.submit(tx, scope.world, CLUSTER_ID, wanted, Home(ACCOUNT, REGION))


async def pass_at(tx: Tx, scope: Scope, epoch: int, now: WorldTime) -> list[str]:
    """The statements of a pass then; the cluster itself has nothing to do before."""
    await tx.execute("UPDATE cluster SET due_at = NULL WHERE world = $1", scope.world)
    assert await worlds.move(tx, scope.world, epoch, now, LEASE)
    async with counted(tx) as sent:
        done = await passes.pass_over(tx, scope.world, epoch)
    assert done is not None and not done["failed"]
    return sent


async def statuses(tx: Tx, scope: Scope) -> list[str]:
    return [row.status for row in await workloads.living(tx, scope, CLUSTER_ID)]


async def test_a_pass_costs_as_many_statements_for_many_as_for_one(database: Database) -> None:
    """FS-15: a pass that binds a dozen gangs, and one that ends them and binds the next, send what those of one gang
    do; and the nodes are not read again while nothing of them is written."""
    costs: list[tuple[int, int]] = []
    for count in (1, 1, 12):  # the driver asks once a connection what a type is
        world = await make_world(database)
        async with database.transaction() as tx:
            epoch = await worlds.take_lease(tx, world, "a test", LEASE)
            assert epoch is not None
            scope = await fleet(tx, world, count)
            await submit(tx, scope, "first", count)
            await submit(tx, scope, "next", count)
            first = await pass_at(tx, scope, epoch, T0)
            assert sorted(await statuses(tx, scope)) == ["running"] * count + ["waiting"] * count
            second = await pass_at(tx, scope, epoch, at(minutes=1))
            assert await statuses(tx, scope) == ["running"] * count
            await worlds.remove(tx, world)
        costs.append((len(first), len(second)))
        assert any("FROM instance i JOIN" in one for one in first)
        assert not any("FROM instance i JOIN" in one for one in second)
    assert costs[1] == costs[2]
    assert max(costs[2]) <= 30


@pytest.mark.parametrize("change", ["reboot_at = now()", "terminate_at = now()", "status = 'Pending'"])
async def test_whatever_is_written_of_a_node_is_seen_by_the_next_pass(
    database: Database, scope: Scope, change: str
) -> None:
    """FS-19: the fleet's memory of its nodes is no older than they are, whoever wrote them."""
    async with database.transaction() as tx:
        epoch = await worlds.take_lease(tx, scope.world, "a test", LEASE)
        assert epoch is not None
        await fleet(tx, scope.world, 2)
        await submit(tx, scope, "first", 1)
        await pass_at(tx, scope, epoch, T0)
        assert [one.host for one in await scheduling.hosts(tx, scope, CLUSTER_ID)] == ["n-1", "n-2"]
        await tx.execute(f"UPDATE instance SET {change} WHERE world = $1 AND logical_id = 'n-1'", scope.world)
        await wakes.leave(tx, scope, wakes.FLEET, CLUSTER_ID, at(1))
        await pass_at(tx, scope, epoch, at(1))
        assert [one.host for one in await scheduling.hosts(tx, scope, CLUSTER_ID)] == ["n-2"]
