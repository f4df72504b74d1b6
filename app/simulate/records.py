"""What a run leaves: columns of integers, by the job's number in the trace. Times are milliseconds."""

from array import array
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
class Segments:
    """A job held so many GPUs from start to end, funded (1) or not (0)."""

    job: "array[int]" = field(default_factory=lambda: array("l"))
    gpus: "array[int]" = field(default_factory=lambda: array("l"))
    start: "array[int]" = field(default_factory=lambda: array("q"))
    end: "array[int]" = field(default_factory=lambda: array("q"))
    funded: bytearray = field(default_factory=bytearray)

    def add(self, job: int, gpus: int, start: int, end: int, funded: bool) -> None:
        self.job.append(job)
        self.gpus.append(gpus)
        self.start.append(start)
        self.end.append(end)
        self.funded.append(funded)


@dataclass(slots=True)
class Losses:
    """A job lost so many GPU-milliseconds of work since its last checkpoint."""

    at: "array[int]" = field(default_factory=lambda: array("q"))
    job: "array[int]" = field(default_factory=lambda: array("l"))
    work: "array[int]" = field(default_factory=lambda: array("q"))
    cause: bytearray = field(default_factory=bytearray)

    def add(self, at: int, job: int, work: int, cause: Cause) -> None:
        self.at.append(at)
        self.job.append(job)
        self.work.append(work)
        self.cause.append(cause)


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
    segments: Segments = field(default_factory=Segments)
    losses: Losses = field(default_factory=Losses)
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
