"""What DescribeCluster reads."""

from app.core.scope import Scope
from app.store import creation, descriptions
from app.store.db import Database
from tests.core.builders import T0, at, cluster, in_service
from tests.store.rows import ANNOUNCED, CLUSTER_ID


async def test_a_cluster_and_its_groups_in_their_order(database: Database, scope: Scope) -> None:
    """Each fact is that of the cluster and of the group, whatever else those have."""
    one = cluster(account=scope.account, cluster_id=CLUSTER_ID, failure_message="why", spec={"a": ["ü", 1, None]})
    groups = [in_service(3, name="b", position=0, min_since=at(millis=5)), in_service(2, name="a", position=1, ill=1)]
    async with database.transaction() as tx:
        assert await creation.create(tx, scope.world, one, groups, [], {}, T0, ANNOUNCED)
        found = await descriptions.describe(tx, scope, one.arn, late=False)
    assert found is not None
    seen, shown = found
    assert seen._asdict() == {name: getattr(one, name) for name in seen._fields}
    assert [group._asdict() for group in shown] == [
        {name: list(fact) if isinstance(fact := getattr(group, name), tuple) else fact for name in shown[0]._fields}
        for group in groups
    ]


async def test_a_cluster_without_groups(database: Database, scope: Scope) -> None:
    one = cluster(account=scope.account, cluster_id=CLUSTER_ID)
    async with database.transaction() as tx:
        assert await creation.create(tx, scope.world, one, [], [], {}, T0, ANNOUNCED)
        found = await descriptions.describe(tx, scope, one.name, late=False)
    assert found is not None
    assert found[1] == []
