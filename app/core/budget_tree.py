"""The world's tree of budgets as its changes made it: what was asked for, checked, and how it stands (FS-1, CT-10)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from app.core.errors import Conflict, Invalid, NotFound
from app.core.scheduling import events
from app.core.scheduling.history import ChangeKind, TreeChange, apply_change
from app.core.scheduling.state import State
from app.core.scheduling.workload import Workload

ROOT = ""
"""The parent of the budgets at the top."""
NAME = re.compile("[a-z0-9]([a-z0-9_-]*[a-z0-9])?", re.ASCII)
LONGEST_NAME = 63
MOST_WEIGHT = 10**9
MOST_AMOUNT = 10**12
MOST_BUDGETS = 1_000
"""In a world (chosen): a change costs as much as there are budgets."""


class Unit(StrEnum):
    GPU_HOURS = "gpu-hours"
    MICRO_USD = "micro-usd"


class Period(StrEnum):
    MONTH = "month"
    """A calendar month, UTC, of the world's time."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so much may be charged to a budget and what is below it, in each period (FS-3)."""

    amount: int
    unit: Unit
    period: Period


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the tree; `number` and `at`, milliseconds, are 0 until it is made."""

    kind: ChangeKind
    name: str
    parent: str = ROOT
    weight: int = 0
    limits: tuple[Limit, ...] = ()
    number: int = 0
    at: int = 0

    @property
    def step(self) -> TreeChange:
        """The change as a fleet's state applies it. What limits leave is worked out apart (`budget_limits`)."""
        return TreeChange(self.number, self.at, self.kind, self.name, self.parent, self.weight)


@dataclass(frozen=True, slots=True)
class Node:
    """A budget as it stands. Its fraction is its weight over its siblings', its claim the product down its path."""

    name: str
    parent: str
    weight: int
    limits: tuple[Limit, ...]
    fraction: Fraction
    claim: Fraction
    is_leaf: bool


@dataclass(slots=True)
class Tree:
    """The tree, and what the living workloads are charged to."""

    state: State = field(default_factory=State)
    limits: dict[str, tuple[Limit, ...]] = field(default_factory=dict)
    number: int = 0
    """Of the last change."""

    def do(self, change: Change) -> None:
        """Make the change. InUse, NotFound, Invalid, Conflict: the tree, or what is charged to it, forbids it."""
        if change.kind is ChangeKind.CREATE:
            check_name(change.name)
            if len(self.state.budgets) > MOST_BUDGETS:
                raise Conflict(f"A world has at most {MOST_BUDGETS} budgets. Delete some first.")
        if change.kind in (ChangeKind.CREATE, ChangeKind.REWEIGHT) and change.weight > MOST_WEIGHT:
            raise Invalid(f"The weight is {change.weight}; it may be at most {MOST_WEIGHT}.")
        if change.kind is ChangeKind.REWEIGHT and change.name == ROOT:
            raise Invalid("The root of the tree has no weight.")
        apply_change(self.state, change.step)
        if change.kind is ChangeKind.LIMIT and change.limits:
            self.limits[change.name] = change.limits
        elif change.kind in (ChangeKind.LIMIT, ChangeKind.DELETE):
            self.limits.pop(change.name, None)
        self.number = change.number or self.number + 1

    def nodes(self) -> list[Node]:
        """Every budget but the root, each below its parent, siblings by name."""
        found: list[Node] = []
        ahead = [self.state.root]
        while ahead:
            budget = ahead.pop()
            ahead += (budget.children[name] for name in sorted(budget.children, reverse=True))
            if budget.parent is not None:
                total = sum(sibling.weight for sibling in budget.parent.children.values())
                fraction = Fraction(budget.weight, total) if total else Fraction(0)
                claim = Fraction(*budget.claims[-1][2:])
                limits, above = self.limits.get(budget.id, ()), budget.parent.id
                found.append(Node(budget.id, above, budget.weight, limits, fraction, claim, budget.is_leaf))
        return found


def grown(changes: Iterable[Change], charged: Iterable[str] = ()) -> Tree:
    """The tree after all these changes; `charged` are the leaves that living workloads are charged to."""
    tree = Tree()
    for change in changes:
        tree.do(change)
    for leaf in charged:
        if leaf in tree.state.budgets:
            workload = Workload(f"charged to {leaf}", leaf=leaf, gpus=1)
            events.submit(tree.state, workload, tree.state.now)
    return tree


def limits_now(changes: Iterable[Change]) -> dict[str, tuple[Limit, ...]]:
    """Which budgets are limited after all these changes, and how."""
    found: dict[str, tuple[Limit, ...]] = {}
    for change in changes:
        if change.kind is ChangeKind.LIMIT and change.limits:
            found[change.name] = change.limits
        elif change.kind in (ChangeKind.LIMIT, ChangeKind.DELETE):
            found.pop(change.name, None)
    return found


def check_name(name: str) -> None:
    """Invalid unless a label of a job can have it as its value."""
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise Invalid(
            f"Budget {name[:80]!r} has no name that a label can carry. Use up to {LONGEST_NAME} of a-z, 0-9, _ and -, "
            "a letter or digit first and last, such as team-a."
        )


def shifted(tree: Tree, name: str, to: str, weight: int) -> list[Change]:
    """So many units of weight go from one sibling to another, so that their parent's other children keep what they
    have. NotFound; Invalid: they are no siblings, or there is not so much."""
    budgets = tree.state.budgets
    for one in (name, to):
        if one == ROOT or one not in budgets:
            raise unknown(tree, one)
    giver, taker = budgets[name], budgets[to]
    if giver is taker or giver.parent is not taker.parent:
        raise Invalid(f"Budgets {name} and {to} are no siblings. Weight is moved between children of one parent.")
    if not 0 < weight <= giver.weight:
        raise Invalid(f"Budget {name} has a weight of {giver.weight}; {weight} cannot be moved. Give 1 to that.")
    return [
        Change(ChangeKind.REWEIGHT, name, weight=giver.weight - weight),
        Change(ChangeKind.REWEIGHT, to, weight=taker.weight + weight),
    ]


def unknown(tree: Tree, name: str) -> NotFound:
    """There is no such budget; which may be meant."""
    return NotFound(f"There is no budget {name[:80]!r}. {hint(name, [one for one in tree.state.budgets if one])}")


def hint(name: str, names: Sequence[str]) -> str:
    """Which of the names may be meant."""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3)
    return f"Did you mean {' or '.join(near)}?" if near else "`windtunnel budget list` shows those there are."
