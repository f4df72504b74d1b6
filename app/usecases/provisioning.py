"""One pass over one due cluster: claim, think, save; one transaction for state, events, outbox and ledger.

A pass handles the cluster's earliest due instant: at most a thousand nodes, set by set, and, when none is left at that
instant, the decisions of the cluster and its groups.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from app.core.announcements import node_health, state_change
from app.core.capacity import Stock
from app.core.cluster import Cluster, Group, Work, cluster_status, new_node, victims
from app.core.faults import Faults
from app.core.instance import Instance, next_due
from app.core.launching import Batch, Surroundings, work
from app.core.metering import Interval, settle
from app.core.provisioning import Decision, decide, next_deadline
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.timings import ERROR_DELAY
from app.core.world import World
from app.store import capacity, clusters, events, faults, governance, instances, lag, ledger, outbox, plans, worlds
from app.store.clusters import Claimed
from app.store.db import Tx
from app.usecases import arrivals, guests, operations, reserving
from app.usecases.attempts import attempt, told
from app.usecases.prices import rates
from app.usecases.rollouts import roll_out
from app.usecases.upkeep import begin_updates, wake_for_updates

BATCH = 1000
"""The most nodes that one transaction moves, so that no lock is held for long."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the service's settings say to every pass."""

    events_per_cluster: int = 10_000
    error_delay: timedelta = ERROR_DELAY
    """How long after its end a job's failure is told (VX-9)."""
    log_lines_per_job: int = 10_000
    executes: bool = False
    """Jobs' programs really run (VX-16)."""


async def pass_over(tx: Tx, world_name: str, policy: Policy, epoch: int | None = None) -> Counter[str] | None:
    """Handle the world's longest due cluster; None when nothing is due, or when the world is not ours to move.

    `epoch` is the caller's lease on the world, if he has one.
    """
    world = await worlds.share(tx, world_name)
    if world is None or not world.may_be_moved(epoch):
        return None
    claimed = await clusters.claim_due(tx, world_name, world.now, wait=epoch is not None)
    if claimed is None:
        return None
    return await handle_or_postpone(tx, world, claimed, policy)


async def handle_or_postpone(tx: Tx, world: World, claimed: Claimed, policy: Policy) -> Counter[str]:
    """Handle the locked cluster; one that fails is put off, with its error."""
    return await attempt(
        tx, partial(handle, tx, world, claimed, policy), partial(_postpone, tx, world.name, claimed.cluster)
    )


async def _postpone(tx: Tx, world_name: str, cluster: Cluster, error: Exception) -> Counter[str]:
    facts = {"world": world_name, "cluster": cluster.cluster_id}
    log.error("pass over a cluster failed", exc_info=error, extra={"facts": facts})
    scope = Scope(world_name, cluster.account, cluster.region)
    await clusters.postpone(tx, scope, cluster.cluster_id, told(error))
    return Counter(failed=1)


async def handle(tx: Tx, world: World, due: Claimed, policy: Policy) -> Counter[str]:
    """Do what the locked cluster has to do at the instant for which it is due."""
    cluster, at = due.cluster, due.due_at or world.now
    scope = Scope(world.name, cluster.account, cluster.region)
    groups = await clusters.groups(tx, scope, cluster.cluster_id)
    nodes = await instances.due(tx, scope, cluster.cluster_id, at, BATCH)
    held = await guests.hold(tx, scope, cluster, nodes) if cluster.hosts else []
    around = await _surroundings(tx, world, scope, groups, nodes)
    batch = work(cluster, groups, nodes, at, world.now, around)
    made = Decision(cluster, _count(groups, batch), at, events=batch.events)
    more = len(nodes) == BATCH  # others may be due at this instant, so the decisions wait, but for one on a failure
    new: list[Instance] = []
    if not more or batch.controller_failure or (batch.failure and not cluster.continuous):
        decide(made, batch)
        new = _launch_planned(made, batch, world, around)
    await _save_batch(tx, scope, world, batch, new)
    if due.awaits and not more:  # they may arrive in the cluster that they leave, so those who leave go first
        await arrivals.take_in(tx, scope, world, cluster, groups, at)
    await _reclaim(tx, scope, made, around)
    again = [at] if more or made.plan else []
    await _carry_out(tx, scope, groups, made, cluster, policy, [*again, around.reserve.next_reclaim(at)])
    words = [outbox.Entry(word.at, *node_health(cluster, word)) for word in batch.told.health]
    await outbox.put(tx, scope, cluster.cluster_id, words)
    if world.read_lag:
        await lag.note(tx, scope, cluster.cluster_id, groups, made.groups, at, world.read_lag)
    await operations.follow(tx, scope, world.seed, cluster, groups, made)
    if batch.examined:
        await operations.end_health_checks(tx, scope, cluster.cluster_id, batch.examined, at)
    if made.gone:
        await governance.end_with_cluster(tx, scope, cluster.cluster_id, made.at, world.timings.delays["governance"])
    if cluster.hosts:
        await guests.follow(tx, scope, cluster, batch, made, held)
    return Counter(nodes=len(nodes) + len(new), events=len(made.events), passes=1)


