"""Clusters' GPUs as jobs see them, and who queues, with the reason (VX-1, VX-24). Worked out when asked."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.core.admission import check_needs
from app.core.cluster import Cluster
from app.core.errors import LimitExceeded
from app.core.placing import Hold, Host, Reason, hopeless
from app.core.scope import Scope
from app.store import capacity, clusters, fleet_jobs, placements
from app.store.db import Tx
from app.store.fleet_jobs import Guest
from app.usecases import clocks
from app.usecases.bills import of_cluster
from app.usecases.fleet_admission import MOST_SHOWN, gang_of, host_of, look

QUOTA_IN_USE = "quota-in-use"
QUOTA_MESSAGE = "Others use the project's quota in this region. It starts in its turn, when enough of it is free."
QUOTA_TOO_SMALL = "quota-too-small"


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
    found: list[Fleet] = []
    for one in await _clusters(tx, world, cluster):
        rows = await placements.nodes(tx, Scope(world, one.account, one.region), one.cluster_id)
        found += _by_model(one, [host_of(row, one) for row in rows])
    return found


async def queue(tx: Tx, world: str, cluster: str | None) -> list[Queued]:
    """Who waits, the first to be served first: on each cluster, and without one named for the quotas of regions."""
    now = (await clocks.read(tx, world)).now
    found: list[Queued] = []
    for one in await _clusters(tx, world, cluster):
        if one.hosts:
            seen = await look(tx, Scope(world, one.account, one.region), one, now)
            held = seen.service.held
            hosts = seen.service.hosts
            found += [_queued(guest, one, hosts, held[guest.name]) for guest in seen.guests if guest.name in held]
    if cluster is None:
        found += await _for_quota(tx, world)
    return found


async def _for_quota(tx: Tx, world: str) -> list[Queued]:
    """Those in the regions' pools. A quota that was lowered after a job came may be smaller than the job."""
    found: list[Queued] = []
    limits: dict[Scope, dict[str, int]] = {}
    for guest, needs in await fleet_jobs.queued_for_quota(tx, world, MOST_SHOWN):
        scope = Scope(world, guest.account, guest.region)
        if scope not in limits:
            limits[scope] = await capacity.quotas(tx, scope)
        try:
            check_needs(needs, limits[scope])
        except LimitExceeded as error:
            message = f"{error}. It is passed over until the quota is raised."
            found.append(Queued(guest, None, _gpus(guest), QUOTA_TOO_SMALL, message))
        else:
            found.append(Queued(guest, None, _gpus(guest), QUOTA_IN_USE, QUOTA_MESSAGE))
    return found


async def _clusters(tx: Tx, world: str, cluster: str | None) -> list[Cluster]:
    await clocks.read(tx, world)  # an unknown world is no empty one
    account, region, name = (None, None, None) if cluster is None else of_cluster(cluster)[1:4]
    return await clusters.living(tx, world, account, region, name)


def _by_model(cluster: Cluster, hosts: Sequence[Host]) -> Iterator[Fleet]:
    for model in sorted({host.model for host in hosts if host.model is not None}):
        these = [host for host in hosts if host.model == model]
        ready = sum(host.gpus for host in these if host.ready)
        taken = sum(host.taken for host in these)
        yield Fleet(cluster, model, len(these), sum(host.gpus for host in these), ready, taken)


def _queued(guest: Guest, cluster: Cluster, hosts: Sequence[Host], hold: Hold) -> Queued:
    """Nobody is told that he is behind others when he will not start in his turn either."""
    if hold.reason is Reason.BEHIND_OTHERS:
        hold = hopeless(hosts, gang_of(guest).needs) or hold
    return Queued(guest, cluster, _gpus(guest), hold.reason, hold.message)


def _gpus(guest: Guest) -> int:
    return sum(need.gpus for need in gang_of(guest).needs)
