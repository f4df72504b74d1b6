"""What stays true whatever happens, over random streams of events (the invariants of the scheduler's rules)."""

from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Admit, Decision, Preempt, Requeue
from app.core.scheduling.state import State
from app.core.scheduling.workload import Kind, Status
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Policy, check, open_segments, used

LEAVES = ["a", "b", "c1", "c2"]
PARENTS = {"a": "", "b": "", "c": "", "c1": "c", "c2": "c"}
WINDOW = 24 * HOUR

steps = st.lists(
    st.tuples(
        st.sampled_from([0, SECOND, 30 * SECOND, 10 * MINUTE, HOUR, 5 * HOUR]),
        st.sampled_from(["submit"] * 6 + ["end"] * 2 + ["lose", "drain", "repair", "reweight", "move"]),
        st.integers(0, 2**30),
    ),
    max_size=40,
)


@dataclass
class Story:
    """A fleet that things happen to."""

    lab: Lab = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.lab = Lab(4, 8, Policy(window=WINDOW), a=1, b=2, c=1)
        for leaf, weight in (("c1", 1), ("c2", 3)):
            tree.create_budget(self.state, leaf, "c", weight, 0)

    @property
    def state(self) -> State:
        return self.lab.state

    def happen(self, wait: int, what: str, number: int) -> list[Decision]:
        made = self.lab.wait(wait)
        names, hosts = sorted(self.state.workloads), sorted(self.state.hosts)
        if what == "submit":
            self._submit(number)
        elif what == "end" and names:
            name = names[number % len(names)]
            waits = self.state.workloads[name].status is Status.WAITING
            (events.cancel if waits else events.finish)(self.state, name, self.lab.now)
        elif what in ("lose", "drain") and hosts:
            change = events.node_lost if what == "lose" else events.drain
            change(self.state, hosts[number % len(hosts)], self.lab.now)
        elif what == "repair":
            for node in range(4):
                events.node_ready(self.state, f"n{node}", self.lab.now, gpus=8)
        elif what == "reweight":
            name = sorted(PARENTS)[number % 5]
            tree.reweight(self.state, name, number % 7, self.lab.now)
        elif what == "move":
            parent = "c" if self.state.budgets["b"].parent is self.state.root else ""
            tree.move_budget(self.state, "b", parent, self.lab.now)
        return made + self.lab.step()

    def _submit(self, number: int) -> None:
        self.count += 1
        leaf = [*LEAVES, None][number % 5]
        minimum = [0, MINUTE, 15 * MINUTE, HOUR, 8 * HOUR][number // 5 % 5] if leaf else 0
        self.lab.submit(
            f"w{self.count}",
            leaf,
            gpus=[1, 2, 4, 8][number // 25 % 4],
            replicas=[1, 1, 1, 2, 3][number // 100 % 5],
            min_runtime=minimum,
            priority=number // 500 % 2,
            resumable=bool(number // 1000 % 4),
            kind=[Kind.BATCH, Kind.SESSION][number // 4000 % 2],
        )


quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(steps)
def test_every_count_agrees_with_what_runs_and_a_second_pass_does_nothing(stream: list[tuple[int, str, int]]) -> None:
    """No GPU twice; gangs whole; FS-15: a pass repeated at the same instant decides nothing."""
    story = Story()
    for wait, what, number in stream:
        story.happen(wait, what, number)
        check(story.state)
        assert story.lab.step() == []


@quick
@given(steps)
def test_protection_is_never_broken_and_unfunded_work_evicts_nothing(stream: list[tuple[int, str, int]]) -> None:
    """FS-3, FS-4."""
    story = Story()
    protected: dict[str, int] = {}
    for wait, what, number in stream:
        for decision in story.happen(wait, what, number):
            if isinstance(decision, Admit):
                protected[decision.workload] = decision.protected_until if decision.funded else 0
            if isinstance(decision, Preempt):
                assert all(protected[victim] <= decision.at for victim, _ in decision.victims)
                if decision.workload in story.state.workloads:
                    assert story.state.workloads[decision.workload].wants_funds


@quick
@given(steps)
def test_no_waiting_work_could_start_on_free_gpus(stream: list[tuple[int, str, int]]) -> None:
    """FS-6, without reservations, which may keep GPUs free."""
    story = Story()
    for wait, what, number in stream:
        story.happen(wait, what, number)
        state = story.state
        if state.reservations:
            continue
        free = [max(0, host.free) for host in state.hosts.values() if host.pool is not None]
        for workload in state.workloads.values():
            if workload.status is Status.WAITING:
                assert sum(gpus // workload.gpus for gpus in free) < workload.replicas


@quick
@given(steps)
def test_the_ledger_is_the_integral_and_usage_is_what_a_recount_finds(stream: list[tuple[int, str, int]]) -> None:
    """FS-14, and FS-1: re-weighting and re-parenting rewrite no past."""
    story = Story()
    parents = dict(PARENTS)
    history: list[tuple[int, dict[str, str]]] = [(0, dict(parents))]
    for wait, what, number in stream:
        story.happen(wait, what, number)
        budget = story.state.budgets["b"]
        parents["b"] = budget.parent.id if budget.parent is not None else ""
        history.append((story.lab.now, dict(parents)))
        _check_usage(story, history)


def _check_usage(story: Story, history: list[tuple[int, dict[str, str]]]) -> None:
    state, now = story.state, story.lab.now
    segments = [*state.ledger, *open_segments(state)]
    ends = [*(at for at, _ in history[1:]), now]
    for name, budget in state.budgets.items():
        expected = 0
        for (start, parents), end in zip(history, ends, strict=True):
            below = {leaf for leaf in LEAVES if name in ("", leaf, parents[leaf])}
            expected += used(segments, below, max(start, now - WINDOW), max(end, now - WINDOW))
        assert budget.used(now, now - WINDOW) == expected


@quick
@given(steps)
def test_fairness_evicts_no_oftener_than_minimum_runtimes_fit(stream: list[tuple[int, str, int]]) -> None:
    """At most once for each minimum runtime that a workload has been bound; loops of eviction are impossible.

    While all its nodes are lost a gang holds nothing, but its protection runs on, as its place is kept (FS-19).
    """
    story = Story()
    evicted: dict[str, int] = {}
    minimum: dict[str, int] = {}
    bound: dict[str, int] = {}
    occupied: dict[str, int] = {}
    for wait, what, number in stream:
        for decision in story.happen(wait, what, number):
            if isinstance(decision, Preempt) and decision.code == "fair-share":
                for victim, _ in decision.victims:
                    evicted[victim] = evicted.get(victim, 0) + 1
            elif isinstance(decision, Admit):
                bound.setdefault(decision.workload, decision.at)
            elif isinstance(decision, Requeue):
                occupied[decision.workload] = (
                    occupied.get(decision.workload, 0) + decision.at - bound.pop(decision.workload)
                )
        minimum |= {w.id: w.min_runtime for w in story.state.workloads.values() if w.funded}
    for name, since in bound.items():
        occupied[name] = occupied.get(name, 0) + story.lab.now - since
    for name, times in evicted.items():
        if name in minimum:
            assert times <= occupied[name] // minimum[name]


def test_backlogged_leaves_get_their_fractions() -> None:
    """Usage follows the claims within the margin and the largest K over E."""
    lab = Lab(4, 8, Policy(window=48 * HOUR), a=1, b=3, c=4)
    for leaf in "abc":
        for number in range(8):
            lab.submit(f"{leaf}{number}", leaf, gpus=[1, 2, 4, 8][number % 4], min_runtime=[HOUR, 2 * HOUR][number % 2])
        lab.submit(f"{leaf}8", leaf, gpus=8, replicas=2)
        lab.submit(f"{leaf}9", leaf, gpus=8, replicas=2)
    lab.wait(4 * 24 * HOUR)
    check(lab.state)
    for leaf, claim in (("a", 4), ("b", 12), ("c", 16)):
        owed = claim * 48 * HOUR
        share = lab.state.budgets[leaf].used(lab.now, lab.now - 48 * HOUR)
        assert abs(share - owed) <= owed // 100 + 16 * HOUR + 8 * 2 * HOUR, (leaf, share / owed)
