"""Nodes in and out: due sets, whole batches, pages."""

from dataclasses import replace

from app.core.node import Node
from app.core.scope import Scope
from app.store import clusters, instances
from app.store.db import Database
from tests.core.builders import CPU, GPU, REGION, T0, at, in_service, node
from tests.store.rows import CLUSTER_ID, add_cluster, add_nodes, nodes


async def test_values_come_back_as_they_went_in(database: Database, scope: Scope) -> None:
    every = node(
        Node.CONFIGURING,
        boot_after=at(1),
        script_at=at(2),
        launched_at=at(millis=3),
        message="ünwell",
        billings=2,
        billed_from=at(4),
        billed_until=at(3),
        wish={"zones": ["us-west-2a"]},
    )
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, every, due=at(9))
        assert await instances.find(tx, scope, CLUSTER_ID, by="logical_id", values=["n-1"]) == [every]
        assert await instances.find(tx, scope, CLUSTER_ID, by="instance_id", values=["i-0"]) == [every]
        assert await instances.find(tx, scope, CLUSTER_ID, by="instance_id", values=["i-1"]) == []


async def test_a_batch_is_saved_node_by_node(database: Database, scope: Scope) -> None:
    """One statement; each node gets its own values and its own due moment."""
    old = nodes(4)
    new = [
        node(Node.RUNNING, ordinal=n, logical_id=f"n-{n}", instance_type=CPU, instance_id=f"i-{n}", since=at(n))
        for n in (1, 2, 3)
    ]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *old, due=T0)
        await instances.save(tx, scope, CLUSTER_ID, new, [None, at(20), at(10)])
        names = [f"n-{n}" for n in range(1, 5)]
        kept = await instances.find(tx, scope, CLUSTER_ID, by="logical_id", values=names)
        assert sorted(kept, key=lambda one: one.ordinal) == [*new, old[3]]
        assert [one.ordinal for one in await instances.due(tx, scope, CLUSTER_ID, at(20), 9)] == [4, 3, 2]
        assert [one.ordinal for one in await instances.due(tx, scope, CLUSTER_ID, at(20), 2)] == [4, 3]
        assert await instances.next_due(tx, scope, CLUSTER_ID) == T0
        await instances.remove(tx, scope, CLUSTER_ID, [old[3], new[2]])
        assert await instances.next_due(tx, scope, CLUSTER_ID) == at(20)


async def test_told_to_stop_once(database: Database, scope: Scope) -> None:
    """The first word counts: a later one does not put the end off."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await clusters.insert_groups(tx, scope, CLUSTER_ID, [in_service(0, name="other", position=1)])
        await add_nodes(tx, scope, *nodes(2), node(group="other", logical_id="o-1"))
        await instances.stop_nodes(tx, scope, CLUSTER_ID, at(5), ["n-1"])
        await instances.stop_groups(tx, scope, CLUSTER_ID, at(6), ["workers"])
        await instances.stop_all(tx, scope, CLUSTER_ID, at(7))
        told = await instances.due(tx, scope, CLUSTER_ID, at(60), 9)
        assert [(one.logical_id, one.terminate_at) for one in told] == [
            ("n-1", at(5)),
            ("n-2", at(6)),
            ("o-1", at(7)),
        ]
        assert await instances.candidates(tx, scope, CLUSTER_ID, "workers", T0) == []


async def test_who_waits_longest_is_woken_first(database: Database, scope: Scope) -> None:
    """HP-6: over clusters; not who is told to stop, nor who wants another type, another region or a full zone."""
    since = {"n-1": 5, "n-2": 3, "n-3": 1, "n-4": 2, "n-5": 4}
    others = {"n-3": {"terminate_at": T0}}
    waits = [
        replace(one, waiting_since=at(since[one.logical_id]), **others.get(one.logical_id, {}))
        for one in nodes(5, status=Node.FAILED, zone=None, launch_after=at(900))
    ]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *waits, due=at(900))
        key, zones = (scope.account, REGION, CLUSTER_ID), list(in_service(0).zones)
        assert await instances.oldest_waiting(tx, scope.world, REGION, GPU, [], 2) == {key: ["n-4", "n-2"]}
        assert await instances.oldest_waiting(tx, scope.world, REGION, GPU, ["us-west-2z"], 1) == {key: ["n-4"]}
        assert await instances.oldest_waiting(tx, scope.world, REGION, GPU, zones, 2) == {}
        assert await instances.oldest_waiting(tx, scope.world, REGION, CPU, [], 2) == {}
        assert await instances.oldest_waiting(tx, scope.world, "eu-west-1", GPU, [], 2) == {}
        await instances.wake(tx, scope, CLUSTER_ID, at(60), ["n-2", "n-3"])
        assert [one.logical_id for one in await instances.due(tx, scope, CLUSTER_ID, at(60), 9)] == ["n-2"]
