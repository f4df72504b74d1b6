"""What DescribeCluster shows: one statement, and no more columns than the answer has need of."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import worlds
from app.store.clusters import reference
from app.store.db import Tx


class DescribedCluster(NamedTuple):
    """What is told of a cluster, and the facts that its status is computed from."""

    cluster_id: str
    name: str
    created_at: WorldTime
    continuous: bool
    operation: str | None
    opened_at: WorldTime | None
    in_service_at: WorldTime | None
    failed_at: WorldTime | None
    failure_message: str | None
    rolling_back_at: WorldTime | None
    delete_requested_at: WorldTime | None
    spec: Mapping[str, Any]


class DescribedGroup(NamedTuple):
    """What is told of a group, and the facts that its status is computed from."""

    name: str
    position: int
    instance_types: list[str]
    target: int
    minimum: int
    current: int
    ill: int
    operation: str | None
    in_service_at: WorldTime | None
    min_since: WorldTime | None
    delete_requested_at: WorldTime | None
    training_plan: str | None
    image: str
    former_image: str | None
    update_status: str | None
    update_config: Mapping[str, Any] | None
    patch_found_at: WorldTime | None
    next_patch_at: WorldTime | None
    spec: Mapping[str, Any]


DESCRIBE = {
    by: f"""SELECT {", ".join(f"c.{name}" for name in DescribedCluster._fields)},
        {", ".join(f"g.{name}" for name in DescribedGroup._fields)}
        FROM cluster c LEFT JOIN instance_group g USING (world, account, region, cluster_id)
        WHERE c.world = $1 AND c.account = $2 AND c.region = $3 AND c.{by} = $4 AND c.deleted_at IS NULL"""
    for by in ("name", "cluster_id")
}
# In a world whose counts come late: what each was before the first of its changes that is not known yet.
TOLD_COUNTS = f"""SELECT DISTINCT ON (k.group_name) k.group_name, k.was FROM count_change k
    JOIN instance_group g USING (world, account, region, cluster_id)
    WHERE k.world = $1 AND k.account = $2 AND k.region = $3 AND k.cluster_id = $4 AND g.name = k.group_name
    AND k.at >= g.created_at AND k.at > (SELECT {worlds.NOW} - make_interval(secs => l.seconds)
        FROM world JOIN read_lag l ON l.world = world.name WHERE world.name = $1)
    ORDER BY k.group_name, k.at"""
_SPLIT = len(DescribedCluster._fields)


async def describe(
    tx: Tx, scope: Scope, name_or_arn: str, *, late: bool
) -> tuple[DescribedCluster, list[DescribedGroup]] | None:
    """A live cluster and its groups in their order; with `late`, their counts are those that the world tells yet."""
    by, value = reference(scope, name_or_arn)
    rows = await tx.fetch(DESCRIBE[by], scope.world, scope.account, scope.region, value)
    if not rows:
        return None
    cluster = DescribedCluster(*rows[0][:_SPLIT])
    groups = [DescribedGroup(*facts) for row in rows if (facts := row[_SPLIT:])[0] is not None]
    groups.sort(key=_position)  # to sort one row costs the database more than us to sort a hundred
    if late:
        key = (scope.world, scope.account, scope.region, cluster.cluster_id)
        told = dict(map(tuple, await tx.fetch(TOLD_COUNTS, *key)))
        groups = [group._replace(current=told.get(group.name, group.current)) for group in groups]
    return cluster, groups


def _position(group: DescribedGroup) -> int:
    return group.position