async def _surroundings(
    tx: Tx, world: World, scope: Scope, groups: Mapping[str, Group], nodes: Sequence[Instance]
) -> Surroundings:
    """Locks, in this order everywhere: the cluster and jobs on it (held), fault rules, pools, training plans."""
    growing = {name for name, group in groups.items() if group.slots < max(group.target, group.stable_target)}
    touched = {node.group for node in nodes} | growing
    types = {node.instance_type for node in nodes}
    types.update(kind for node in nodes for kind in (node.wish or {}).get("types", ()))
    types.update(kind for name in touched for kind in groups[name].instance_types)
    rules = await faults.lock_rules(tx, world.name) if types else []
    pools = await capacity.lock_pools(tx, world.name, scope.region, sorted(types)) if types else []
    reserve = await reserving.reserve(tx, scope, groups)
    return Surroundings(world.seed, world.timings, Stock(pools, types), Faults(rules, world.seed), reserve)


async def _reclaim(tx: Tx, scope: Scope, made: Decision, around: Surroundings) -> None:
    """Stop the nodes whose reserved capacity is over; their groups want as many as before. Where a plan's machine came
    free, the cluster's nodes that wait for one try at once."""
    cluster_id = made.cluster.cluster_id
    if (over := around.reserve.over(made.at)) and not made.gone:
        held = await instances.reserved(tx, scope, cluster_id, over)
        await instances.stop_nodes(tx, scope, cluster_id, made.at, [logical_id for _, logical_id in held])
        for name, count in Counter(group for group, _ in held).items():
            if name in made.groups:
                made.change(made.groups[name], slots=max(0, made.groups[name].slots - count))
    if around.reserve.freed:
        await plans.wake(tx, scope, cluster_id, sorted(around.reserve.freed), made.at)


def _launch_planned(made: Decision, batch: Batch, world: World, around: Surroundings) -> list[Instance]:
    """Make places for what is missing and try their first launch, at most a batch in all; the rest stays planned."""
    launched: list[Instance] = []
    while made.plan and len(launched) < BATCH:
        new: list[Instance] = []
        for name, wanted in made.plan.items():
            group = made.groups[name]
            count = min(wanted, BATCH - len(launched) - len(new))
            new += add_places(made.cluster, group, count, made.at, world.seed)
            made.groups[name] = grown(group, count)
        first = work(made.cluster, made.groups, new, made.at, world.now, around)
        made.groups = _count(made.groups, first)
        made.events += first.events
        batch.told.health += first.told.health
        batch.opened += first.opened
        batch.closed += first.closed
        batch.came |= first.came
        launched += first.changed
        decide(made, first)
    return launched


def _count(groups: Mapping[str, Group], batch: Batch) -> dict[str, Group]:
    """The groups with what the batch changed; the others are the same objects, so that they are not saved."""
    gone = Counter(node.group for node in batch.gone)
    changed = dict(groups)
    for name in {*gone, *batch.current, *batch.ill}:
        group = groups[name]
        changed[name] = replace(
            group,
            current=group.current + batch.current.get(name, 0),
            ill=group.ill + batch.ill.get(name, 0),
            rows=group.rows - gone[name],
        )
    return changed


