"""What a request begins may fail by a fault rule (CT-3): `internal-error` for its operation."""

from collections.abc import Sequence

from app.core.cluster import Cluster
from app.core.faults import Faults, Rule, Subject
from app.core.instance import Instance
from app.core.times import to_millis
from app.core.world import World
from app.store import faults
from app.store.db import Tx

EFFECT = "internal-error"


async def is_armed(tx: Tx, world: World, operation: str) -> bool:
    """Whether any rule lies in wait for the operation, so that its nodes are worth reading."""
    rules = await faults.lock_rules(tx, world.name)
    return any(rule.effect == EFFECT and rule.operation in (None, operation) for rule in rules)


async def strike(tx: Tx, world: World, subjects: Sequence[Subject]) -> list[Rule | None]:
    """The rule that strikes each subject, or None; the hits are recorded."""
    rules = await faults.lock_rules(tx, world.name)
    struck = Faults([rule for rule in rules if rule.effect == EFFECT], world.seed)
    if not struck:
        return [None] * len(subjects)
    found = [struck.strike(EFFECT, one, world.now) for one in subjects]
    if struck.counted:
        await faults.record(tx, world.name, struck.counted, struck.hits, struck.hits_before)
    return found


def subject(world: World, cluster: Cluster, operation: str, node: Instance | None = None) -> Subject:
    """An operation on a cluster, or on one of its nodes, as fault rules see it."""
    return Subject(
        account=cluster.account,
        region=cluster.region,
        cluster=cluster.name,
        cluster_id=cluster.cluster_id,
        operation=operation,
        group=node.group if node else "",
        instance_type=node.instance_type if node else "",
        logical_id=node.logical_id if node else "",
        instance_id=(node.instance_id or "") if node else "",
        turn=to_millis(world.now),
    )
