from collections.abc import Callable

import pytest

from app.core.scheduling.policy import HOUR
from app.simulate.attacks import chain, declare, feint, flood, inflate, split, squat
from app.simulate.workloads import Job, Node, Share, Trace

SECOND = 1000
JOBS = (
    Job("a-long", 0, 20 * HOUR, gpus=8, replicas=2, leaf="a", min_runtime=HOUR),
    Job("b-long", 0, 20 * HOUR, gpus=8, leaf="b", min_runtime=2 * HOUR, priority=2),
    Job("a-debug", HOUR, 60 * SECOND, gpus=1, leaf="a", min_runtime=900 * SECOND, debug=True),
    Job("b-debug", HOUR, 60 * SECOND, gpus=1, leaf="b", min_runtime=900 * SECOND, debug=True),
    Job("a-free", 2 * HOUR, 30 * HOUR, gpus=4, leaf="a"),
)
NODES = tuple(Node(f"n{at}", 8) for at in range(4))
TRACE = Trace("two", JOBS, NODES, (Share("a", "", 1), Share("b", "", 1)), begins=0, ends=48 * HOUR)


def work(trace: Trace, leaf: str) -> int:
    return sum(job.size * job.runtime for job in trace.jobs if job.leaf == leaf)


def by_id(trace: Trace) -> dict[str, Job]:
    return {job.id: job for job in trace.jobs}


def test_inflation_writes_the_highest_priority_for_the_leaf_alone() -> None:
    assert [job.priority for job in inflate(TRACE, ("a",)).jobs if job.leaf == "a"] == [2, 2, 2]
    assert by_id(inflate(TRACE, ("a",)))["b-debug"].priority == 0
    assert {job.priority for job in inflate(TRACE).jobs} == {2}


def test_declaring_eight_hours_leaves_unfunded_work_unfunded() -> None:
    """FS-18: declaring 8 h for everything."""
    assert [job.min_runtime // HOUR for job in declare(TRACE, ("a",)).jobs if job.leaf == "a"] == [8, 8, 0]
    assert by_id(declare(TRACE, ("a",)))["b-long"].min_runtime == 2 * HOUR


def test_a_chain_cuts_long_jobs_into_protected_parts_of_the_same_work() -> None:
    """FS-18: killing and resubmitting to renew protection."""
    chained = chain(TRACE, "a")
    parts = [job for job in chained.jobs if job.id.startswith("a-long")]
    assert [(job.submit // HOUR, job.runtime // HOUR, job.min_runtime // HOUR) for job in parts] == [
        (0, 8, 8),
        (8, 8, 8),
        (16, 4, 4),
    ]
    assert work(chained, "a") == work(TRACE, "a")
    assert by_id(chained)["a-free"] == by_id(TRACE)["a-free"]
    assert by_id(chained)["b-long"] == by_id(TRACE)["b-long"]


def test_splitting_gives_one_job_for_each_gpu() -> None:
    """FS-18: splitting into many small workloads."""
    parts = [job for job in split(TRACE, "a").jobs if job.id.startswith("a-long")]
    assert len(parts) == 16
    assert {job.size for job in parts} == {1}
    assert work(split(TRACE, "a"), "a") == work(TRACE, "a")


def test_squatting_parks_work_and_takes_the_debugging_out_of_the_queue() -> None:
    squatted = squat(TRACE, "a", 20)
    parked = [job for job in squatted.jobs if job.id.startswith("squat")]
    assert [job.size for job in parked] == [8, 8, 4]
    assert {job.runtime for job in parked} == {48 * HOUR}
    assert "a-debug" not in by_id(squatted)
    assert "b-debug" in by_id(squatted)


def test_a_flood_comes_within_one_second_with_minimum_runtimes_of_one_second() -> None:
    """FS-18: flooding one pass with one-second minimum runtimes."""
    burst = [job for job in flood(TRACE, "a", 500, 3 * HOUR).jobs if job.id.startswith("flood")]
    assert len(burst) == 500
    assert {(job.submit, job.min_runtime, job.size) for job in burst} == {(3 * HOUR, SECOND, 1)}


def test_a_feint_queues_giant_gangs_and_withdraws_them() -> None:
    """FS-18: queueing a giant gang to empty a fleet by reservation and withdrawing it."""
    gangs = [job for job in feint(TRACE, "a", 4, HOUR, 12 * HOUR).jobs if job.id.startswith("feint")]
    assert [job.submit // HOUR for job in gangs] == [0, 12, 24, 36]
    assert all(job.withdraw == job.submit + HOUR and job.size == 32 for job in gangs)


@pytest.mark.parametrize(
    "attack",
    [
        inflate,
        declare,
        lambda trace: chain(trace, "a"),
        lambda trace: split(trace, "a"),
        lambda trace: squat(trace, "a", 16),
        lambda trace: flood(trace, "a", 5, HOUR),
        lambda trace: feint(trace, "a", 2, HOUR, 6 * HOUR),
    ],
)
def test_every_attack_leaves_a_trace_in_order_with_ids_of_its_own(attack: Callable[[Trace], Trace]) -> None:
    attacked = attack(attack(TRACE)) if attack in (inflate, declare) else attack(TRACE)
    submits = [job.submit for job in attacked.jobs]
    assert submits == sorted(submits)
    assert len(by_id(attacked)) == len(attacked.jobs)
    assert (attacked.nodes, attacked.shares, attacked.ends) == (TRACE.nodes, TRACE.shares, TRACE.ends)
