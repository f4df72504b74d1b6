"""The tree of budgets: created, changed and shown; every change is tried before it is written (FS-1, CT-10)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.core.budget_plan import Wanted, changes_to
from app.core.budget_tree import Change, Limit, Node, Tree, grown, shifted
from app.core.errors import Invalid
from app.core.scheduling.history import ChangeKind
from app.core.times import to_millis, whole_second
from app.store import budgets
from app.store.db import Tx
from app.usecases import clocks


async def nodes(tx: Tx, world: str) -> list[Node]:
    """Every budget of the world, each below its parent."""
    await clocks.read(tx, world)
    return grown(await budgets.changes(tx, world)).nodes()


async def create(tx: Tx, world: str, name: str, parent: str, weight: int, limits: Sequence[Limit] = ()) -> list[Change]:
    """Split a budget off its parent's claim."""
    made = [Change(ChangeKind.CREATE, name, parent, weight)]
    if limits:
        made.append(Change(ChangeKind.LIMIT, name, limits=tuple(limits)))
    return await _make(tx, world, lambda tree: made)


async def change(tx: Tx, world: str, name: str, parent: str | None = None, weight: int | None = None) -> list[Change]:
    """Give the budget another parent, another weight, or both; what it used stays where it was used (FS-1)."""
    if parent is None and weight is None:
        raise Invalid("Nothing is to be changed. Give 'weight', 'parent' or both.")
    made = [Change(ChangeKind.MOVE, name, parent)] if parent is not None else []
    if weight is not None:
        made.append(Change(ChangeKind.REWEIGHT, name, weight=weight))
    return await _make(tx, world, lambda tree: made)


async def shift(tx: Tx, world: str, name: str, to: str, weight: int) -> list[Change]:
    """Move so many units of weight to a sibling."""
    return await _make(tx, world, lambda tree: shifted(tree, name, to, weight))


async def set_limits(tx: Tx, world: str, name: str, limits: Sequence[Limit]) -> list[Change]:
    """The budget has these limits and no others."""
    if len({(one.unit, one.period) for one in limits}) < len(limits):
        raise Invalid("Two limits are of one unit and period. Give each once.")
    return await _make(tx, world, lambda tree: [Change(ChangeKind.LIMIT, name, limits=tuple(limits))])


async def delete(tx: Tx, world: str, name: str) -> list[Change]:
    """Take the budget away; its use stays with its parent (FS-1)."""
    return await _make(tx, world, lambda tree: [Change(ChangeKind.DELETE, name)])


async def apply(tx: Tx, world: str, wanted: Sequence[Wanted], *, write: bool = True) -> list[Change]:
    """Make the tree the wanted one: all of it or nothing. Without `write` it is only tried."""
    return await _make(tx, world, lambda tree: changes_to(tree.nodes(), wanted), write=write)


async def _make(tx: Tx, world: str, choose: Callable[[Tree], list[Change]], *, write: bool = True) -> list[Change]:
    """Try the changes on the tree as it is, then write them, and have every fleet look at its share again.

    The world is held alone: no workload is submitted, no pass made and no other change numbered meanwhile.
    """
    found = await clocks.locked(tx, world)
    tree = grown(await budgets.changes(tx, world), await budgets.charged(tx, world))
    at, made = to_millis(found.now), []
    for one in choose(tree):
        made.append(replace(one, number=tree.number + 1, at=at))
        tree.do(made[-1])
    if made and write:
        await budgets.append(tx, world, made)
        await budgets.hurry_fleets(tx, world, whole_second(found.now))
    return made