async def _save_batch(tx: Tx, scope: Scope, world: World, batch: Batch, new: Sequence[Instance]) -> None:
    cluster_id, delays = batch.cluster.cluster_id, world.timings.delays
    await instances.insert(tx, scope, cluster_id, new, [next_due(node, delays) for node in new])
    await instances.save(tx, scope, cluster_id, batch.changed, [next_due(node, delays) for node in batch.changed])
    await instances.remove(tx, scope, cluster_id, batch.gone)
    await _save_bills(tx, scope, cluster_id, batch.opened, batch.closed)
    stock, struck = batch.around.stock, batch.around.faults
    if stock.deltas:
        await capacity.count(tx, scope.world, scope.region, stock)
    if stock.freed:
        await capacity.leave_wake(tx, scope.world, scope.region, stock.freed)
    if struck.counted:
        await faults.record(tx, scope.world, struck.counted, struck.hits, struck.hits_before)


async def _save_bills(
    tx: Tx, scope: Scope, cluster_id: str, opened: Sequence[Interval], closed: Sequence[Interval]
) -> None:
    over, new = settle(opened, closed)
    await ledger.close(tx, scope, cluster_id, over)
    if new:
        prices = await rates(tx, scope.world, scope.region, {one.instance_type for one in new})
        await ledger.insert(tx, scope, cluster_id, new, prices)


async def _carry_out(
    tx: Tx,
    scope: Scope,
    before: Mapping[str, Group],
    made: Decision,
    was: Cluster,
    policy: Policy,
    again: Sequence[WorldTime | None],
) -> None:
    """Write what was decided, and when the cluster next needs looking at."""
    cluster_id = made.cluster.cluster_id
    if made.gone:
        await clusters.bury(tx, scope, cluster_id, made.at)
        return
    await _stop(tx, scope, made)
    begun_at = None
    if made.at not in again:  # all else that was due at this instant is done
        await roll_out(tx, scope, made)
        begun_at = await begin_updates(tx, scope, made)
    told = made.events if made.cluster.continuous else []
    seq = await events.append(tx, scope, cluster_id, told, made.cluster.event_seq, policy.events_per_cluster)
    if made.removed:
        await clusters.remove_groups(tx, scope, cluster_id, made.removed)
    changed = [group for name, group in made.groups.items() if group is not before.get(name)]
    await clusters.save_groups(tx, scope, cluster_id, changed)
    await announce(tx, scope, was, made.cluster, made.groups.values(), made.at)
    times = (
        *again,
        begun_at,
        await instances.next_due(tx, scope, cluster_id),
        next_deadline(made.cluster, made.groups),
    )
    due_at = min((time for time in times if time is not None), default=None)
    due_at = await wake_for_updates(tx, scope, made, due_at)
    await clusters.save(tx, scope, replace(made.cluster, event_seq=seq), due_at)


async def _stop(tx: Tx, scope: Scope, made: Decision) -> None:
    cluster_id = made.cluster.cluster_id
    if made.stop_all:
        await instances.stop_all(tx, scope, cluster_id, made.at)
    if made.stop_groups:
        await instances.stop_groups(tx, scope, cluster_id, made.at, made.stop_groups)
    for name, count in made.surplus.items():
        candidates = await instances.candidates(tx, scope, cluster_id, name, made.at)
        if name in made.rolled_back:
            candidates = [replace(one, work=Work.NONE) for one in candidates]
        chosen = victims(candidates, count)
        await instances.stop_nodes(tx, scope, cluster_id, made.at, chosen)
        group = made.groups[name]
        made.change(group, slots=group.slots - len(chosen))


def add_places(cluster: Cluster, group: Group, count: int, at: WorldTime, seed: int) -> list[Instance]:
    """The group's next `count` nodes, waiting for their first launch."""
    first = group.next_ordinal
    return [new_node(cluster, group, first + place, at, seed) for place in range(count)]


def grown(group: Group, count: int) -> Group:
    """The group with `count` more nodes."""
    return replace(group, rows=group.rows + count, slots=group.slots + count, next_ordinal=group.next_ordinal + count)


async def announce(
    tx: Tx, scope: Scope, was: Cluster, cluster: Cluster, groups: Iterable[Group], at: WorldTime
) -> None:
    """Tell the outside when the cluster's status is another than it was."""
    if cluster_status(was) != cluster_status(cluster):
        await outbox.announce(tx, scope, cluster.cluster_id, at, [state_change(cluster, groups)])
