"""What the schedulers that ours is compared with have in common; how they differ is their `Rule`.

Each pass runs at the second in which something happened. Work that is evicted leaves at once, without grace, which is
kinder to these schedulers than to ours. A node that drains takes nothing new and loses what yields; the rest of its
work runs to its end, as on their originals. A gang with a lost node stops whole and waits again.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from app.simulate.policies.fleet import Fleet, Gang
from app.simulate.policies.queue import Order, Queue, Shape, by_priority, is_funded
from app.simulate.policy import Drained, Outcome, Started, Stopped
from app.simulate.shares import Tree
from app.simulate.workloads import Job, Node, Trace

FOREVER = 1 << 62
"""The end of a protection that does not end."""


Observer = Callable[[int, str, int], None]
"""Is told since when how many more GPUs of funded work run for a leaf."""


def unseen(now: int, leaf: str, gpus: int) -> None:
    """The observer of a rule without a memory."""


class Floor:
    """Fleet, queue and tree at an instant, and the two things that a rule may do: start and evict."""

    def __init__(self, trace: Trace, order: Order, observe: Observer) -> None:
        self.fleet = Fleet()
        self.queue = Queue(order)
        self.tree = Tree(trace.shares)
        self.firm: dict[str, int] = {}
        """GPUs by leaf of what runs and does not yield."""
        self.outcomes: list[Outcome] = []
        self.fresh: dict[str, None] = {}
        """Leaves in which somebody has begun to wait since the last pass."""
        self.observe = observe
        self.version = 0
        """Grows when the ends of what runs, or the hosts, are no longer what was foreseen."""

    def wait(self, job: Job) -> None:
        self.queue.push(job)
        if is_funded(job):
            self.tree.wait(job.leaf or "", job.size)
            self.fresh[job.leaf or ""] = None

    def withdraw(self, job: Job) -> None:
        self.queue.remove(job)
        if is_funded(job):
            self.tree.wait(job.leaf or "", -job.size)

    def start(self, job: Job, places: dict[str, int], now: int, *, until: int, yields: bool) -> None:
        """The job runs, protected until then, or yields to whoever needs the room."""
        self.withdraw(job)
        gang = Gang(job, now, places, yields=yields)
        self.version += not yields
        self.fleet.occupy(gang)
        self._count(gang, 1, now)
        self.outcomes.append(Started(job.id, is_funded(job), until, tuple(places.items())))

    def end(self, gang: Gang, now: int) -> None:
        """The job runs no more."""
        if not gang.yields and now < gang.start + gang.job.runtime:
            self.version += 1
        self.fleet.vacate(gang)
        self._count(gang, -1, now)

    def evict(self, gang: Gang, now: int) -> None:
        """The job stops before it is done; a resumable one waits again, as of its first submit time."""
        self.end(gang, now)
        self.outcomes.append(Stopped(gang.job.id, gang.job.resumable))
        if gang.job.resumable:
            self.wait(gang.job)

    def _count(self, gang: Gang, sign: int, now: int) -> None:
        leaf, gpus = gang.job.leaf or "", sign * gang.job.size
        if not gang.yields:
            self.firm[leaf] = self.firm.get(leaf, 0) + gpus
        if is_funded(gang.job):
            self.tree.run(leaf, gpus)
            self.observe(now, leaf, gpus)

    def fits(self, shape: Shape) -> bool:
        return self.fleet.has_room(*shape[1:])

    def fits_funded(self, shape: Shape) -> bool:
        """Whether there is room for funded work of the shape, to which everything that yields gives way."""
        return shape[0] and self.fleet.has_room_after_yielding(*shape[1:])

    def fits_unfunded(self, shape: Shape) -> bool:
        return not shape[0] and self.fleet.has_room(*shape[1:])

    def begin(self, job: Job, now: int, *, until: int, passed_over: Collection[str] = ()) -> None:
        """Start a job that fits on other hosts than these; as much as needed of what yields leaves, the youngest first.

        LookupError: it does not fit.
        """
        places = self.fleet.find(job, passed_over)
        if places is None:
            youngest = reversed(list(self.fleet.yielding.values()))
            for gang in self.fleet.victims(job, youngest, passed_over) or ():
                self.evict(gang, now)
            places = self.fleet.find(job, passed_over)
        if places is None:
            raise LookupError(f"There is no room for {job.id}.")
        self.start(job, places, now, until=until, yields=False)

    def scavenge(self, now: int) -> None:
        """Start what wants no budget on the GPUs that are left, in the order of submission; it yields."""
        shapes = {shape for shape in self.queue.shapes if self.fits_unfunded(shape)}
        while shapes:
            found = [job for leaf in self.queue.leaves if (job := self.queue.first(leaf, shapes.__contains__))]
            if not found:
                return
            job = min(found, key=lambda each: (each.submit, each.id))
            places = self.fleet.find(job)
            if places is not None:
                self.start(job, places, now, until=now, yields=True)
            shapes = {shape for shape in shapes if self.fits_unfunded(shape)}


class Rule(Protocol):
    """Who runs: all that distinguishes one scheduler from another."""

    def arrange(self, floor: Floor, now: int) -> None:
        """Start and evict, so that a second call at the same instant would do nothing."""

    def next_due(self, floor: Floor, now: int) -> int | None:
        """When there may be something to do though nothing happens."""


class Baseline:
    """A scheduler of the simulation with that rule."""

    def __init__(self, trace: Trace, rule: Rule, order: Order = by_priority, observe: Observer = unseen) -> None:
        self.floor = Floor(trace, order, observe)
        self.rule = rule

    def node_ready(self, node: Node, now: int) -> None:
        self.floor.fleet.add(node)
        self.floor.version += 1

    def node_lost(self, node: str, now: int) -> None:
        for gang in self.floor.fleet.on(node):
            self.floor.evict(gang, now)
        self.floor.fleet.remove(node)
        self.floor.version += 1

    def drain(self, node: str, now: int) -> None:
        self.floor.fleet.drain(node)
        self.floor.version += 1
        for gang in self.floor.fleet.on(node):
            if gang.yields:
                self.floor.evict(gang, now)

    def submit(self, job: Job, now: int) -> None:
        self.floor.wait(job)

    def finish(self, job: str, now: int) -> None:
        if (gang := self.floor.fleet.running.get(job)) is not None:
            self.floor.end(gang, now)

    def cancel(self, job: str, now: int) -> None:
        if (waiting := self.floor.queue.jobs.get(job)) is not None:
            self.floor.withdraw(waiting)
        self.finish(job, now)

    def decide(self, now: int) -> list[Outcome]:
        floor = self.floor
        self.rule.arrange(floor, now)
        floor.fresh.clear()
        for name in [name for name in floor.fleet.draining if not floor.fleet.hosts[name].residents]:
            floor.fleet.remove(name)
            floor.outcomes.append(Drained(name))
        made, floor.outcomes = floor.outcomes, []
        return made

    def next_due(self, now: int) -> int | None:
        return self.rule.next_due(self.floor, now)
