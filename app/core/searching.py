"""The searches that need no model: a grid, and seeded chance; and where the other one begins."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from app.core.chance import below
from app.core.search_space import Parameter, Value, Values, choose, grid

_FINE = 2**53


def grid_points(space: Sequence[Parameter], first: int, count: int) -> list[dict[str, Value]]:
    """The grid's points from the number `first`, counted from 1; fewer at its end."""
    return list(islice(grid(space), first - 1, first - 1 + count))


def random_point(space: Sequence[Parameter], seed: int, subject: str) -> dict[str, Value]:
    """A point that chance chooses, evenly on each parameter's scale."""
    return choose(space, lambda one: below(seed, f"{subject}/{one.path}", "search", _FINE) / _FINE)


def centre(space: Sequence[Parameter]) -> dict[str, Value]:
    """The middle of every parameter, on its scale."""
    return choose(space, lambda _: 0.5)


def untried(space: Sequence[Parameter], tried: Collection[Values]) -> dict[str, Value] | None:
    """The first point of a finite grid that was not tried; None when all were."""
    return next(_others(grid(space), tried), None)


def _others(points: Iterator[dict[str, Value]], tried: Collection[Values]) -> Iterator[dict[str, Value]]:
    return (point for point in points if point not in tried)
