"""Due clusters are claimed one by one, each by one worker."""

import asyncpg
import pytest

from app.core.scope import Scope
from app.store import clusters, creation, descriptions
from app.store.db import Database
from tests.core.builders import T0, at, cluster, in_service
from tests.store.rows import ANNOUNCED, CLUSTER_ID, add_cluster


async def test_the_longest_due_first(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        for cluster_id, due in (("b" * 12, at(5)), ("a" * 12, at(3)), ("c" * 12, at(9))):
            await add_cluster(tx, scope, cluster_id, due)
        claimed = await clusters.claim_due(tx, scope.world, at(8), wait=False)
        assert claimed is not None
        assert (claimed.cluster.cluster_id, claimed.due_at) == ("a" * 12, at(3))
        assert await clusters.claim_due(tx, scope.world, at(2), wait=False) is None


async def test_two_workers_claim_two_clusters(database: Database, scope: Scope) -> None:
    """RL-5: `SKIP LOCKED`: neither waits, neither gets what the other holds."""
    async with database.transaction() as tx:
        for cluster_id in ("a" * 12, "b" * 12):
            await add_cluster(tx, scope, cluster_id)
    async with database.transaction() as one, database.transaction() as other, database.transaction() as third:
        first = await clusters.claim_due(one, scope.world, T0, wait=False)
        second = await clusters.claim_due(other, scope.world, T0, wait=False)
        assert first is not None
        assert second is not None
        assert {first.cluster.cluster_id, second.cluster.cluster_id} == {"a" * 12, "b" * 12}
        assert await clusters.claim_due(third, scope.world, T0, wait=False) is None
    async with database.transaction() as tx:
        assert await clusters.claim_due(tx, scope.world, T0, wait=False) is not None, (
            "what was not saved is still due (RL-1)"
        )


async def test_a_failing_cluster_waits_and_lets_others_pass(database: Database, scope: Scope) -> None:
    """It shows why; a save forgets it."""
    async with database.transaction() as tx:
        one = await add_cluster(tx, scope)
        for _ in range(12):  # each wait is at least as long as 50 ms x 2^n / 2, so now it is a minute or half of one
            await clusters.postpone(tx, scope, CLUSTER_ID, "no luck")
        assert await clusters.claim_due(tx, scope.world, at(9), wait=False) is None
        assert [(row["error"], row["failures"]) for row in await clusters.failing(tx, scope.world)] == [("no luck", 12)]
        await clusters.save(tx, scope, one, T0)
        assert await clusters.failing(tx, scope.world) == []
        assert await clusters.claim_due(tx, scope.world, at(9), wait=False) is not None


async def test_values_come_back_as_they_went_in(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        one = cluster(
            account=scope.account,
            cluster_id=CLUSTER_ID,
            in_service_at=at(millis=1),
            failure_message="Ünïcödé\n'quoted'",
            spec={"VpcConfig": {"Subnets": ["subnet-1"]}},
        )
        two = in_service(3, name="w", zones=("us-west-2a", "us-west-2b"), min_since=at(millis=7), current=2)
        assert await creation.create(tx, scope.world, one, [two], [], {}, T0, ANNOUNCED)
        assert await clusters.get(tx, scope, "demo") == one
        assert await clusters.groups(tx, scope, CLUSTER_ID) == {"w": two}


NAMES = {
    "its name": ("demo", True),
    "its ARN": (f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{CLUSTER_ID}", True),
    "an ARN of another region": (f"arn:aws:sagemaker:eu-west-1:111122223333:cluster/{CLUSTER_ID}", False),
    "an ARN of another account": (f"arn:aws:sagemaker:us-west-2:444455556666:cluster/{CLUSTER_ID}", False),
    "an ARN of another cluster": ("arn:aws:sagemaker:us-west-2:111122223333:cluster/zzzzzzzzzzzz", False),
    "its id is no name": (CLUSTER_ID, False),
}


@pytest.mark.parametrize("name", NAMES)
async def test_found_by(name: str, database: Database, scope: Scope) -> None:
    """HP-W6, RL-22."""
    reference, found = NAMES[name]
    async with database.transaction() as tx:
        await add_cluster(tx, scope, name="demo")
        assert (await clusters.get(tx, scope, reference) is not None) is found
        assert (await clusters.lock(tx, scope, reference) is not None) is found
        assert (await descriptions.describe(tx, scope, reference, late=False) is not None) is found


async def test_hurrying_never_delays(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await add_cluster(tx, scope, due=at(5))
        for moment, due in ((at(9), at(5)), (at(3), at(3))):
            await clusters.hurry(tx, scope, CLUSTER_ID, moment)
            claimed = await clusters.claim_due(tx, scope.world, at(60), wait=False)
            assert claimed is not None
            assert claimed.due_at == due


IMPOSSIBLE = {
    "more run than there are": "current = rows + 1",
    "more places than rows": "slots = rows + 1",
    "fewer than none": "current = -1",
    "a minimum above the target": "minimum = target + 1",
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
async def test_impossible_counts_are_refused(name: str, database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
    with pytest.raises(asyncpg.CheckViolationError):
        async with database.transaction() as tx:
            await tx.execute(f"UPDATE instance_group SET {IMPOSSIBLE[name]} WHERE world = $1", scope.world)


WAIT = "SELECT extract(epoch FROM not_before_wall - clock_timestamp()) FROM cluster WHERE world = $1"


async def test_the_wait_doubles_up_to_a_minute(database: Database, scope: Scope) -> None:
    """RL design rule 8: 50 ms, twice as long each time, jittered."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        for failures in range(30):
            await clusters.postpone(tx, scope, CLUSTER_ID, "no luck")
            wait = await tx.fetchval(
                "SELECT extract(epoch FROM not_before_wall - clock_timestamp()) FROM cluster WHERE world = $1",
                scope.world,
            )
            longest = min(60, 0.05 * 2**failures)
            assert float(wait) <= longest
            assert float(wait) > longest / 2 - 1
