"""What has happened to the tree, the capacity and the use of it, done once more in the order of time (FS-1, FS-14)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from app.core.scheduling import tree
from app.core.scheduling.state import State


class ChangeKind(StrEnum):
    CREATE = "create"
    REWEIGHT = "reweight"
    MOVE = "move"
    DELETE = "delete"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One change of the world's tree of budgets; they are numbered, and applied in the order of their numbers."""

    number: int
    at: int
    """Milliseconds."""
    kind: ChangeKind
    name: str
    parent: str = ""
    """Of a create and a move."""
    weight: int = 0
    """Of a create and a reweight."""
    limits: tuple[tuple[int, int], ...] = ()
    """Of a limit: GPU-milliseconds that may be charged in all, and how many have been so far, on all fleets."""


Use = tuple[str, int, int, int | None]
"""Funded GPUs of a leaf from when until when, in milliseconds; None: they are held still."""


def apply_change(state: State, change: TreeChange) -> None:
    """Change the tree, at the change's instant or, if that is past, now. Errors: as the functions of `tree`."""
    at = max(change.at, state.now)
    _do(state, change, at)
    state.applied = change.number
    if at != change.at:
        state.late[change.number] = at


def _do(state: State, change: TreeChange, at: int) -> None:
    match change.kind:
        case ChangeKind.CREATE:
            tree.create_budget(state, change.name, change.parent, change.weight, at)
        case ChangeKind.REWEIGHT:
            tree.reweight(state, change.name, change.weight, at)
        case ChangeKind.MOVE:
            tree.move_budget(state, change.name, change.parent, at)
        case ChangeKind.DELETE:
            tree.delete_budget(state, change.name, at)
        case ChangeKind.LIMIT:
            tree.set_limits(state, change.name, list(change.limits), at)


def replay(
    state: State, changes: Iterable[TreeChange], capacity: Iterable[tuple[int, int]], uses: Iterable[Use]
) -> None:
    """Do all that once more in a state that is empty. At one instant GPUs are given back, then the tree changes.

    Limits are left out: what they count from is no part of the window, so whoever keeps the state keeps it.
    """
    steps: list[tuple[int, int, int, str, TreeChange | None]] = []
    for leaf, gpus, start, end in uses:
        steps.append((start, 3, gpus, leaf, None))
        if end is not None:
            steps.append((end, 0, -gpus, leaf, None))
    steps += [(at, 1, gpus, "", None) for at, gpus in capacity]
    for change in changes:
        if change.kind != ChangeKind.LIMIT:
            steps.append((state.late.get(change.number, change.at), 2, change.number, "", change))
    steps.sort(key=lambda step: step[:3])
    for at, order, number, name, planned in steps:
        if planned is not None:
            _do(state, planned, at)
        elif order == 1:
            state.capacity.add(at, number - state.capacity.slope)
        else:
            for budget in state.paths[name]:
                budget.usage.add(at, number)
