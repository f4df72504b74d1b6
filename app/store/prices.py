"""Prices that the user has set for a world; everything else comes from the catalogue."""

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert

from app.store import tables
from app.store.db import Statement, Tx

_table = tables.price_override
_read = Statement(
    select(_table.c.region, _table.c.instance_type, _table.c.micro_usd_per_hour)
    .where(_table.c.world == bindparam("world"))
    .order_by(_table.c.region, _table.c.instance_type)
)
_insert = insert(_table).values(
    {name: bindparam(name) for name in ("world", "region", "instance_type", "micro_usd_per_hour")}
)
_put = Statement(
    _insert.on_conflict_do_update(
        constraint=_table.primary_key, set_={"micro_usd_per_hour": _insert.excluded.micro_usd_per_hour}
    )
)


async def overrides(tx: Tx, world: str) -> dict[tuple[str, str], int]:
    """Micro-dollars per hour by (instance type, region); region `*` stands for every region."""
    rows = await _read.rows(tx, world=world)
    return {(instance_type, region): price for region, instance_type, price in rows}


async def put(tx: Tx, world: str, instance_type: str, region: str, micro_usd_per_hour: int) -> None:
    await _put.run(tx, world=world, instance_type=instance_type, region=region, micro_usd_per_hour=micro_usd_per_hour)
