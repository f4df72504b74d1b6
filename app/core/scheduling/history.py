"""What has happened to the tree, the capacity and the use of it, done once more in the order of time (FS-1, FS-14)."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.core.scheduling import tree
from app.core.scheduling.state import State
from app.core.scheduling.usage import Series


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
    """Do all that, and what `team_log` says, once more in a state that is empty but for that log and `late`.

    At one instant GPUs are given back, then the tree changes, then GPUs are taken.

    Limits are left out: what they count from is no part of the window, so whoever keeps the state keeps it.
    """
    past = _Past(state, capacity, uses)
    teams = deque(state.team_log)
    for change in changes:
        _do_teams(state, past, teams, change.number)
        if change.kind != ChangeKind.LIMIT:
            at = state.late.get(change.number, change.at)
            past.catch_up((at, TREE, 0))
            _do(state, change, at)
    _do_teams(state, past, teams, None)
    past.catch_up(None)


def _do_teams(state: State, past: "_Past", teams: deque[tuple[int, int, str, int | None]], before: int | None) -> None:
    """Teams that came and went before the change of that number; None: all of them (FS-17)."""
    while teams and (before is None or teams[0][1] < before):
        at, _, name, gpus = teams.popleft()
        past.catch_up((at, TREE, 0))
        state.advance(at)
        if gpus is None:
            tree.remove_leaf(state, name)
        else:
            tree.put_leaf(state, name, gpus)


GIVEN_BACK, TREE, TAKEN = range(3)
Step = tuple[int, int, int]
"""When, which of the three, and how many GPUs more."""


class _Past:
    """What is still to be done once more, by leaf; between two changes of the tree each budget gets it in one go."""

    def __init__(self, state: State, capacity: Iterable[tuple[int, int]], uses: Iterable[Use]) -> None:
        self._state = state
        self._capacity = sorted(capacity, key=lambda change: change[0])
        self._of_leaves: dict[str, list[Step]] = {}
        for leaf, gpus, start, end in uses:
            steps = self._of_leaves.setdefault(leaf, [])
            steps.append((start, TAKEN, gpus))
            if end is not None:
                steps.append((end, GIVEN_BACK, -gpus))
        for steps in self._of_leaves.values():
            steps.sort()
        self._done: dict[str, int] = dict.fromkeys(self._of_leaves, 0)
        self._capacity_done = 0

    def catch_up(self, until: Step | None) -> None:
        """Do what comes before that; None: all of it."""
        capacity = self._state.capacity
        while self._capacity_done < len(self._capacity):
            at, gpus = self._capacity[self._capacity_done]
            if until is not None and at > until[0]:
                break
            capacity.add(at, gpus - capacity.slope)
            self._capacity_done += 1
        for usage, steps in self._next(until):
            usage.extend(steps)

    def _next(self, until: Step | None) -> Iterator[tuple[Series, list[Step]]]:
        by_budget: dict[str, list[Step]] = {}
        for leaf, steps in self._of_leaves.items():
            begin = self._done[leaf]
            end = self._done[leaf] = len(steps) if until is None else bisect_left(steps, until, begin)
            if begin < end:
                for budget in self._state.paths[leaf]:
                    by_budget.setdefault(budget.id, []).extend(steps[begin:end])
        for name, found in by_budget.items():
            found.sort()
            yield self._state.budgets[name].usage, found
