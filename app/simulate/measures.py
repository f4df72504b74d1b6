"""What a run is judged by, as docs/simulator.md defines it. Parts are of one; times are milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.simulate.hours import Hours, hours_of
from app.simulate.records import Cause, Run
from app.simulate.waits import Waits, waits_of

DAY = 24
"""Hours."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivered over owed GPU-time: of all, and of each leaf that was owed anything."""

    total: float | None
    leaves: dict[str, float]

    @property
    def at_least_95(self) -> int:
        """How many leaves got 95 % or more."""
        return sum(part >= 0.95 for part in self.leaves.values())

    @property
    def worst(self) -> float | None:
        return min(self.leaves.values(), default=None)

    @property
    def jain(self) -> float | None:
        """Jain's index of the leaves' parts: 1 when all are alike, 1/n when one got everything."""
        parts = list(self.leaves.values())
        squares = sum(part * part for part in parts)
        return sum(parts) ** 2 / (len(parts) * squares) if squares else None


@dataclass(frozen=True, slots=True)
class Stops:
    """Gangs that were stopped for one cause, and the GPU-milliseconds of work that they lost."""

    count: int
    lost: int


@dataclass(frozen=True, slots=True)
class Measures:
    """Of one run, while it was measured."""

    day: Delivery
    """Over rolling days: the main figure."""
    hour: Delivery
    whole: Delivery
    """Over all that was measured at once."""
    occupancy: float | None
    """Held over capacity."""
    unfunded: float | None
    """The part of what was held that nobody was charged for."""
    stops: dict[Cause, Stops]
    """Of funded work."""
    unfunded_stops: dict[Cause, Stops]
    repairs: int
    persons: int
    """Repairs that needed a person."""
    submitted: int
    done: int
    passes: int
    """Of the whole run."""


@dataclass(slots=True)
class Picture:
    """The measures of a run, and what they were taken from."""

    measures: Measures
    hours: Hours
    waits: dict[str, Waits]


def picture_of(run: Run) -> Picture:
    """Measure the run."""
    hours = hours_of(run)
    return Picture(_measures(run, hours), hours, waits_of(run))


def deliver(used: dict[str, list[int]], owed: dict[str, list[int]], width: int) -> Delivery:
    """Delivered = min(used, owed) over each `width` hours in a row, summed; such a window begins every hour."""
    got: dict[str, int] = {}
    due: dict[str, int] = {}
    for leaf, of_leaf in owed.items():
        windows = list(zip(rolling(used[leaf], width), rolling(of_leaf, width), strict=True))
        got[leaf] = sum(min(pair) for pair in windows)
        due[leaf] = sum(claim for _, claim in windows)
    parts = {leaf: got[leaf] / due[leaf] for leaf in due if due[leaf]}
    total = sum(due.values())
    return Delivery(sum(got.values()) / total if total else None, parts)


def rolling(hours: Sequence[int], width: int) -> list[int]:
    """The sums of so many hours in a row; of all, if there are fewer."""
    width = min(width, len(hours))
    sums = list(accumulate(hours, initial=0))
    return [end - start for start, end in zip(sums, sums[width:], strict=False)]


def _measures(run: Run, hours: Hours) -> Measures:
    trace, owed = run.trace, hours.owed
    held, capacity = sum(hours.held), sum(hours.capacity)
    during = range(trace.begins, trace.ends)
    numbers = [number for number, job in enumerate(trace.jobs) if job.submit in during]
    repairs = [repair for repair in run.repairs if repair.reported in during]
    return Measures(
        day=deliver(hours.used, owed, DAY),
        hour=deliver(hours.used, owed, 1),
        whole=deliver(hours.used, owed, len(hours.capacity)),
        occupancy=held / capacity if capacity else None,
        unfunded=1 - sum(hours.charged) / held if held else None,
        stops={cause: _stops(run, cause, True) for cause in Cause},
        unfunded_stops={cause: _stops(run, cause, False) for cause in Cause},
        repairs=len(repairs),
        persons=sum(repair.person for repair in repairs),
        submitted=len(numbers),
        done=sum(run.done[number] for number in numbers),
        passes=run.passes,
    )


def _stops(run: Run, cause: Cause, funded: bool) -> Stops:
    trace = run.trace
    lost = [
        work
        for at, _, work, why, charged in run.losses
        if why == cause and charged == funded and trace.begins <= at < trace.ends
    ]
    return Stops(len(lost), sum(lost))
