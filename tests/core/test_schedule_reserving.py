"""Hosts kept for large gangs: how long that takes at most, how many, and whom they may evict (FS-9, FS-18)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.scheduling import events
from app.core.scheduling.decisions import Admit, Code, Preempt, Release, Reserve
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Policy, Status, of

DAY = 24 * HOUR
quick = settings(max_examples=25, deadline=None)

rivals = st.lists(
    st.tuples(
        st.sampled_from([0, 30 * SECOND, 10 * MINUTE, HOUR]),
        st.sampled_from("bc"),
        st.sampled_from([1, 2, 4, 8]),
        st.sampled_from([0, MINUTE, HOUR, 8 * HOUR]),
    ),
    min_size=6,
    max_size=25,
)


@quick
@given(rivals, st.integers(2, 4), st.integers(0, 5))
def test_a_reserved_gang_starts_within_eight_hours_a_grace_and_a_pass(
    stream: list[tuple[int, str, int, int]], replicas: int, before: int
) -> None:
    """FS-9: whatever others submit, without node loss; T never lies in the past."""
    lab = Lab(4, policy=Policy(window=DAY), a=1, b=1, c=1)
    for number, (wait, leaf, gpus, minimum) in enumerate(stream):
        if number == before:
            lab.submit("large", "a", gpus=8, replicas=replicas)
        lab.submit(f"w{number}", leaf, gpus=gpus, min_runtime=minimum)
        lab.wait(wait)
    lab.wait(20 * MINUTE + 8 * HOUR)
    reserved = [made for made in of(lab.decisions, Reserve) if isinstance(made, Reserve)]
    assert all(made.due >= made.at for made in reserved)
    started = [made.at for made in of(lab.decisions, Admit) if isinstance(made, Admit) and made.workload == "large"]
    policy = lab.state.policy
    bound = 8 * HOUR + policy.funded_grace + policy.tick
    assert started
    assert started[0] <= (reserved[0].at if reserved else 0) + bound


def test_two_reserve_at_most_on_disjoint_hosts_and_one_a_leaf() -> None:
    """FS-9."""
    lab = Lab(6, a=1, b=1, c=1, d=1)
    for number in range(6):
        lab.run(f"d{number}", "d", min_runtime=8 * HOUR)
    for leaf in "abc":
        lab.submit(f"{leaf}1", leaf, gpus=8, replicas=2)
        lab.submit(f"{leaf}2", leaf, gpus=8, replicas=2)
    lab.wait(2 * HOUR)
    held = list(lab.state.reservations.values())
    assert len(held) == 2
    assert len({reservation.leaf for reservation in held}) == 2
    assert not set(held[0].hosts) & set(held[1].hosts)


@pytest.mark.parametrize(("waived", "expected"), [(True, {"large"}), (False, {"b0", "b1"})])
def test_whether_the_holder_evicts_those_further_behind_is_a_setting(waived: bool, expected: set[str]) -> None:
    """FS-9: with `waive_at_t` off, expired work that was there before yields at T by FS-8 alone."""
    lab = Lab(2, policy=Policy(window=DAY, waive_at_t=waived, yields_in_leaf=False))
    lab.run("used", "a", gpus=8, replicas=2, min_runtime=HOUR)
    lab.wait(9 * HOUR)
    events.finish(lab.state, "used", lab.now)
    for number in range(2):
        lab.run(f"b{number}", "b", min_runtime=HOUR)
    lab.submit("large", "a", gpus=8, replicas=2)
    lab.wait(80 * MINUTE)
    assert of(lab.decisions, Reserve)
    assert lab.running() == expected


def test_without_the_waiver_who_came_after_the_reservation_leaves_at_t() -> None:
    """FS-9: such work was let in for the time until T alone."""
    lab = Lab(2, policy=Policy(window=DAY, waive_at_t=False, yields_in_leaf=False))
    lab.run("used", "a", gpus=8, replicas=2, min_runtime=HOUR)
    lab.wait(9 * HOUR)
    events.finish(lab.state, "used", lab.now)
    lab.run("b0", "b", min_runtime=2 * HOUR)
    lab.run("b1", "b", min_runtime=2 * HOUR)
    lab.submit("large", "a", gpus=8, replicas=2)
    lab.wait(20 * MINUTE)
    for name in ("b0", "b1"):
        events.finish(lab.state, name, lab.now)
    lab.step()
    assert lab.running() == {"large"}


def test_a_gang_whose_node_breaks_before_it_is_bound_is_told_so() -> None:
    """FS-13: that it waits again is on record, once."""
    lab = Lab(2)
    lab.run("u0", None)
    lab.run("u1", None)
    lab.submit("paid", "a", gpus=8, replicas=2)
    lab.step()
    assert lab.status("paid") is Status.HELD
    events.drain(lab.state, "n0", lab.now)
    made = lab.step()
    assert lab.status("paid") is Status.WAITING
    assert of(made, Release) == [Release(lab.now, "paid", Code.NODES_CHANGED)]
    lab.wait(HOUR)
    assert len(of(lab.decisions, Release)) == 1


def test_who_comes_and_goes_leaves_nothing_behind_in_its_leaf() -> None:
    """What a leaf remembers is bounded by who waits, however many have waited."""
    lab = Lab(1)
    lab.run("held", "b", min_runtime=8 * HOUR)
    lab.submit("first", "a", gpus=8)
    for number in range(1000):
        lab.submit(f"w{number}", "a", gpus=8)
        events.cancel(lab.state, f"w{number}", lab.now)
    assert len(lab.state.budgets["a"].oldest) < 100
    lab.submit("later", "b", gpus=8, submit=1)
    lab.step()
    assert not [made for made in lab.decisions if isinstance(made, Preempt)]
