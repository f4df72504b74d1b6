"""CreateCluster's two statements: look once, write once."""

from app.core.cluster_events import Event
from app.core.scope import Scope
from app.store import capacity, clusters, creation, events, tags
from app.store.creation import Survey
from app.store.db import Database, Tx
from tests.core.builders import SEED, T0, at, cluster, in_service
from tests.store.rows import ANNOUNCED, CLUSTER_ID, add_cluster

EKS = "arn:aws:eks:us-west-2:111122223333:cluster/k"


async def survey(tx: Tx, scope: Scope, name: str = "demo", eks_arn: str | None = None) -> Survey:
    found = await creation.survey(tx, scope, name, eks_arn)
    assert found is not None
    return found


async def test_a_name_is_taken_until_the_cluster_is_gone(database: Database, scope: Scope) -> None:
    """And `generation` goes on counting, so that the next one gets another id."""
    async with database.transaction() as tx:
        assert (await survey(tx, scope))[1:] == (0, False, False, False, [])
        await add_cluster(tx, scope, name="demo")
        assert (await survey(tx, scope))[1:3] == (1, True)
        assert not await creation.create(tx, scope.world, cluster(cluster_id="b" * 12), [], [], {}, T0, ANNOUNCED)
        await clusters.bury(tx, scope, CLUSTER_ID, at(5))
        assert (await survey(tx, scope))[1:3] == (1, False)
        assert await clusters.get(tx, scope, "demo") is None
        assert await clusters.groups(tx, scope, CLUSTER_ID) == {}
        assert await clusters.claim_due(tx, scope.world, at(9), wait=False) is None
        assert await creation.create(tx, scope.world, cluster(cluster_id="b" * 12), [], [], {}, T0, ANNOUNCED)
        assert (await survey(tx, scope))[1:3] == (2, True)


async def test_names_belong_to_an_account_and_a_region(database: Database, scope: Scope) -> None:
    """HP-W6, RL-22."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope, name="demo")
        for foreign in (
            Scope(scope.world, "444455556666", scope.region),
            Scope(scope.world, scope.account, "eu-west-1"),
        ):
            assert not (await survey(tx, foreign)).taken


async def test_all_that_comes_with_a_cluster_is_written(database: Database, scope: Scope) -> None:
    """RL design rule 1: one statement, all of it or none."""
    one = cluster(account=scope.account, cluster_id=CLUSTER_ID, event_seq=2, spec={"a": ["ü", 1, None]})
    groups = [in_service(3, name="b", position=0, min_since=at(millis=5)), in_service(2, name="a", position=1)]
    told = [Event("cluster-started", T0, params={"operation": "creation"}), Event("group-started", at(millis=7), "b")]
    async with database.transaction() as tx:
        for expected in (True, False):
            assert (
                await creation.create(tx, scope.world, one, groups, told, {"z": "1", "y": "2"}, T0, ANNOUNCED)
                is expected
            )
        assert await clusters.get(tx, scope, "demo") == one
        assert list((await clusters.groups(tx, scope, CLUSTER_ID)).values()) == groups
        assert [await events.get(tx, scope, CLUSTER_ID, seq) for seq in (1, 2, 3)] == [*told, None]
        assert await tags.of_account(tx, scope.world, scope.account) == {one.arn: {"z": "1", "y": "2"}}
        claimed = await clusters.claim_due(tx, scope.world, T0, wait=False)
        assert claimed is not None
        assert claimed.due_at == T0


async def test_without_a_world_nothing_is_found_and_nothing_made(database: Database) -> None:
    async with database.transaction() as tx:
        assert await creation.survey(tx, Scope("nowhere", "1", "r"), "demo", None) is None
        assert not await creation.create(tx, "nowhere", cluster(), [], [], {}, T0, ANNOUNCED)


async def test_an_eks_cluster_carries_one_cluster_at_a_time(database: Database, scope: Scope) -> None:
    """Held until the one that stands on it is gone."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope, eks_arn=EKS)
        assert (await survey(tx, scope, "new", EKS)).eks_taken
        assert not (await survey(tx, scope, "new", f"{EKS}2")).eks_taken
        await clusters.bury(tx, scope, CLUSTER_ID, at(5))
        assert not (await survey(tx, scope, "new", EKS)).eks_taken


async def test_the_world_comes_along(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await capacity.set_quota(tx, scope, "a", 1)
        found = await survey(tx, scope)
    assert (found.world.name, found.world.seed, found.world.now) == (scope.world, SEED, T0)
    assert found.has_quotas
