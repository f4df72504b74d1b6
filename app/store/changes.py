"""Whether anything of a world has changed: one cheap mark of all that pages show."""

from app.store.db import Tx

_SHOWN = (
    *("cluster", "custom_job", "tuning_job", "workload", "fleet", "fleet_host", "budget_change"),
    *("fault_rule", "capacity_pool", "capacity_change", "price_override", "quota"),
)
_COUNTED = ("budget_change",)
"""Only grows: its rows are never written again."""


def _mark(table: str) -> str:
    newest = "count(*)" if table in _COUNTED else "count(*) || '/' || coalesce(max(xmin::text::bigint), 0)"
    return f"(SELECT {newest} FROM {table} WHERE world = $1)"


# The transaction that wrote a row last is another after each write, whoever writes.
MARK = f"""SELECT (SELECT xmin::text FROM world WHERE name = $1),
    (SELECT NOT frozen AND lease_until_wall IS NULL FROM world WHERE name = $1),
    concat_ws(' ', {", ".join(map(_mark, _SHOWN))})"""


async def mark(tx: Tx, world: str) -> tuple[str, bool] | None:
    """A text that is another when something has changed, and whether the clock runs; None without the world."""
    own, runs, rest = await tx.fetchrow(MARK, world) or (None, None, None)
    return None if own is None else (f"{own} {rest}", bool(runs))
