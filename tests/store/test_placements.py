"""Who is on which node: what is told of a cluster's nodes, and what the schema refuses."""

from dataclasses import replace

import asyncpg
import pytest

from app.core.node import Node
from app.core.scope import Scope
from app.store import clusters, instances, placements
from app.store.db import Database, Tx
from tests.core.builders import T0, at, in_service
from tests.store.rows import CLUSTER_ID, add_cluster, add_nodes, nodes, open_one, placed

JOB = ("123456789012", "us-central1", "1")
BOTH = ("workerpool0-0", "workerpool1-0")


async def _node_with_a_job(tx: Tx, scope: Scope) -> None:
    await add_cluster(tx, scope)
    await add_nodes(tx, scope, *nodes(2, status=Node.RUNNING, billings=1))
    await open_one(tx, scope, 1, T0)
    await placements.open_at(
        tx, scope, CLUSTER_ID, [placed(billing=1), placed("n-1", "workerpool1-0", "1", 4, 1)], at(1)
    )


async def test_a_cluster_tells_its_nodes_and_who_is_on_them(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await _node_with_a_job(tx, scope)
        found = await placements.nodes(tx, scope, CLUSTER_ID)
        assert [(one.logical_id, one.billing, one.taken, one.ready) for one in found] == [
            ("n-1", 1, 6, True),
            ("n-2", 1, 0, True),
        ]
        await placements.leave(tx, scope, CLUSTER_ID, JOB, BOTH, at(2))
        assert [one.taken for one in await placements.nodes(tx, scope, CLUSTER_ID)] == [0, 0]


@pytest.mark.parametrize("mark", ["reboot_at", "replace_at", "patch_at", "examine_at"])
async def test_a_node_that_is_about_to_leave_running_is_not_ready(database: Database, scope: Scope, mark: str) -> None:
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *nodes(1, status=Node.RUNNING, **{mark: T0}))
        assert [one.ready for one in await placements.nodes(tx, scope, CLUSTER_ID)] == [False]


async def test_nodes_that_go_or_run_the_cluster_itself_take_no_jobs(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *nodes(1, status=Node.RUNNING))
        assert len(await placements.nodes(tx, scope, CLUSTER_ID)) == 1
        for spec in ({"node_type": "Controller"}, {"spec": {"restricted": True}}, {"delete_requested_at": T0}):
            await clusters.save_groups(tx, scope, CLUSTER_ID, [replace(in_service(1), **spec)])  # type: ignore[arg-type]
            assert await placements.nodes(tx, scope, CLUSTER_ID) == []
        await clusters.save_groups(tx, scope, CLUSTER_ID, [in_service(1)])
        await instances.stop_all(tx, scope, CLUSTER_ID, T0)
        assert await placements.nodes(tx, scope, CLUSTER_ID) == []


async def test_each_stay_of_a_replica_is_a_row_of_its_own(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await _node_with_a_job(tx, scope)
        await placements.leave_nodes(tx, scope, CLUSTER_ID, ["n-1"], at(3))
        await placements.open_at(tx, scope, CLUSTER_ID, [placed(billing=1, number=2)], at(3))
        rows = await placements.uses(tx, scope.world, None, at(9))
        assert [(row.gpus, row.started_at, row.ended_at) for row in rows] == [
            (2, at(1), at(3)),
            (4, at(1), at(3)),
            (2, at(3), None),
        ]
        assert len(await placements.uses(tx, scope.world, at(3), at(4))) == 1
        assert await placements.uses(tx, scope.world, None, at(1)) == []
        await placements.leave(tx, scope, CLUSTER_ID, JOB, BOTH, T0)
        ends = [row.ended_at for row in await placements.uses(tx, scope.world, None, at(9))]
        assert ends == [at(3), at(3), at(3)], "whose pass lags ends no stay before it began"


async def test_a_replica_is_on_one_node_at_a_time_within_its_bill_and_forward(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await _node_with_a_job(tx, scope)
    for place, error in (
        (placed(billing=1, number=2), asyncpg.UniqueViolationError),
        (placed(job="2"), asyncpg.ForeignKeyViolationError),
        (placed(job="2", billing=1, gpus=-1), asyncpg.CheckViolationError),
    ):
        with pytest.raises(error):
            async with database.transaction() as tx:
                await placements.open_at(tx, scope, CLUSTER_ID, [place], at(9))
