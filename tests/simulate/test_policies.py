"""What every policy promises, over random traces, tried on each that a simulation may compare with ours."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.simulate.policies import POLICIES
from app.simulate.workloads import Job, Mishap, Share, Trace
from tests.simulate.driving import DAY, HOUR, MINUTE, SECOND, drive, trace_of

BASELINES = sorted(set(POLICIES) - {"budget"})
SHARES = [Share("a", "", 3), Share("b", "", 1), Share("a1", "a", 1), Share("a2", "a", 2), Share("b1", "b", 1)]
HOSTS = 4

quick = settings(max_examples=40, deadline=None)

jobs = st.lists(
    st.builds(
        Job,
        id=st.just(""),
        submit=st.integers(0, 12 * 60).map(lambda minutes: minutes * MINUTE),
        runtime=st.integers(1, 10 * 60).map(lambda minutes: minutes * MINUTE + 7 * SECOND),
        gpus=st.sampled_from([1, 2, 4, 8]),
        replicas=st.integers(1, HOSTS),
        leaf=st.sampled_from(["a1", "a2", "b1", None]),
        min_runtime=st.sampled_from([0, 10 * MINUTE, 8 * HOUR]),
        priority=st.integers(0, 2),
        resumable=st.booleans(),
    ),
    max_size=30,
)
mishaps = st.lists(
    st.builds(
        Mishap,
        at=st.integers(0, 24 * 60).map(lambda minutes: minutes * MINUTE),
        node=st.integers(0, HOSTS - 1).map(lambda number: f"n{number}"),
        gone=st.booleans(),
        repair=st.integers(10, 600).map(lambda minutes: minutes * MINUTE),
    ),
    max_size=4,
)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    named = [
        Job(f"j{number}", each.submit, each.runtime, each.gpus, each.replicas, each.leaf, *_rest(each))
        for number, each in enumerate(draw(jobs))
    ]
    return trace_of(named, HOSTS, SHARES, draw(mishaps))


def _rest(each: Job) -> tuple[int, int, bool]:
    return each.min_runtime, each.priority, each.resumable


@pytest.mark.parametrize("policy", BASELINES)
@quick
@given(trace=traces())
def test_gangs_are_whole_and_everything_that_could_run_gets_done(policy: str, trace: Trace) -> None:
    """No host over-allocated, none that drains taken, a second pass idle (the driver looks); nobody starves."""
    driver = drive(policy, trace)
    assert not driver.waiting
    assert not driver.running
    ended = {outcome.job for _, outcome in driver.told if hasattr(outcome, "requeued") and not outcome.requeued}
    assert set(driver.done) | ended == {job.id for job in trace.jobs}
    assert driver.now < 20 * DAY


@pytest.mark.parametrize("policy", BASELINES)
@quick
@given(trace=traces())
def test_protection_holds_where_it_is_promised(policy: str, trace: Trace) -> None:
    """What a policy told as protected until then is stopped by a lost node alone."""
    assert drive(policy, trace).broken_protections == []


@pytest.mark.parametrize("policy", BASELINES)
@settings(max_examples=10, deadline=None)
@given(trace=traces())
def test_the_same_trace_twice_is_the_same_run(policy: str, trace: Trace) -> None:
    """FS-16: byte for byte."""
    assert drive(policy, trace).told == drive(policy, trace).told
