"""Small fleets, where every possibility can be tried, and ratios added up one stretch after the other."""

from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Preempt
from app.core.scheduling.packing import fit
from tests.core.scheduling import HOUR, MINUTE, Lab, Policy, Status, open_segments, used

quick = settings(max_examples=60, deadline=None)
sizes = st.lists(st.sampled_from([1, 2, 4, 8]), max_size=9)


def _fits(free: list[int], gpus: int, replicas: int) -> bool:
    return sum(max(0, left) // gpus for left in free) >= replicas


@quick
@given(sizes, st.sampled_from([1, 2, 4, 8]), st.integers(1, 4))
def test_the_victims_are_enough_and_none_is_dispensable(others: list[int], gpus: int, replicas: int) -> None:
    """FS-7: somebody is evicted exactly when some set of victims would do, and no smaller part of the set would."""
    lab = Lab(3)
    for number, size in enumerate(others):
        funded = number % 3 == 0
        lab.submit(f"w{number}", "b" if funded else None, size, min_runtime=HOUR if funded else 0)
        lab.now += MINUTE
        lab.step()
    state = lab.state
    running = {name: workload for name, workload in state.workloads.items() if workload.status is Status.RUNNING}
    unfunded = [workload for workload in running.values() if not workload.funded]
    free = {host.id: host.free for host in state.hosts.values()}
    lab.submit("gang", "a", gpus, replicas)
    made = [decision for decision in lab.step() if isinstance(decision, Preempt) and decision.workload == "gang"]

    def would_fit(victims: tuple[str, ...]) -> bool:
        left = dict(free)
        for name in victims:
            for host, count in running[name].places.items():
                left[host] += count * running[name].gpus
        return _fits(list(left.values()), gpus, replicas)

    names = [workload.id for workload in unfunded]
    possible = any(would_fit(some) for size in range(len(names) + 1) for some in combinations(names, size))
    assert (state.workloads["gang"].status is not Status.WAITING) is possible
    for decision in made:
        chosen = tuple(name for name, _ in decision.victims)
        assert would_fit(chosen)
        assert not any(would_fit(tuple(set(chosen) - {name})) for name in chosen)


@quick
@given(sizes, st.sampled_from([1, 2, 4, 8]), st.integers(1, 5))
def test_a_place_is_found_exactly_when_there_is_one(others: list[int], gpus: int, replicas: int) -> None:
    """FS-10."""
    lab = Lab(3)
    for number, size in enumerate(others):
        lab.submit(f"w{number}", None, size)
    lab.step()
    state = lab.state
    free = {host.id: host.free for host in state.hosts.values()}
    places = fit(state.pools.values(), gpus, replicas)
    assert (places is not None) is _fits(list(free.values()), gpus, replicas)
    if places is not None:
        assert sum(places.values()) == replicas
        assert all(count * gpus <= free[host] for host, count in places.items())


changes = st.lists(
    st.tuples(
        st.sampled_from([0, MINUTE, HOUR, 7 * HOUR]),
        st.sampled_from(["weight", "node", "lose", "run", "end"]),
        st.integers(0, 99),
    ),
    max_size=25,
)


@quick
@given(changes)
def test_ratios_are_what_a_recount_finds(stream: list[tuple[int, str, int]]) -> None:
    """FS-2: U, K and E by stretches of constant claim and capacity, from the window's beginning."""
    window = 24 * HOUR
    lab = Lab(2, policy=Policy(window=window), a=1, b=2)
    weights = {"a": 1, "b": 2}
    stretches = [(-window, dict(weights), 16)]
    for number, (wait, what, value) in enumerate(stream):
        lab.wait(wait)
        name = "ab"[value % 2]
        if what == "weight":
            weights[name] = value % 5 + 1
            tree.reweight(lab.state, name, weights[name], lab.now)
        elif what == "node":
            events.node_ready(lab.state, f"m{number}", lab.now, gpus=4)
        elif what == "lose" and len(lab.state.hosts) > 1:
            events.node_lost(lab.state, sorted(lab.state.hosts)[value % len(lab.state.hosts)], lab.now)
        elif what == "run":
            lab.submit(f"w{number}", name, [1, 2, 4][value % 3], min_runtime=[MINUTE, HOUR][value % 2])
        elif what == "end" and lab.state.workloads:
            events.finish(lab.state, sorted(lab.state.workloads)[value % len(lab.state.workloads)], lab.now)
        lab.step()
        if lab.now > 0:  # what is there at the first instant is what a fleet is born with
            stretches.append((lab.now, dict(weights), sum(host.gpus for host in lab.state.hosts.values())))
        elif what in ("weight", "node", "lose"):
            stretches = [(-window, dict(weights), sum(host.gpus for host in lab.state.hosts.values()))]
        for budget in "ab":
            assert lab.ratio(budget) == _recount(lab, budget, window, stretches)


def _recount(lab: Lab, budget: str, window: int, stretches: list[tuple[int, dict[str, int], int]]) -> Fraction:
    now, since = lab.now, lab.now - window
    ends = [*(start for start, _, _ in stretches[1:]), now]
    owed = before = Fraction(0)
    for (start, weights, capacity), end in zip(stretches, ends, strict=True):
        claim = Fraction(weights[budget], sum(weights.values())) * capacity
        owed += claim * max(0, end - max(start, since))
        before += claim * max(0, min(end, 0) - max(start, since))
    segments = [*lab.state.ledger, *open_segments(lab.state)]
    gone = used(segments, {budget}, max(0, since), now)
    node = lab.state.budgets[budget]
    committed = node.committed - node.committed_gpus * now
    return (gone + before + committed) / owed
