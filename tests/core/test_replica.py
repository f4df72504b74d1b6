"""A worker's table, and that nothing is ever left over, whatever befalls a job."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.faults import Rule
from app.core.metering import settle
from app.core.replica import AT_WORK, BILLED, IDLE, STAGES, Replica, Worker, next_due
from app.core.timings import PROFILES
from tests.core.builders import FAST, at
from tests.core.work import Play, job, replica
from tests.jobs import gpus, pool

FIELDS = set(Replica.__dataclass_fields__)
DECIDED = {Worker.WAITING: {Worker.PROVISIONING, Worker.STARTING}, Worker.STOPPED: {Worker.WAITING}}
"""What no stage does: a machine or a node is granted, the job is retried."""


def test_names_are_unique() -> None:
    assert [name for name, times in Counter(stage.name for stage in STAGES).items() if times > 1] == []


def test_marks_are_facts_and_delays_are_in_every_profile() -> None:
    for stage in STAGES:
        assert {*stage.marks, *stage.clears} <= FIELDS, stage.name
        assert all(stage.delay in timings.delays for timings in PROFILES.values()), stage.name


def test_every_state_is_reached() -> None:
    reached = {Worker.WAITING}
    while True:
        further = {stage.target for stage in STAGES if stage.source in reached}
        further = further.union(*(DECIDED.get(state, set()) for state in reached))
        if further <= reached:
            break
        reached |= further
    assert reached == set(Worker)


def test_every_state_but_the_last_has_a_stop_which_wins() -> None:
    for state in set(Worker) - {Worker.STOPPING, Worker.STOPPED}:
        first = next(stage for stage in STAGES if stage.source is state)
        assert "stop_at" in first.marks
        assert first.target is (Worker.STOPPED if state is Worker.WAITING else Worker.STOPPING)
    assert {stage.source for stage in STAGES} == set(Worker) - {Worker.STOPPED}


def test_who_works_is_billed_and_who_idles_is_not() -> None:
    assert AT_WORK < BILLED
    assert not BILLED & IDLE


@pytest.mark.parametrize(
    ("one", "due"),
    [
        (replica(), None),
        (replica(launch_after=at(3)), at(3)),
        (replica(launch_after=at(3), stop_at=at(2)), at(2)),
        (replica(status=Worker.PROVISIONING, boot_after=at(5)), at(7)),
        (replica(status=Worker.RUNNING, done_at=at(9), exit_at=at(8)), at(8)),
        (replica(status=Worker.DONE), None),
        (replica(status=Worker.STOPPING), at(1)),
    ],
)
def test_when_a_worker_needs_looking_at(one: Replica, due: Any) -> None:
    assert next_due(one, FAST.delays) == due


effects = st.sampled_from(("worker-exit", "worker-oom", "vm-maintenance", "spot-preemption", "stockout"))
rules = st.builds(
    lambda effect, code, **facts: Rule(effect=effect, code=code if effect == "worker-exit" else None, **facts),
    effects,
    st.sampled_from(("1", "0", "139", "transient")),
    rule_id=st.uuids().map(str),
    probability=st.integers(100_000, 1_000_000),
    seconds=st.sampled_from((0, 1, 5, 40)),
    times=st.integers(1, 8) | st.none(),
)
pools = st.lists(st.sampled_from((pool(2), gpus(2), pool(1, RUN_SECONDS="30"))), max_size=3)


@given(
    pools,
    st.lists(rules, max_size=4),
    st.sampled_from(("STANDARD", "SPOT")),
    st.none() | st.integers(0, 100),
    st.sampled_from(list(PROFILES)),
)
@settings(max_examples=60, deadline=None)
def test_whatever_befalls_a_job_it_ends_and_leaves_nothing(
    given: list[dict[str, Any]], befalls: list[Rule], strategy: str, cancelled: int | None, profile: str
) -> None:
    """VX-23, CT-4: each machine is given back, each interval is closed, and they chain without overlap."""
    play = Play(
        job(pool(RUN_SECONDS="100"), *given, scheduling={"strategy": strategy}), *befalls, timings=PROFILES[profile]
    )
    if cancelled is not None:
        play.until(at(cancelled)).cancel()
    play.until(at(hours=48))
    assert play.job.ended_at is not None
    assert {one.status for one in play.replicas} == {Worker.STOPPED}
    assert all(one.zone is None and one.billed_from is None for one in play.replicas)
    assert play.around.stock.deltas == {}
    over, new = settle(play.opened, play.closed)
    assert over == []
    ends: dict[str, Any] = {}
    for one in new:
        assert one.ended_at is not None
        assert one.previous_end == ends.get(one.logical_id)
        assert one.started_at >= (one.previous_end or one.started_at)
        ends[one.logical_id] = one.ended_at
