"""The changes of a world's tree of budgets, which are the truth about it; and whom they concern (FS-1)."""

from collections.abc import Iterable
from typing import Any

from app.core.budget_tree import ROOT, Change, Limit, Period, Unit
from app.core.scheduling.history import ChangeKind
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import insert_rows

_COLUMNS = ("number", "at", "kind", "name", "parent", "weight", "limits")


async def changes(tx: Tx, world: str, after: int = 0) -> list[Change]:
    """Those with higher numbers than `after`, in their order."""
    rows = await tx.fetch(
        f"SELECT {', '.join(_COLUMNS)} FROM budget_change WHERE world = $1 AND number > $2 ORDER BY number",
        world,
        after,
    )
    return [_change(*row) for row in rows]


def _change(number: int, at: int, kind: str, name: str, parent: str | None, weight: int | None, limits: Any) -> Change:
    given = tuple(Limit(one["amount"], Unit(one["unit"]), Period(one["period"])) for one in limits or ())
    return Change(ChangeKind(kind), name, parent or ROOT, weight or 0, given, number, at)


async def append(tx: Tx, world: str, made: Iterable[Change]) -> None:
    """Write them down; what a kind has not is null."""
    await insert_rows(tx, "budget_change", ("world", *_COLUMNS), [(world, *_record(change)) for change in made])


def _record(change: Change) -> tuple[Any, ...]:
    kind = change.kind
    parent = change.parent if kind in (ChangeKind.CREATE, ChangeKind.MOVE) else None
    weight = change.weight if kind in (ChangeKind.CREATE, ChangeKind.REWEIGHT) else None
    limits = None
    if kind is ChangeKind.LIMIT:
        limits = [{"amount": one.amount, "unit": one.unit, "period": one.period} for one in change.limits]
    return change.number, change.at, kind, change.name, parent, weight, limits


async def charged(tx: Tx, world: str) -> list[str]:
    """The leaves that living workloads are charged to, on any fleet."""
    rows = await tx.fetch(
        "SELECT DISTINCT leaf FROM workload WHERE world = $1 AND ended_at IS NULL AND leaf IS NOT NULL ORDER BY leaf",
        world,
    )
    return [row[0] for row in rows]


async def hurry_fleets(tx: Tx, world: str, at: WorldTime) -> None:
    """Every fleet that has had workloads is due by then; the world is held alone, so nobody holds a fleet."""
    await tx.execute("UPDATE fleet SET due_at = least(due_at, $2) WHERE world = $1 AND workloads > 0", world, at)


async def ever_limited(tx: Tx, world: str) -> bool:
    """Whether the world has, or has had, any limit."""
    found: bool = await tx.fetchval(
        "SELECT EXISTS (SELECT 1 FROM budget_change WHERE world = $1 AND kind = 'limit')", world
    )
    return found


async def parents(tx: Tx, world: str) -> dict[str, str]:
    """Every budget that there is now, and what it is below."""
    rows = await tx.fetch(
        """SELECT name, parent FROM (SELECT DISTINCT ON (name) name, kind, parent FROM budget_change
            WHERE world = $1 AND kind IN ('create', 'move', 'delete') ORDER BY name, number DESC) AS newest
        WHERE kind <> 'delete' ORDER BY name""",
        world,
    )
    return {name: parent or ROOT for name, parent in rows}
