"""How a tree of budgets becomes the one that a file wants: the fewest changes, each possible when its turn comes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.budget_tree import ROOT, Change, Limit, Node
from app.core.errors import Invalid
from app.core.scheduling.history import ChangeKind


@dataclass(frozen=True, slots=True)
class Wanted:
    """A budget as a file has it."""

    name: str
    parent: str
    weight: int
    limits: tuple[Limit, ...] = ()


def changes_to(now: Iterable[Node], wanted: Sequence[Wanted]) -> list[Change]:
    """What makes the tree the wanted one: from the top down what comes or moves, then limits, then what goes, from
    the bottom up. Nothing, if it is that already. Invalid: the wanted budgets are no tree."""
    are = {node.name: node for node in now}
    ordered = _from_the_top(wanted)
    made: list[Change] = []
    for one in ordered:
        made += _shaped(are.get(one.name), one)
    for one in ordered:
        node = are.get(one.name)
        if one.limits != (node.limits if node else ()):
            made.append(Change(ChangeKind.LIMIT, one.name, limits=one.limits))
    kept = {one.name for one in wanted}
    gone = [name for name in are if name not in kept]
    return made + [Change(ChangeKind.DELETE, name) for name in reversed(gone)]


def _shaped(node: Node | None, one: Wanted) -> list[Change]:
    if node is None:
        return [Change(ChangeKind.CREATE, one.name, one.parent, one.weight)]
    made: list[Change] = []
    if node.parent != one.parent:
        made.append(Change(ChangeKind.MOVE, one.name, one.parent))
    if node.weight != one.weight:
        made.append(Change(ChangeKind.REWEIGHT, one.name, weight=one.weight))
    return made


def _from_the_top(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Each behind its parent, otherwise in the order of the file."""
    below: dict[str, list[Wanted]] = {ROOT: []}
    for one in wanted:
        if one.name in below:
            raise Invalid(f"Budget {one.name} is there twice. Names are unique in the tree.")
        below[one.name] = []
    for one in wanted:
        if one.parent not in below:
            raise Invalid(f"Budget {one.name} is below {one.parent}, which is not there. Add that, or leave it out.")
        below[one.parent].append(one)
    ordered: list[Wanted] = []
    ahead = list(reversed(below[ROOT]))
    while ahead:
        one = ahead.pop()
        ordered.append(one)
        ahead += reversed(below[one.name])
    if len(ordered) < len(wanted):
        reached = {one.name for one in ordered}
        lost = next(one.name for one in wanted if one.name not in reached)
        raise Invalid(f"Budget {lost} is below itself. Its parents must lead to the top.")
    return ordered
