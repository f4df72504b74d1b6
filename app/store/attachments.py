"""Volumes and network interfaces on nodes."""

from datetime import timedelta

from app.core.attachments import Interface, Volume
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, dollars

VOLUME = Shape(Volume)
INTERFACE = Shape(Interface)
_TENANT = ("world", "account", "region")
_HELD = """EXISTS (SELECT 1 FROM instance i WHERE i.world = t.world AND i.account = t.account AND i.region = t.region
    AND i.cluster_id = t.cluster_id AND i.instance_id = t.instance_id AND i.zone IS NOT NULL) AS held"""
_VOLUME = ", ".join([*(f"t.{column}" for column in VOLUME.columns[:-1]), _HELD])
_INTERFACE = ", ".join([*(f"t.{column}" for column in INTERFACE.columns[:-1]), _HELD])
_OF = "t.world = $1 AND t.account = $2 AND t.region = $3"


def _put(table: str, shape: Shape) -> str:
    """The row, over one that is there already."""
    columns = shape.columns[:-1]
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
    return f"""INSERT INTO {table} ({", ".join((*_TENANT, *columns))}) VALUES ({dollars(1, 3 + len(columns))})
        ON CONFLICT (world, account, region, {columns[0]}) DO UPDATE SET {changes}"""


PUT_VOLUME = _put("node_volume", VOLUME)
PUT_INTERFACE = _put("node_interface", INTERFACE)
LOCK_NAME = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"


async def lock_name(tx: Tx, scope: Scope, name: str) -> None:
    """Of two clusters that want the same volume or interface, one waits for the other's transaction."""
    await tx.execute(LOCK_NAME, f"{scope.world}/{scope.account}/{scope.region}/{name}")


async def volume(tx: Tx, scope: Scope, volume_id: str) -> Volume | None:
    row = await tx.fetchrow(
        f"SELECT {_VOLUME} FROM node_volume t WHERE {_OF} AND t.volume_id = $4",
        scope.world,
        scope.account,
        scope.region,
        volume_id,
    )
    return Volume(*row) if row else None


async def volumes_of(tx: Tx, scope: Scope, cluster_id: str, instance_id: str) -> list[Volume]:
    """All that were ever attached to this instance, and to no other since."""
    rows = await tx.fetch(
        f"SELECT {_VOLUME} FROM node_volume t WHERE {_OF} AND t.cluster_id = $4 AND t.instance_id = $5 ORDER BY 1",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        instance_id,
    )
    return [Volume(*row) for row in rows]


async def loaded(tx: Tx, scope: Scope, cluster_id: str, now: WorldTime, detaching: timedelta) -> set[str]:
    """The instances of the cluster that have a volume: one that is not detached yet."""
    rows = await tx.fetch(
        f"""SELECT DISTINCT t.instance_id FROM node_volume t WHERE {_OF} AND t.cluster_id = $4
        AND (t.detach_requested_at IS NULL OR t.busy_at IS NOT NULL OR t.detach_requested_at > $5)""",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        now - detaching,
    )
    return {row["instance_id"] for row in rows}


async def put_volume(tx: Tx, scope: Scope, one: Volume) -> None:
    await tx.execute(PUT_VOLUME, scope.world, scope.account, scope.region, *VOLUME.values(one)[:-1])


async def interface(tx: Tx, scope: Scope, interface_id: str) -> Interface | None:
    row = await tx.fetchrow(
        f"SELECT {_INTERFACE} FROM node_interface t WHERE {_OF} AND t.interface_id = $4",
        scope.world,
        scope.account,
        scope.region,
        interface_id,
    )
    return Interface(*row) if row else None


async def interfaces_of(tx: Tx, scope: Scope, cluster_id: str, instance_id: str) -> int:
    """How many are attached to the instance."""
    count: int = await tx.fetchval(
        f"SELECT count(*) FROM node_interface t WHERE {_OF} AND t.cluster_id = $4 AND t.instance_id = $5",
        scope.world,
        scope.account,
        scope.region,
        cluster_id,
        instance_id,
    )
    return count


async def put_interface(tx: Tx, scope: Scope, one: Interface) -> None:
    await tx.execute(PUT_INTERFACE, scope.world, scope.account, scope.region, *INTERFACE.values(one)[:-1])


async def all_volumes(tx: Tx, world: str) -> list[tuple[str, str, str, Volume]]:
    """Account, region, the cluster's name, and the volume."""
    rows = await tx.fetch(
        f"""SELECT t.account, t.region, c.name AS owner, {_VOLUME} FROM node_volume t
        JOIN cluster c USING (world, account, region, cluster_id)
        WHERE t.world = $1 ORDER BY t.account, t.region, t.volume_id""",
        world,
    )
    return [(account, region, name, Volume(*facts)) for account, region, name, *facts in rows]


async def all_interfaces(tx: Tx, world: str) -> list[tuple[str, str, str, Interface]]:
    """Account, region, the cluster's name, and the interface."""
    rows = await tx.fetch(
        f"""SELECT t.account, t.region, c.name AS owner, {_INTERFACE} FROM node_interface t
        JOIN cluster c USING (world, account, region, cluster_id)
        WHERE t.world = $1 ORDER BY t.account, t.region, t.interface_id""",
        world,
    )
    return [(account, region, name, Interface(*facts)) for account, region, name, *facts in rows]
