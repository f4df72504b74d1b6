"""Faults of nodes that run already, and their cure when NodeRecovery is turned on (CT-3, HP-29)."""

from app.core.cluster import Cluster
from app.core.faults import Faults, Rule
from app.core.health import BREAKS, appoint_cure, break_down, is_degraded, subject
from app.core.instance import next_due
from app.core.node import Node
from app.core.scope import Scope
from app.core.times import to_millis
from app.core.world import World
from app.store import clusters, faults, instances
from app.store.db import Tx
from app.usecases import host_repairs


async def strike_running(tx: Tx, world: World, rule: Rule) -> Rule:
    """Strike the nodes that run now, in the order of their clusters, groups and ordinals; nodes that begin to run
    later meet the rule then. The world must be locked. The rule with its counts."""
    if rule.effect not in BREAKS:
        return rule
    at = max(world.now, rule.after) if rule.after is not None else world.now
    struck = Faults([rule], world.seed)
    for cluster in await clusters.living(tx, world.name, rule.account, rule.region, rule.cluster):
        scope = Scope(world.name, cluster.account, cluster.region)
        hit = []
        for node in await instances.standing(tx, scope, cluster.cluster_id, Node.RUNNING, rule.group):
            if node.hardware_fault_at is None and node.degraded_at is None:
                by = struck.strike(rule.effect, subject(cluster, node, turn=to_millis(at)), at)
                hit += [break_down(node, by, at)] if by else []
        if hit:
            dues = [next_due(node, world.timings.delays) for node in hit]
            await instances.save(tx, scope, cluster.cluster_id, hit, dues)
            await clusters.hurry(tx, scope, cluster.cluster_id, min(due for due in dues if due is not None))
    if not struck.counted:
        return rule
    await faults.record(tx, world.name, struck.counted, struck.hits, struck.hits_before)
    return struck.counted[0]


async def cure_the_ill(tx: Tx, scope: Scope, world: World, cluster: Cluster) -> None:
    """NodeRecovery was turned on: what lay ill and unattended is rebooted or replaced now, degraded hosts once they are
    empty."""
    ill = await instances.standing(tx, scope, cluster.cluster_id, Node.ILL)
    running = await instances.standing(tx, scope, cluster.cluster_id, Node.RUNNING)
    ill += await host_repairs.empty(tx, scope, cluster, [node for node in running if is_degraded(node)], world.now)
    cured = [appoint_cure(node, world.now) for node in ill if node.reboot_at is None and node.replace_at is None]
    await instances.save(tx, scope, cluster.cluster_id, cured, [next_due(n, world.timings.delays) for n in cured])
