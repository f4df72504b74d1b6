"""What the engine asks of any policy: it tells what happens, and the policy says who starts and who stops."""

from dataclasses import dataclass
from typing import Protocol

from app.simulate.workloads import Job, Node


@dataclass(frozen=True, slots=True)
class Started:
    """The gang is bound, whole; `funded` says whether its budget is charged. `places`: replicas by host.

    Of a gang that runs it says that it was moved there: it loses what it did since its last checkpoint.
    """

    job: str
    funded: bool
    protected_until: int
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The gang has stopped before it was done; `requeued`: it waits again."""

    job: str
    requeued: bool


@dataclass(frozen=True, slots=True)
class Filled:
    """The replicas that a lost node took from the running gang are bound again; until then it makes no progress."""

    job: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Unfunded:
    """From now on the running gang's time is not charged."""

    job: str


@dataclass(frozen=True, slots=True)
class Drained:
    """Nothing runs on the node any more: it may be repaired."""

    node: str


Outcome = Started | Stopped | Filled | Unfunded | Drained


class Scheduler(Protocol):
    """A policy over one fleet and one tree. The engine calls it in the order of time, with whole seconds."""

    def node_ready(self, node: Node, now: int) -> None:
        """The node takes work: a new one, or one back from its repair."""

    def node_lost(self, node: str, now: int) -> None:
        """The node is gone; a gang that ran on it goes on with a hole, or is told as `Stopped` by the next pass."""

    def drain(self, node: str, now: int) -> None:
        """The node is degraded: no new work; `Drained` follows when nothing runs on it."""

    def submit(self, job: Job, now: int) -> None:
        """The job waits."""

    def finish(self, job: str, now: int) -> None:
        """It is done with its work."""

    def cancel(self, job: str, now: int) -> None:
        """Its owner withdrew it."""

    def decide(self, now: int) -> list[Outcome]:
        """One pass; all that happened within the second has been told."""

    def next_due(self, now: int) -> int | None:
        """When a pass has something to do though nothing happens."""
