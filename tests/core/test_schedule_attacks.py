"""What schedulers have got wrong, and what users try: none of it pays (FS-2, FS-8, FS-14, FS-18)."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Admit, Preempt
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Policy, check, of, open_segments, used
from tests.core.test_schedule_invariants import Story, steps

DAY = 24 * HOUR
quick = settings(max_examples=25, deadline=None)


def test_many_small_workloads_get_no_more_than_a_few_large_ones() -> None:
    """FS-18: splitting into many small workloads."""
    lab = Lab(2, policy=Policy(window=DAY))
    for number in range(32):
        lab.submit(f"a{number}", "a", gpus=1)
    for number in range(4):
        lab.submit(f"b{number}", "b", gpus=8)
    lab.wait(3 * DAY)
    shares = [lab.state.budgets[leaf].used(lab.now, lab.now - DAY) for leaf in "ab"]
    assert abs(shares[0] - shares[1]) <= 8 * HOUR + 16 * DAY // 100


def test_killing_and_resubmitting_for_days_gets_no_more_than_its_share() -> None:
    """FS-18: fresh protection is paid for like any other time."""
    lab = Lab(1, policy=Policy(window=DAY))
    lab.submit("a0", "a")
    lab.submit("b", "b")
    for number in range(72):
        lab.wait(50 * MINUTE)
        if f"a{number}" in lab.running():
            events.finish(lab.state, f"a{number}", lab.now)
        else:
            events.cancel(lab.state, f"a{number}", lab.now)
        lab.submit(f"a{number + 1}", "a")
        lab.step()
    shares = [lab.state.budgets[leaf].used(lab.now, lab.now - DAY) for leaf in "ab"]
    assert shares[0] <= 8 * (DAY // 2 + HOUR) + 8 * DAY // 100


def test_minimum_runtimes_of_a_second_flood_no_pass() -> None:
    """FS-18, FS-2: each counts at least fifteen minutes until it has run for as long."""
    lab = Lab(2)
    for number in range(16):
        lab.submit(f"a{number}", "a", gpus=1, min_runtime=SECOND, submit=0)
        lab.submit(f"b{number}", "b", gpus=1, min_runtime=15 * MINUTE, submit=1)
    started = [made.workload[0] for made in lab.step() if isinstance(made, Admit)]
    assert (started.count("a"), started.count("b")) == (8, 8)


def test_a_name_used_again_has_no_older_submit_time() -> None:
    """FS-18: cancelling and submitting again under the same name."""
    lab = Lab(1)
    lab.run("held", "a", min_runtime=HOUR)
    lab.submit("old", "a", submit=0)
    events.cancel(lab.state, "old", lab.now)
    lab.now += MINUTE
    lab.submit("mine", "b", submit=1)
    lab.submit("old", "a", submit=MINUTE)
    events.finish(lab.state, "held", lab.now)
    lab.step()
    assert "mine" in lab.running()


def test_the_ledger_does_not_drift() -> None:
    """Facts: leaked, lost and doubled usage (Kueue 5339, 10271, 12539, 15383)."""
    lab = Lab(3, policy=Policy(window=DAY))
    lab.run("gang", "a", gpus=4, replicas=4, min_runtime=HOUR)
    lab.wait(30 * MINUTE)
    lost = max(lab.state.workloads["gang"].places)
    gone = lab.state.workloads["gang"].places[lost]
    events.node_lost(lab.state, lost, lab.now)
    events.drain(
        lab.state, next(name for name in lab.state.hosts if name not in lab.state.workloads["gang"].places), 0 + lab.now
    )
    lab.wait(5 * MINUTE)
    assert lab.state.workloads["gang"].missing == gone
    lab.wait(10 * MINUTE)
    check(lab.state)
    expected = 16 * 30 * MINUTE + (16 - 4 * gone) * 10 * MINUTE
    segments = [*lab.state.ledger, *open_segments(lab.state)]
    assert used(segments, {"a"}, 0, lab.now) == lab.state.budgets["a"].used(lab.now, lab.now - DAY) == expected


@quick
@given(steps)
def test_fairness_evicts_only_who_is_ahead_by_the_margin(stream: list[tuple[int, str, int]]) -> None:
    """FS-8: at the lowest common ancestor, as the record says; within a leaf there is none."""
    story = Story()
    for wait, what, number in stream:
        for made in story.happen(wait, what, number):
            if isinstance(made, Preempt) and made.code == "fair-share" and made.standing is not None:
                low, high = made.standing.preemptor_ratio, made.standing.victim_ratio
                assert low[1]
                assert not high[1] or Fraction(*high) >= Fraction(*low) + Fraction(1, 100)


waits = st.lists(
    st.tuples(st.sampled_from([0, MINUTE, HOUR, 3 * HOUR]), st.sampled_from("aaab"), st.integers(0, 3)), max_size=20
)


@quick
@given(waits)
def test_priorities_inside_a_leaf_change_nothing_between_leaves(stream: list[tuple[int, str, int]]) -> None:
    """FS-2: which leaves start, and when, is the same whatever the leaf's own priorities are."""

    def told(factor: int) -> list[tuple[int, str]]:
        lab = Lab(1, policy=Policy(window=DAY, yields_in_leaf=False))
        for number, (wait, leaf, priority) in enumerate(stream):
            urgent = priority * factor if leaf == "a" else 0
            lab.submit(f"{leaf}{number}", leaf, gpus=4, priority=urgent, submit=0)
            lab.wait(wait)
        lab.wait(DAY)
        return [(made.at, made.workload[0]) for made in of(lab.decisions, Admit) if isinstance(made, Admit)]

    assert told(1) == told(0) == told(-1)


def test_what_a_limit_gets_back_is_offered_at_once() -> None:
    """FS-6: also when the work that ends early was on a node that drains, so that no GPUs become free."""
    lab = Lab(2)
    tree.set_limits(lab.state, "a", [(16 * HOUR, 0)], 0)
    lab.run("early", "a", gpus=8, min_runtime=HOUR)
    lab.submit("poor", "a", gpus=8, min_runtime=2 * HOUR)
    events.drain(lab.state, next(iter(lab.state.workloads["early"].places)), lab.now)
    lab.step()
    assert lab.running() == {"early"}
    events.finish(lab.state, "early", lab.now)
    lab.step()
    assert lab.running() == {"poor"}
