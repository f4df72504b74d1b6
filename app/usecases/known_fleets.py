"""Fleets as our own API means them: a cluster by name, id or ARN, or a managed pool by its name (CT-10, FS-20)."""

from app.core.errors import Invalid, NotFound
from app.core.job import is_managed
from app.core.job_labels import Home
from app.core.own_workload import meant
from app.core.scope import Scope
from app.store import fleets
from app.store.db import Tx
from app.store.listed_workloads import FleetOf as FleetOf
from app.usecases import clocks, known_clusters
from app.usecases.bills import Owner, of_cluster

_SHOWN = 5


def pool_name(scope: Scope, pool: str) -> str:
    """A managed pool's name with its project and region, in the form of Google's resource names."""
    return f"projects/{scope.account}/locations/{scope.region}/{pool}"


async def pools(tx: Tx, world: str, name: str | None) -> list[FleetOf]:
    """The managed pools that have had work: those of a name, with or without project and region, or all."""
    await clocks.read(tx, world)
    owner = None if name is None else of_cluster(name)
    return [
        FleetOf(scope, pool, None)
        for scope, pool in await fleets.managed(tx, world)
        if owner is None or is_of(scope, pool, owner)
    ]


def is_of(scope: Scope, pool: str, owner: Owner) -> bool:
    """Whether the managed pool is meant."""
    return owner.name == pool and owner.account in (None, scope.account) and owner.region in (None, scope.region)


async def living(tx: Tx, world: str, name: str) -> list[FleetOf]:
    """The living clusters and the managed pools that are meant."""
    clusters = await known_clusters.living(tx, world, name)
    found = [FleetOf(Scope(world, one.account, one.region), one.cluster_id, one.name) for one in clusters]
    return found or await pools(tx, world, name)


async def one(tx: Tx, world: str, name: str, home: Home) -> FleetOf:
    """The cluster or the managed pool that is meant. NotFound, Invalid, Conflict: none is, several are, or it goes."""
    clusters = await known_clusters.living(tx, world, name)
    found = await pools(tx, world, name) if not clusters else []
    if is_managed(name.rpartition("/")[2]) and not found:
        raise NotFound(
            f"No work has come to a managed pool {name[:120]!r}. `windtunnel fleet list` shows those that "
            "have had some."
        )
    if len(found) > 1:
        told = ", ".join(pool_name(each.scope, each.fleet) for each in found[:_SHOWN])
        raise Invalid(f"{name[:120]!r} fits several managed pools: {told}. Name one of them whole.")
    if found:
        return found[0]
    cluster = meant(name, clusters, home.account, home.region)
    return FleetOf(Scope(world, cluster.account, cluster.region), cluster.cluster_id, cluster.name)
