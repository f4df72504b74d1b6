"""Strict priority with team caps: what Ai2 had before.

After "Impactful scheduling for GPU clusters" (allenai.org, 2026) and the cluster policies that beaker-py names: each
team has a cap on concurrent GPUs that are not preemptible; preemptible work may exceed it on idle GPUs. What declares
a minimum runtime stands for work that is not preemptible: nothing stops it. Preemptible work is stopped by any other
that needs the room, the youngest first.

Chosen, where nothing is published: the caps add up to more than the fleet, as `Settings.caps` says, which brings waits
near the published ones (docs/results/calibration.md); a job larger than its team's cap runs preemptible; work of a team
at its cap is passed by and blocks nobody; preemptible work does not stop preemptible work. Left out: the limits of
single workspaces, and the telephone.
"""

from collections.abc import Iterator
from enum import StrEnum

from app.simulate.policies.baseline import FOREVER, Baseline, Floor
from app.simulate.policies.queue import Key, Shape
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Trace

Head = tuple[Key, str, Shape]


class Backfill(StrEnum):
    """Who may pass a blocked job that is not preemptible; a preemptible one blocks its like alone, with `none`."""

    NONE = "none"
    PREEMPTIBLE = "preemptible"
    ALL = "all"


class Priority:
    """Caps in GPUs by team; they do not shrink when nodes break."""

    def __init__(self, backfill: Backfill, caps: int = 1_000) -> None:
        self.backfill = backfill
        self._caps = caps
        """Thousandths of the claims."""
        self.caps: dict[str, int] = {}
        self._sized_for = 0

    def arrange(self, floor: Floor, now: int) -> None:
        if self._sized_for != floor.fleet.nominal:
            self._sized_for = floor.fleet.nominal
            self.caps = {
                leaf.id: int(leaf.claim * floor.fleet.nominal * self._caps / 1_000) for leaf in floor.tree.leaves
            }
        blocked = self._start_firm(floor, now)
        self._start_preemptible(floor, now, blocked)

    def next_due(self, floor: Floor, now: int) -> int | None:
        return None

    def _start_firm(self, floor: Floor, now: int) -> Key | None:
        """Start what is not preemptible; the first that is blocked, if nobody of its kind may pass it."""
        passed: set[Shape] = set()
        while heads := [head for head in self._heads(floor) if head[2] not in passed and self._may_start(floor, head)]:
            key, _, shape = min(heads)
            if floor.fits_funded(shape):
                floor.begin(floor.queue.jobs[key[2]], now, until=FOREVER)
            elif self.backfill is Backfill.ALL:
                passed.add(shape)
            else:
                return key
        return None

    def _start_preemptible(self, floor: Floor, now: int, blocked: Key | None) -> None:
        """Start what is preemptible on free GPUs."""
        strict = self.backfill is Backfill.NONE
        while heads := [
            head for head in self._heads(floor) if not self._is_firm(head) and (strict or floor.fits(head[2]))
        ]:
            key, _, shape = min(heads)
            if strict and (not floor.fits(shape) or (blocked is not None and key > blocked)):
                return
            self._start(floor, floor.queue.jobs[key[2]], now)

    def _start(self, floor: Floor, job: Job, now: int) -> None:
        floor.start(job, floor.fleet.find(job) or {}, now, until=now, yields=True)

    def _heads(self, floor: Floor) -> Iterator[Head]:
        for leaf, shapes in floor.queue.leaves.items():
            for shape, keys in shapes.items():
                yield keys[0], leaf, shape

    def _is_firm(self, head: Head) -> bool:
        """Whether it is not preemptible."""
        _, leaf, (funded, _, gpus, replicas) = head
        return funded and gpus * replicas <= self.caps[leaf]

    def _may_start(self, floor: Floor, head: Head) -> bool:
        """Whether it is not preemptible and its team stays within its cap."""
        _, leaf, (_, _, gpus, replicas) = head
        return self._is_firm(head) and floor.firm.get(leaf, 0) + gpus * replicas <= self.caps[leaf]


def priority(trace: Trace, settings: Settings) -> Baseline:
    backfill = Backfill.ALL if settings.backfill else Backfill.NONE
    return Baseline(trace, Priority(backfill, settings.caps))
