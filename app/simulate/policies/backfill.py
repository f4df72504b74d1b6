"""EASY backfill: work may pass a head that does not fit if it does not delay the head's start.

After Lifka, "The ANL/IBM SP scheduling system" (1995), and Slurm's backfill plugin, which reserves whole nodes. The
limit that a job runs to is its true run time without interruption: kinder than real users' limits, which are several
times too long. One reservation, for the head alone; Slurm keeps one for each of a hundred jobs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.simulate.policies.baseline import Floor
from app.simulate.policies.queue import Shape, shape_of
from app.simulate.workloads import Job

Begin = Callable[[Job, frozenset[str]], None]
"""Starts a job that fits, on other hosts than these."""

DEPTH = 100
"""How many jobs a pass tries, as Slurm's bf_max_job_test."""


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


def backfill(floor: Floor, line: Iterable[Job], hold: Hold | None, begin: Begin, now: int) -> None:
    """Begin those in line that end before the reservation begins, or fit outside of it."""
    outside: dict[Shape, bool] = {}
    tried = 0
    for job in line:
        shape = shape_of(job)
        if not floor.fleet.has_room_after_yielding(*shape[1:]):
            continue
        tried += 1
        if tried > DEPTH:
            return
        passed_over: frozenset[str] = frozenset()
        if hold is not None and now + job.runtime > hold.start:
            if shape not in outside:
                outside[shape] = floor.fleet.has_room_outside(hold.hosts, *shape[1:])
            if not outside[shape]:
                continue
            passed_over = hold.hosts
        begin(job, passed_over)
        outside.clear()
