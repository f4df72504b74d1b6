"""The story of a cluster: its events, by page and one by one (HP-13, HP-26)."""

from typing import Any

from app.core import ids
from app.core.cluster import Cluster
from app.core.cluster_events import KINDS, Event
from app.core.errors import Invalid, NotFound
from app.core.scope import Scope
from app.store import events
from app.store.db import Tx
from app.usecases.clusters import must_get, world_of


async def teller(tx: Tx, scope: Scope, name_or_arn: str) -> tuple[Cluster, int]:
    """The cluster and the seed of its event ids; only continuous clusters tell their story."""
    cluster = await must_get(tx, scope, name_or_arn)
    if not cluster.continuous:
        raise Invalid(
            f"Cluster '{cluster.name}' has no events: they need NodeProvisioningMode Continuous. "
            "DescribeCluster shows its status and FailureMessage."
        )
    return cluster, (await world_of(tx, scope)).seed


async def event(tx: Tx, scope: Scope, name_or_arn: str, event_id: str) -> tuple[Cluster, int, Event, int]:
    """One event by its id: the cluster, its place in the story, itself, and the seed."""
    cluster, seed = await teller(tx, scope, name_or_arn)
    seq = ids.event_seq(seed, cluster.cluster_id, event_id)
    found = None if seq is None else await events.get(tx, scope, cluster.cluster_id, seq)
    if seq is None or found is None:
        raise NotFound(f"Event '{event_id}' not found in cluster '{cluster.name}'. ListClusterEvents shows its events.")
    return cluster, seq, found, seed


async def page(
    tx: Tx, scope: Scope, cluster_id: str, *, resource: str | None, **question: Any
) -> tuple[list[tuple[int, Event]], dict[int, str]]:
    """A page of ListClusterEvents, and the operations to which its events belong."""
    kinds = None if resource is None else [name for name, kind in KINDS.items() if kind.resource == resource]
    found = await events.page(tx, scope, cluster_id, kinds=kinds, **question)
    return found, await operations_of(tx, scope, cluster_id, found)


async def operations_of(tx: Tx, scope: Scope, cluster_id: str, told: list[tuple[int, Event]]) -> dict[int, str]:
    """The ids of the events' operations, by the events' numbers."""
    return await events.operations_of(tx, scope, cluster_id, told) if told else {}
