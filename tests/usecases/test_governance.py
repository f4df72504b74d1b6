"""What a scheduler is told of a cluster's governance, and what a worker that lags changes."""

import pytest

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import worlds
from app.store.db import Database
from app.usecases import governance
from app.usecases.governance import InForce
from tests.core.builders import ACCOUNT, REGION, at
from tests.governance import PRIORITIES, SETTLED, Governed, cluster
from tests.kit import TestWorld
from tests.wire.sagemaker.refused import NOT_FOUND, refusal

NOTHING = InForce(None, [])


async def active(database: Database, kind: Governed) -> InForce:
    scope = Scope(kind.world.name, ACCOUNT, REGION)
    now = (await database.run(worlds.read, scope.world)).now  # type: ignore[union-attr]
    return await database.run(governance.active, scope, kind.cluster_arn.rpartition("/")[2], now)


@pytest.fixture
def quotas(world: TestWorld) -> Governed:
    return Governed(world, "ComputeQuota", cluster(world))


async def test_the_scheduler_config_in_force(world: TestWorld, database: Database) -> None:
    configs = Governed(world, "ClusterSchedulerConfig", cluster(world))
    one = configs.create()
    assert await active(database, configs) == NOTHING
    world.advance(SETTLED)
    policy = (await active(database, configs)).policy
    assert policy is not None
    assert policy.priorities == tuple((one["Name"], one["Weight"]) for one in PRIORITIES)
    assert (policy.config_id, policy.fair_share) == (one, True)
    configs.delete(one)
    assert (await active(database, configs)).policy == policy, "until it is Deleted"
    world.advance(SETTLED)
    assert await active(database, configs) == NOTHING


async def test_the_version_in_force(quotas: Governed, database: Database) -> None:
    """While an update is under way, and after it failed, the cluster schedules by the version before."""
    one = quotas.create("a")
    quotas.create("b", ActivationState="Disabled")
    quotas.world.advance(SETTLED)
    told = (await active(database, quotas)).allocations
    assert [(each.name, each.enabled, each.weight) for each in told] in (
        [("a", True, 0), ("b", False, 0)],
        [("b", False, 0), ("a", True, 0)],
    )
    for number, (outcome, before, after) in enumerate([(None, 0, 7), ("fails", 7, 7), (None, 7, 9)], 1):
        if outcome:
            quotas.fail("Update")
        weight = 8 if outcome else after
        quotas.update(one, number, ComputeQuotaTarget={"TeamName": "a", "FairShareWeight": weight})
        assert await weight_of(database, quotas, one) == before
        quotas.world.advance(SETTLED)
        assert await weight_of(database, quotas, one) == after


async def weight_of(database: Database, quotas: Governed, one: str) -> int:
    told = (await active(database, quotas)).allocations
    return next(each.weight for each in told if each.quota_id == one)


async def test_a_cluster_that_should_have_gone_takes_them_along(quotas: Governed, database: Database) -> None:
    """CT-1: a worker lags: the request first does the past in which the cluster ended, and with it its quotas."""
    one = quotas.create()
    quotas.world.advance(SETTLED)
    quotas.world.sagemaker.delete_cluster(ClusterName="demo")
    later: WorldTime = at(hours=3)
    await database.run(worlds.set_clock, quotas.world.name, later, rate=1, frozen=True)
    assert quotas.status(one) == "Created", "no worker has been there yet"
    assert refusal(quotas, verb="update", TargetVersion=1, **quotas.named(one))[0] == NOT_FOUND
