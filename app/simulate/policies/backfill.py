"""EASY backfill: work may pass a head that does not fit if it does not delay the head's start.

After Lifka, "The ANL/IBM SP scheduling system" (1995), and Slurm's backfill plugin, which reserves whole nodes. The
limit that a job runs to is its true run time without interruption: kinder than real users' limits, which are several
times too long. One reservation, for the head alone; Slurm keeps one for each job that it considers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.scheduling.policy import SECOND
from app.simulate.policies.baseline import Floor
from app.simulate.policies.queue import Shape, shape_of
from app.simulate.workloads import Job

Begin = Callable[[Job, frozenset[str]], None]
"""Starts a job that fits, on other hosts than these."""

INTERVAL = 30 * SECOND
"""Between two looks at those behind the head: Slurm's bf_interval."""

DEPTH = 500
"""How many jobs a look considers: Slurm's bf_max_job_test, whose default of 100 starves short jobs (chosen)."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The head starts at `start` on these hosts at the latest."""

    start: int
    hosts: frozenset[str]


def reserve(floor: Floor, head: Job) -> Hold | None:
    """When the head can start at the latest, and where; None: never. What yields is no obstacle."""
    fleet = floor.fleet
    hosts = {host.id: host for pool in fleet.pools_for(head.model) for host in pool.hosts.values()}
    free = {name: host.free + host.unfunded for name, host in hosts.items()}
    missing = head.replicas - sum([left // head.gpus for left in free.values()])
    start = 0
    ends = sorted(
        (gang.start + gang.job.runtime, gang.job.id, gang) for gang in fleet.running.values() if not gang.yields
    )
    for end, _, gang in ends:
        if missing <= 0:
            break
        for name, count in gang.places.items():
            if name in free:
                before = free[name]
                free[name] = before + count * gang.job.gpus
                missing -= free[name] // head.gpus - before // head.gpus
        start = end
    if missing > 0:
        return None
    left, chosen = head.replicas, set()
    for name in sorted(free, key=lambda each: (hosts[each].free, hosts[each].number)):
        if left > 0 and free[name] >= head.gpus:
            chosen.add(name)
            left -= free[name] // head.gpus
    return Hold(start, frozenset(chosen))


class Backfill:
    """Keeps the reservation while nothing happens that was not foreseen."""

    def __init__(self) -> None:
        self._made_for: tuple[str, int] | None = None
        self._hold: Hold | None = None
        self.ran_at = -INTERVAL

    def is_due(self, now: int) -> bool:
        return now >= self.ran_at + INTERVAL

    def next_due(self, now: int) -> int:
        return max(self.ran_at + INTERVAL, now + SECOND)

    def run(self, floor: Floor, head: Job, line: Sequence[Job], begin: Begin, now: int) -> None:
        """Begin those in line that end before the head starts, or fit outside of its reservation."""
        self.ran_at = now
        if not line:
            return
        if self._made_for != (head.id, floor.version):
            self._hold = reserve(floor, head)
        room: dict[Shape, bool] = {}
        outside: dict[Shape, bool] = {}
        for job in line:
            passed_over = self._passed_over(floor, job, now, room, outside)
            if passed_over is not None:
                begin(job, passed_over)
                room.clear()
                outside.clear()
        self._made_for = (head.id, floor.version)

    def _passed_over(
        self, floor: Floor, job: Job, now: int, room: dict[Shape, bool], outside: dict[Shape, bool]
    ) -> frozenset[str] | None:
        """The hosts on which the job may not start, or None if it may not at all."""
        shape, hold = shape_of(job), self._hold
        if shape not in room:
            room[shape] = floor.fleet.has_room_after_yielding(*shape[1:])
        if not room[shape]:
            return None
        if hold is None or now + job.runtime <= hold.start:
            return frozenset()
        if shape not in outside:
            outside[shape] = floor.fleet.has_room_outside(hold.hosts, *shape[1:])
        return hold.hosts if outside[shape] else None
