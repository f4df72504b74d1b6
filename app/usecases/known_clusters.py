"""Clusters as our own API means them: by name, id or ARN, in any account and region, or all of a world."""

from app.core.cluster import Cluster
from app.store import clusters
from app.store.db import Tx
from app.usecases import clocks
from app.usecases.bills import of_cluster


async def living(tx: Tx, world: str, cluster: str | None) -> list[Cluster]:
    """The living clusters that are meant, all without a name. NotFound: an unknown world is no empty one."""
    await clocks.read(tx, world)
    account, region, name = (None, None, None) if cluster is None else of_cluster(cluster)[1:4]
    return await clusters.living(tx, world, account, region, name)
