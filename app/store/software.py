"""Releases of the AMI that a world has besides the catalogue's, and its CloudWatch alarms."""

from collections.abc import Collection
from typing import NamedTuple

from app.core.releases import Release
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

RELEASES = "SELECT version, security, retired FROM image_release WHERE world = $1"
RELEASES_HELD = "ARRAY(SELECT ROW(version, security, retired) FROM image_release WHERE world = $1)"
"""The same as a column of a statement that reads something else."""
_TENANT = "world = $1 AND account = $2 AND region = $3"


class Alarm(NamedTuple):
    """A CloudWatch alarm and its state (`ALARM`, `OK`) since a moment."""

    name: str
    state: str
    since: WorldTime


async def releases(tx: Tx, world: str) -> list[Release]:
    return [Release(*row) for row in await tx.fetch(RELEASES, world)]


async def publish(tx: Tx, world: str, release: Release) -> None:
    """The world has the release, as it is said now."""
    await insert_rows(
        tx,
        "image_release",
        ("world", "version", "security", "retired"),
        [(world, release.version, release.security, release.retired)],
        on_conflict="""ON CONFLICT (world, version)
            DO UPDATE SET security = excluded.security, retired = excluded.retired""",
    )


async def followers(tx: Tx, world: str) -> list[tuple[Scope, str]]:
    """The clusters, by scope and name, with groups that the clock updates to new releases."""
    rows = await tx.fetch(
        """SELECT DISTINCT c.account, c.region, c.name FROM instance_group g
        JOIN cluster c USING (world, account, region, cluster_id)
        WHERE g.world = $1 AND c.deleted_at IS NULL
            AND (g.schedule_since IS NOT NULL OR g.spec->'request' ? 'AutoPatchConfig') ORDER BY 1, 2, 3""",
        world,
    )
    return [(Scope(world, account, region), name) for account, region, name in rows]


async def alarms(tx: Tx, scope: Scope) -> list[Alarm]:
    rows = await tx.fetch(
        f"SELECT name, state, since FROM alarm WHERE {_TENANT} ORDER BY name",
        scope.world,
        scope.account,
        scope.region,
    )
    return [Alarm(*row) for row in rows]


async def alarmed(tx: Tx, scope: Scope, names: Collection[str], at: WorldTime) -> set[str]:
    """Those of the alarms that were in ALARM at `at` already."""
    rows = await tx.fetch(
        f"SELECT name FROM alarm WHERE {_TENANT} AND name = ANY($4) AND state = 'ALARM' AND since <= $5",
        scope.world,
        scope.account,
        scope.region,
        list(names),
        at,
    )
    return {row["name"] for row in rows}


async def set_alarm(tx: Tx, scope: Scope, alarm: Alarm) -> None:
    """The alarm is in this state now; one that was in it before stays so since then."""
    await insert_rows(
        tx,
        "alarm",
        ("world", "account", "region", "name", "state", "since"),
        [(scope.world, scope.account, scope.region, *alarm)],
        on_conflict="""ON CONFLICT (world, account, region, name) DO UPDATE SET state = excluded.state,
            since = CASE WHEN alarm.state = excluded.state THEN alarm.since ELSE excluded.since END""",
    )


async def watchers(tx: Tx, scope: Scope, name: str) -> list[str]:
    """The names of the clusters with an update under way that the alarm would roll back."""
    rows = await tx.fetch(
        """SELECT DISTINCT c.name FROM instance_group g JOIN cluster c USING (world, account, region, cluster_id)
        WHERE world = $1 AND account = $2 AND region = $3 AND c.deleted_at IS NULL
            AND g.update_status IN ('Pending', 'InProgress')
            AND g.update_config->'AutoRollbackConfiguration' @> $4 ORDER BY c.name""",
        scope.world,
        scope.account,
        scope.region,
        [{"AlarmName": name}],
    )
    return [row["name"] for row in rows]
