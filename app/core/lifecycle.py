"""State machines as tables, and the one interpreter of every table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from app.core.times import WorldTime, after
from app.core.values import evolve


@dataclass(frozen=True, slots=True)
class Stage:
    """One row of a state machine: `source` becomes `target` a `delay` after the latest of its marks.

    `marks` name timestamps of the thing, all of which must be set; `delay` is a key of the world's timings;
    `clears` names timestamps that are spent when the stage fires. The earliest due stage wins, and at equal
    moments the one that stands higher in the table.
    """

    name: str
    source: StrEnum
    target: StrEnum
    marks: tuple[str, ...] = ("since",)
    delay: str = "none"
    clears: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fired:
    """A stage that fired at the moment when it was due."""

    stage: str
    source: StrEnum
    target: StrEnum
    at: WorldTime


class Staged(Protocol):
    """A thing that a table moves: it has a status and says since when."""

    @property
    def status(self) -> Any: ...
    @property
    def since(self) -> WorldTime: ...


T = TypeVar("T", bound=Staged)
Table = Mapping[Any, Sequence[tuple[int, Stage]]]
Delays = Mapping[str, timedelta]


def table(stages: Sequence[Stage]) -> Table:
    """The stages by source, each with its place in the order."""
    by_source: dict[Any, list[tuple[int, Stage]]] = {}
    for order, stage in enumerate(stages):
        by_source.setdefault(stage.source, []).append((order, stage))
    return by_source


def due(thing: Staged, stages: Table, delays: Delays) -> tuple[WorldTime, Stage] | None:
    """The moment and the stage that fire next, or None when the thing rests."""
    best: tuple[WorldTime, int, Stage] | None = None
    for order, stage in stages.get(thing.status, ()):
        marks = [getattr(thing, mark) for mark in stage.marks]
        if None in marks:
            continue
        at = after(max(marks), delays[stage.delay])
        if best is None or (at, order) < best[:2]:
            best = (at, order, stage)
    return (best[0], best[2]) if best else None


def fire(thing: T, at: WorldTime, stage: Stage) -> tuple[T, Fired]:
    """The thing after `stage`, stamped with the moment when the stage was due."""
    changes: dict[str, Any] = dict.fromkeys(stage.clears)
    if stage.target is not stage.source:
        changes |= {"status": stage.target, "since": at}
    moved: T = evolve(thing, **changes)
    return moved, Fired(stage.name, stage.source, stage.target, at)


def advance(thing: T, now: WorldTime, stages: Table, delays: Delays) -> tuple[T, list[Fired], WorldTime | None]:
    """Fire every stage that is due by `now`; give the thing, what fired, and its next due moment.

    Advancing to p and then to q equals going straight to q, since each stage is stamped with its due moment.
    """
    trail: list[Fired] = []
    while hit := due(thing, stages, delays):
        if hit[0] > now:
            return thing, trail, hit[0]
        thing, fired = fire(thing, *hit)
        trail.append(fired)
    return thing, trail, None
