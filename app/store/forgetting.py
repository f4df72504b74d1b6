"""What is left of deleted clusters, taken away too, for worlds that keep nothing of them."""

from app.store import copies
from app.store.db import Tx

_KEY = ("account", "region", "cluster_id")
_DEAD = f"SELECT {', '.join(_KEY)} FROM cluster WHERE world = $1 AND deleted_at IS NOT NULL FOR UPDATE SKIP LOCKED"
_AMONG = f"({', '.join(_KEY)}) IN (SELECT * FROM unnest($2::text[], $3::text[], $4::text[]))"
TAGS = """DELETE FROM tag USING unnest($2::text[], $3::text[], $4::text[]) AS d(account, region, cluster_id)
    WHERE tag.world = $1 AND (tag.account, tag.region) = (d.account, d.region)
    AND split_part(tag.arn, ':', 6) = 'cluster/' || d.cluster_id"""


async def forget_deleted(tx: Tx, world: str) -> None:
    """Remove every row that names a deleted cluster of the world, whichever table it is in; its name is new again."""
    dead = await tx.fetch(_DEAD, world)
    if not dead:
        return
    keys = [list(column) for column in zip(*dead, strict=True)]
    await tx.execute(TAGS, world, *keys)
    named = [table.name for table in await copies.owned(tx) if set(_KEY) <= set(table.columns)]
    for table in named:
        await tx.execute(f"DELETE FROM {table} WHERE world = $1 AND {_AMONG}", world, *keys)
