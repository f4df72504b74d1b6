"""Runs a trace under a policy with as little as possible, and looks at every decision that it makes."""

from dataclasses import dataclass, field

from app.simulate.policies import POLICIES
from app.simulate.policy import Drained, Filled, Outcome, Scheduler, Started, Stopped
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Mishap, Node, Share, Trace

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def job(name: str, leaf: str | None, gpus: int, replicas: int = 1, **more: object) -> Job:
    """An hour's work, submitted at the beginning, protected for a quarter of an hour."""
    settings: dict[str, object] = {"submit": 0, "runtime": HOUR, "min_runtime": 15 * MINUTE if leaf else 0}
    return Job(id=name, leaf=leaf, gpus=gpus, replicas=replicas, **{**settings, **more})  # type: ignore[arg-type]


def trace_of(
    jobs: list[Job], hosts: int, shares: list[Share], mishaps: list[Mishap] | None = None, until: int = 60 * DAY
) -> Trace:
    """Hosts of eight GPUs."""
    nodes = [Node(f"n{number}", 8) for number in range(hosts)]
    ordered = sorted(jobs, key=lambda each: (each.submit, each.id))
    return Trace("small", ordered, nodes, shares, 0, until, mishaps or [])


@dataclass
class Running:
    job: Job
    since: int
    protected_until: int
    places: dict[str, int]


@dataclass
class Driver:
    """Time goes from event to event; what a job did before it was stopped is lost."""

    trace: Trace
    scheduler: Scheduler
    now: int = 0
    running: dict[str, Running] = field(default_factory=dict)
    waiting: dict[str, Job] = field(default_factory=dict)
    free: dict[str, int] = field(default_factory=dict)
    draining: set[str] = field(default_factory=set)
    repairs: list[tuple[int, str]] = field(default_factory=list)
    begun: list[tuple[int, str]] = field(default_factory=list)
    stopped: list[tuple[int, str]] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    broken_protections: list[str] = field(default_factory=list)
    told: list[tuple[int, Outcome]] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)

    def run(self, until: int | None = None) -> "Driver":
        jobs, mishaps = list(self.trace.jobs), sorted(self.trace.mishaps, key=lambda each: each.at)
        nodes = {node.id: node for node in self.trace.nodes}
        for node in self.trace.nodes:
            self._ready(node)
        end = self.trace.ends if until is None else until
        while self.now <= end:
            while mishaps and mishaps[0].at <= self.now:
                self._break(mishaps.pop(0))
            for at, name in [repair for repair in self.repairs if repair[0] <= self.now]:
                self.repairs.remove((at, name))
                self._ready(nodes[name])
            for name in [name for name, gang in self.running.items() if gang.since + gang.job.runtime <= self.now]:
                self._release(name)
                self.done[name] = self.now
                self.scheduler.finish(name, self.now)
            while jobs and jobs[0].submit <= self.now:
                arrived = jobs.pop(0)
                self.waiting[arrived.id] = arrived
                self.scheduler.submit(arrived, self.now)
            self._pass()
            following = [
                *[each.submit for each in jobs[:1]],
                *[each.at for each in mishaps[:1]],
                *[at for at, _ in self.repairs],
                *[gang.since + gang.job.runtime for gang in self.running.values()],
            ]
            due = self.scheduler.next_due(self.now)
            if due is not None:
                assert due > self.now
                assert due % SECOND == 0
                following.append(due)
            if not following or (not jobs and not self.waiting and not self.running and not mishaps):
                break
            self.now = -(-min(following) // SECOND) * SECOND
        return self

    def _ready(self, node: Node) -> None:
        self.free[node.id] = node.gpus
        self.draining.discard(node.id)
        self.scheduler.node_ready(node, self.now)

    def _break(self, mishap: Mishap) -> None:
        if mishap.node not in self.free or mishap.node in self.draining:
            return
        if mishap.gone:
            self.lost |= {name for name, gang in self.running.items() if mishap.node in gang.places}
            del self.free[mishap.node]
            self.repairs.append((self.now + mishap.repair, mishap.node))
            self.scheduler.node_lost(mishap.node, self.now)
        else:
            self.draining.add(mishap.node)
            self.scheduler.drain(mishap.node, self.now)

    def _release(self, name: str) -> Running:
        gang = self.running.pop(name)
        for host, count in gang.places.items():
            if host in self.free:
                self.free[host] += count * gang.job.gpus
        return gang

    def _pass(self) -> None:
        made = self.scheduler.decide(self.now)
        for outcome in made:
            self.told.append((self.now, outcome))
            match outcome:
                case Started():
                    self._start(outcome)
                case Stopped(name, requeued):
                    gang = self._release(name)
                    self.stopped.append((self.now, name))
                    if name not in self.lost and gang.protected_until > self.now:
                        self.broken_protections.append(name)
                    self.lost.discard(name)
                    if requeued:
                        assert gang.job.resumable
                        self.waiting[name] = gang.job
                case Drained(name):
                    assert not any(name in gang.places for gang in self.running.values())
                    self.free.pop(name, None)
                    self.repairs.append((self.now + HOUR, name))
                case Filled():
                    raise AssertionError("nothing here fills holes")
        assert not any(free < 0 for free in self.free.values())
        self.settled()

    def _start(self, outcome: Started) -> None:
        places = dict(outcome.places)
        wanted = self.waiting.pop(outcome.job)
        assert sum(places.values()) == wanted.replicas
        assert wanted.submit <= self.now
        for host, count in places.items():
            assert host not in self.draining
            self.free[host] -= count * wanted.gpus
            assert self.free[host] >= 0
        self.running[outcome.job] = Running(wanted, self.now, outcome.protected_until, places)
        self.begun.append((self.now, outcome.job))

    def settled(self) -> None:
        """A pass repeated at the same instant does nothing."""
        assert self.scheduler.decide(self.now) == []

    def started(self) -> dict[str, int]:
        """When each job first started."""
        found: dict[str, int] = {}
        for at, name in self.begun:
            found.setdefault(name, at)
        return found


def drive(policy: str, trace: Trace, settings: Settings | None = None, until: int | None = None) -> Driver:
    return Driver(trace, POLICIES[policy](trace, settings or Settings())).run(until)
