"""Clusters' GPUs as jobs see them, and who queues, with the reason (VX-1, VX-24). Worked out when asked."""

from collections.abc import Iterator
from typing import NamedTuple

from app.core.cluster import Cluster
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import clusters, fleet_jobs
from app.store.db import Tx
from app.store.fleet_jobs import Guest
from app.usecases import clocks
from app.usecases.bills import of_cluster
from app.usecases.fleet_admission import Seen, gang_of, look

QUOTA_IN_USE = "quota-in-use"
QUOTA_MESSAGE = "Others use the project's quota in this region. It starts in its turn, when enough of it is free."


class Fleet(NamedTuple):
    """A cluster's GPUs of one model. `ready` are those of nodes that take work now, `taken` those that jobs hold."""

    cluster: Cluster
    model: str
    nodes: int
    gpus: int
    ready: int
    taken: int


class Queued(NamedTuple):
    """A job that waits: for all of its nodes, or for those in the places of lost ones, `gpus` in all; and why."""

    guest: Guest
    cluster: Cluster | None
    gpus: int
    reason: str
    message: str


async def fleets(tx: Tx, world: str, cluster: str | None) -> list[Fleet]:
    """The living clusters' GPUs by model, of one cluster by name, id or ARN if it is given."""
    return [fleet for one, seen in await _seen(tx, world, cluster) for fleet in _models(one, seen)]


async def queue(tx: Tx, world: str, cluster: str | None) -> list[Queued]:
    """Who waits, the first to be served first: on each cluster, and without one named for the quotas of regions."""
    found = [queued for one, seen in await _seen(tx, world, cluster) for queued in _waiting(one, seen)]
    if cluster is not None:
        return found
    pool = await fleet_jobs.queued_for_quota(tx, world)
    return found + [Queued(guest, None, _gpus(guest), QUOTA_IN_USE, QUOTA_MESSAGE) for guest in pool]


async def _seen(tx: Tx, world: str, cluster: str | None) -> list[tuple[Cluster, Seen]]:
    now: WorldTime = (await clocks.read(tx, world)).now
    asked = (None, None, None) if cluster is None else of_cluster(cluster)[1:4]
    found = await clusters.living(tx, world, *asked)
    return [(one, await look(tx, Scope(world, one.account, one.region), one, now)) for one in found]


def _models(cluster: Cluster, seen: Seen) -> Iterator[Fleet]:
    for model in sorted({host.model for host in seen.service.hosts if host.model is not None}):
        hosts = [host for host in seen.service.hosts if host.model == model]
        ready = sum(host.gpus for host in hosts if host.ready)
        taken = sum(host.taken for host in hosts)
        yield Fleet(cluster, model, len(hosts), sum(host.gpus for host in hosts), ready, taken)


def _waiting(cluster: Cluster, seen: Seen) -> Iterator[Queued]:
    for guest in seen.guests:
        if (hold := seen.service.held.get(guest.name)) is not None:
            yield Queued(guest, cluster, _gpus(guest), hold.reason, hold.message)


def _gpus(guest: Guest) -> int:
    return sum(need.gpus for need in gang_of(guest).needs)
