"""A fleet, its budgets and its work in one line each, and what must always be true of them."""

from fractions import Fraction

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Decision
from app.core.scheduling.packing import Host
from app.core.scheduling.policy import HOUR, MINUTE, SECOND, Policy
from app.core.scheduling.schedule import next_due, schedule
from app.core.scheduling.state import State
from app.core.scheduling.usage import Segment
from app.core.scheduling.workload import Evictable, Kind, Status, Workload

__all__ = ["HOUR", "MINUTE", "SECOND", "Kind", "Lab", "Policy", "Status", "check", "of"]


class Lab:
    """A fleet whose passes come by themselves; times are in the policy's milliseconds."""

    def __init__(self, nodes: int = 2, gpus: int = 8, policy: Policy | None = None, **weights: int) -> None:
        self.state = State(policy)
        self.now = 0
        self.decisions: list[Decision] = []
        for number in range(nodes):
            events.node_ready(self.state, f"n{number}", 0, gpus=gpus)
        for name, weight in (weights or {"a": 1, "b": 1}).items():
            tree.create_budget(self.state, name, "", weight, 0)

    def submit(
        self, name: str, leaf: str | None = "a", gpus: int = 8, replicas: int = 1, **more: int | bool | Kind
    ) -> None:
        """It waits until the next pass; an hour of protection unless another minimum runtime is given."""
        more.setdefault("min_runtime", 0 if leaf is None else HOUR)
        more.setdefault("submit", self.now)
        workload = Workload(name, leaf=leaf, gpus=gpus, replicas=replicas, **more)
        events.submit(self.state, workload, self.now)

    def run(
        self, name: str, leaf: str | None = "a", gpus: int = 8, replicas: int = 1, **more: int | bool | Kind
    ) -> None:
        """It starts at once."""
        self.submit(name, leaf, gpus, replicas, **more)
        self.step()
        assert self.state.workloads[name].status is Status.RUNNING, self.decisions

    def step(self) -> list[Decision]:
        """One pass now."""
        made = schedule(self.state, self.now)
        self.decisions += made
        return made

    def until(self, time: int) -> list[Decision]:
        """Every pass that is due by then, and one then."""
        made: list[Decision] = []
        while (due := next_due(self.state, self.now)) is not None and due < time:
            self.now = due
            made += self.step()
        self.now = time
        return made + self.step()

    def wait(self, duration: int) -> list[Decision]:
        return self.until(self.now + duration)

    def status(self, name: str) -> Status | None:
        workload = self.state.workloads.get(name)
        return None if workload is None else workload.status

    def running(self) -> set[str]:
        held = (Status.RUNNING, Status.LEAVING)
        return {name for name, workload in self.state.workloads.items() if workload.status in held}

    def ratio(self, budget: str) -> Fraction | None:
        self.state.advance(self.now)
        top, bottom = self.state.ratio(self.state.budgets[budget])
        return Fraction(top, bottom) if bottom else None


def of(decisions: list[Decision], kind: type) -> list[Decision]:
    return [decision for decision in decisions if isinstance(decision, kind)]


def check(state: State) -> None:
    """The invariants that one state shows."""
    for host in state.hosts.values():
        _check_host(state, host)
    for workload in state.workloads.values():
        _check_workload(state, workload)
    _check_pools(state)
    _check_budgets(state)


def _check_host(state: State, host: Host) -> None:
    used = {name: count * state.workloads[name].gpus for name, count in host.residents.items()}
    claimed = {name: count * state.workloads[name].gpus for name, count in host.claims.items()}
    assert sum(used.values()) <= host.gpus, "over-allocated"
    assert host.free == host.gpus - sum(used.values()) - sum(claimed.values())
    leaving = sum(gpus for name, gpus in used.items() if state.workloads[name].status is Status.LEAVING)
    assert host.leaving == leaving
    assert host.free + leaving >= 0, "held twice"
    by_kind = {kind: sum(g for n, g in used.items() if state.workloads[n].evictable is kind) for kind in Evictable}
    assert (host.unfunded, host.expired) == (by_kind[Evictable.UNFUNDED], by_kind[Evictable.EXPIRED])
    for name, count in host.residents.items():
        assert state.workloads[name].places[host.id] == count


def _check_workload(state: State, workload: Workload) -> None:
    if workload.status in (Status.WAITING, Status.HELD):
        assert not workload.places
        held = sum(workload.claim.values())
        assert held == (workload.replicas if workload.status is Status.HELD else 0), "gangs are held whole"
    if workload.status is Status.RUNNING:
        assert bool(workload.missing) == (workload.id in state.holes), "gangs are whole"
        if not workload.funded:
            assert workload.evictable is Evictable.UNFUNDED
        else:
            protected = state.now < workload.protected_until
            assert workload.evictable is (Evictable.NO if protected else Evictable.EXPIRED)
    assert workload.segment_gpus == workload.gpus * sum(workload.places.values())


def _check_pools(state: State) -> None:
    for pool in state.pools.values():
        for gpus in pool.slots:
            hosts = pool.hosts.values()
            assert pool.slots[gpus] == sum(max(0, host.free) // gpus for host in hosts)
            assert pool.soft[gpus] == sum(max(0, host.room + host.unfunded) // gpus for host in hosts)
            both = [host.room + host.unfunded + host.expired for host in hosts]
            assert pool.yielding[gpus] == sum(max(0, free) // gpus for free in both)
        stacked = sorted((size, host) for size, stack in pool.stacks.items() for _, host in stack)
        assert stacked == sorted((host.free, host.id) for host in pool.hosts.values() if host.free > 0)


def _check_budgets(state: State) -> None:
    for budget in state.budgets.values():
        below = [w for w in state.workloads.values() if w.leaf is not None and budget in state.paths[w.leaf]]
        assert budget.waiting_below == sum(w.status is Status.WAITING for w in below)
        assert budget.expired_below == sum(w.evictable is Evictable.EXPIRED for w in below)
        assert budget.unfunded_below == sum(w.evictable is Evictable.UNFUNDED for w in below)
        assert budget.usage.slope == sum(w.segment_gpus for w in below if w.segment_funded)
        committed = sum(_committed(state, w) for w in below)
        assert budget.committed - budget.committed_gpus * state.now == committed


def _committed(state: State, workload: Workload) -> int:
    """K of one workload, from its own facts."""
    length = max(workload.min_runtime, state.policy.least_commitment)
    if workload.status is Status.HELD:
        return workload.gpus * workload.replicas * (workload.claim_due + length - state.now)
    if workload.status is Status.RUNNING and workload.funded and workload.bound_at < workload.protected_until:
        return workload.segment_gpus * max(0, workload.bound_at + length - state.now)
    return 0


def used(segments: list[Segment], leaves: set[str], since: int, until: int) -> int:
    """Funded GPU-time of some leaves in a window, added up one segment after the other."""
    return sum(
        segment.gpus * max(0, min(segment.end, until) - max(segment.start, since))
        for segment in segments
        if segment.funded and segment.leaf in leaves
    )


def open_segments(state: State) -> list[Segment]:
    """What runs now, as if it ended now."""
    return [
        Segment(w.leaf, w.id, w.attempt, w.segment_gpus, w.segment_at, state.now, w.segment_funded)
        for w in state.workloads.values()
        if w.segment_gpus
    ]
