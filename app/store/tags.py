"""Tags of resources, in the order in which they were given."""

from collections.abc import Mapping, Sequence

from app.core.scope import Scope
from app.store.db import Tx
from app.store.rows import insert_rows

_ARN = "world = $1 AND account = $2 AND region = $3 AND arn = $4"


def _key(scope: Scope, arn: str) -> tuple[str, str, str, str]:
    return scope.world, scope.account, scope.region, arn


async def read(tx: Tx, scope: Scope, arn: str) -> dict[str, str]:
    rows = await tx.fetch(f"SELECT key, value FROM tag WHERE {_ARN} ORDER BY position", *_key(scope, arn))
    return {row["key"]: row["value"] for row in rows}


async def put(tx: Tx, scope: Scope, arn: str, tags: Mapping[str, str]) -> None:
    """Add the tags; a key that is there gets the new value and keeps its place."""
    first = await tx.fetchval(f"SELECT coalesce(max(position), 0) + 1 FROM tag WHERE {_ARN}", *_key(scope, arn))
    await insert_rows(
        tx,
        "tag",
        ("world", "account", "region", "arn", "key", "value", "position"),
        [(*_key(scope, arn), key, value, first + place) for place, (key, value) in enumerate(tags.items())],
        on_conflict="ON CONFLICT (world, account, region, arn, key) DO UPDATE SET value = excluded.value",
    )


async def remove(tx: Tx, scope: Scope, arn: str, keys: Sequence[str] | None = None) -> None:
    """Remove the keys, or all of the resource's tags."""
    await tx.execute(
        f"DELETE FROM tag WHERE {_ARN} AND ($5::text[] IS NULL OR key = ANY($5))",
        *_key(scope, arn),
        None if keys is None else list(keys),
    )


async def of_account(tx: Tx, world: str, account: str) -> dict[str, dict[str, str]]:
    """The tags of all that the account owns, in every region, by ARN."""
    rows = await tx.fetch(
        "SELECT arn, key, value FROM tag WHERE world = $1 AND account = $2 ORDER BY arn, position", world, account
    )
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row["arn"], {})[row["key"]] = row["value"]
    return found
