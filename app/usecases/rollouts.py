"""Software updates that are under way: one step of each at an instant (HP-30)."""

from app.core.provisioning import Decision
from app.core.scope import Scope
from app.core.software import roll, settle, watched
from app.store import instances, software
from app.store.db import Tx


async def roll_out(tx: Tx, scope: Scope, made: Decision) -> None:
    """Tell the nodes whose turn has come, and write down how far the groups' updates have got."""
    cluster, at = made.cluster, made.at
    if cluster.delete_requested_at is not None or cluster.failed_at is not None:
        return
    for name, group in list(made.groups.items()):
        if not group.under_update or group.delete_requested_at is not None:
            continue
        members = await instances.members(tx, scope, cluster.cluster_id, name)
        alarms = watched(group)
        alarmed = await software.alarmed(tx, scope, alarms, at) if alarms else ()
        step = roll(group, members, alarmed, cluster.recovers, at)
        made.groups[name] = step.group
        made.events += step.events
        if step.chosen:
            await instances.patch(tx, scope, cluster.cluster_id, at, step.group, step.chosen)
        if step.given_up:
            await instances.give_up(tx, scope, cluster.cluster_id, at, step.given_up, replace=cluster.recovers)
    made.cluster = settle(cluster, made.groups)
