"""What a run leaves: columns of integers, by the job's number in the trace. Times are milliseconds."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from app.simulate.workloads import Trace

NEVER = -1
"""In place of a time: it did not happen before the trace's end."""


class Cause(IntEnum):
    """Why a gang stopped, or started anew, before it was done."""

    EVICTED = 0
    MOVED = 1
    """To another place in the same pass."""
    NODE = 2
    """A node that it ran on was lost."""
    PERSON = 3
    """It stood in the way of a repair, and somebody stopped it."""


@dataclass(slots=True)
class Table:
    """Rows of integers, flat, so that a row costs one call and a month of them little memory."""

    width: int
    flat: "array[int]" = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.flat) // self.width

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return zip(*[iter(self.flat)] * self.width, strict=True)


def segments() -> Table:
    """Rows of: job, GPUs it held, start, end, and 1 if its budget was charged, else 0."""
    return Table(5)


def losses() -> Table:
    """Rows of: time, job, GPU-milliseconds of work since its last checkpoint that it lost, cause, and 1 if funded."""
    return Table(5)


@dataclass(slots=True)
class Repair:
    """A node was reported degraded or gone, its repair began, and it was back; `person`: someone had to step in."""

    node: str
    reported: int
    began: int = NEVER
    back: int = NEVER
    person: bool = False


@dataclass(slots=True)
class Run:
    """What became of each job and node of the trace under one policy."""

    trace: Trace
    policy: str
    first_start: "array[int]"
    ended: "array[int]"
    """When it left the fleet for good."""
    done: bytearray
    """1: with all its work done."""
    starts: "array[int]"
    segments: Table = field(default_factory=segments)
    losses: Table = field(default_factory=losses)
    capacity: list[tuple[int, int]] = field(default_factory=list)
    """From when on how many GPUs were healthy; of a draining node those that somebody held (FS-2)."""
    repairs: list[Repair] = field(default_factory=list)
    passes: int = 0

    @classmethod
    def of(cls, trace: Trace, policy: str) -> "Run":
        """Nothing has happened yet."""
        count = len(trace.jobs)
        never = array("q", [NEVER]) * count
        return cls(trace, policy, never, never[:], bytearray(count), array("l", [0]) * count)
