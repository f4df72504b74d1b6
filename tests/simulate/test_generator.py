"""What the generator promises of every trace: the properties of "How to measure" in the specification."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.core.scheduling.policy import DAY, HOUR, MINUTE
from app.simulate.asking import gang_cap
from app.simulate.demand import claims
from app.simulate.distributions import KALOS, SEREN, WHOLE
from app.simulate.generator import funded_demand, generate
from app.simulate.lab import SHARES, Lab
from app.simulate.mishaps import mishaps
from app.simulate.workloads import Job, Node, Trace

LAB = Lab(warmup=2 * DAY, measured=9 * DAY)
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module", params=SEEDS)
def trace(request: pytest.FixtureRequest) -> Trace:
    return generate(LAB, request.param)


def funded(trace: Trace) -> list[Job]:
    return [job for job in trace.jobs if job.min_runtime]


def test_the_fleet_has_1024_gpus_and_the_tree_15_leaves_on_three_levels(trace: Trace) -> None:
    assert (len(trace.nodes), trace.gpus) == (128, 1024)
    parents = {share.id: share.parent for share in trace.shares}
    leaves = claims(trace.shares)
    assert len(leaves) == 15
    assert all(parents[parents[parents[leaf]]] == "" for leaf in leaves)
    assert abs(sum(leaves.values()) - WHOLE) <= len(leaves)


def test_funded_demand_is_four_fifths_on_average_and_half_to_one_and_a_half_by_the_hour(trace: Trace) -> None:
    demand = sorted(funded_demand(trace))
    hours = len(demand)
    assert hours == 9 * 24
    assert abs(sum(demand) // hours - 800_000) <= 1_000
    assert sum(500_000 <= hour <= 1_500_000 for hour in demand) >= hours * 98 // 100
    assert demand[0] >= 400_000
    assert demand[-1] <= 1_600_000
    assert demand[hours // 20] < 750_000
    assert demand[hours * 19 // 20] > 880_000
    assert demand[-1] > 950_000


def test_leaves_idle_and_burst(trace: Trace) -> None:
    """The demand of most small leaves swings: their fullest day has half as much again as their emptiest, or more."""
    swings = []
    for leaf, claim in claims(trace.shares).items():
        if claim >= 100_000:
            continue
        days = [0] * (trace.ends // DAY)
        for job in funded(trace):
            if job.leaf == leaf:
                for day in range(job.submit // DAY, min(len(days), -(-(job.submit + job.runtime) // DAY))):
                    inside = min(job.submit + job.runtime, (day + 1) * DAY) - max(job.submit, day * DAY)
                    days[day] += job.size * inside
        swings.append(max(days[2:]) * 2 > min(days[2:]) * 3)
    assert sum(swings) >= 9


def test_45_percent_of_the_funded_jobs_are_debugging(trace: Trace) -> None:
    jobs = funded(trace)
    debug = [job for job in jobs if job.debug]
    assert abs(len(debug) * WHOLE // len(jobs) - 450_000) < 25_000
    assert all(job.replicas == 1 and job.size <= 8 for job in debug)
    assert all(job.runtime <= 15 * MINUTE and job.runtime <= job.min_runtime <= 15 * MINUTE for job in debug)
    assert not any(job.min_runtime <= 15 * MINUTE for job in jobs if not job.debug)


def test_sizes_follow_seren_and_kalos_up_to_each_leafs_cap(trace: Trace) -> None:
    parts = claims(trace.shares)
    for leaf in ("pretraining/base/language", "adaptation/tuning/instructions"):
        sizes = [job.size for job in funded(trace) if job.leaf == leaf and not job.debug and job.kind == "batch"]
        cap = gang_cap(LAB, parts[leaf])
        for limit in (1, 2, 4, 8, 16, 32, 64, 128):
            expected = sum(
                share for cluster in (KALOS, SEREN) for size, share in cluster.sizes if min(cap, size) <= limit
            )
            counted = sum(size <= limit for size in sizes) * WHOLE // len(sizes)
            assert abs(counted - expected // 2) < 35_000


def test_no_gang_is_larger_than_its_leaf_can_carry(trace: Trace) -> None:
    parts = claims(trace.shares)
    for job in funded(trace):
        assert job.size <= gang_cap(LAB, parts[str(job.leaf)])
        assert job.size * WHOLE <= parts[str(job.leaf)] * trace.gpus * 3 // 4 or job.size == 1
    assert max(job.size for job in funded(trace)) == 256


def test_gangs_fill_whole_nodes_or_a_part_of_one(trace: Trace) -> None:
    for job in trace.jobs:
        assert job.gpus == 8 if job.replicas > 1 else job.gpus <= 8


def test_gangs_have_most_of_the_gpu_time_beyond_one_node(trace: Trace) -> None:
    """A few jobs in a hundred, and about half of the work."""
    jobs = [job for job in funded(trace) if not job.debug]
    work = sum(job.size * job.runtime for job in jobs)
    gangs = [job for job in jobs if job.size > 8]
    assert len(gangs) * 15 < len(jobs)
    assert 30 * work < 100 * sum(job.size * job.runtime for job in gangs) < 70 * work


def test_requests_are_two_to_three_times_the_supply(trace: Trace) -> None:
    """Funded work as on a fleet without limits, unfunded work until it is withdrawn."""
    outstanding = _outstanding(trace)[trace.begins // HOUR : -1]
    assert sum(2 * trace.gpus <= level <= 3 * trace.gpus for level in outstanding) > len(outstanding) * 9 // 10
    assert 2 * trace.gpus < sum(outstanding) // len(outstanding) < 3 * trace.gpus


def _outstanding(trace: Trace) -> Sequence[int]:
    levels = [0] * (trace.ends // HOUR)
    for job in trace.jobs:
        end = job.submit + job.runtime if job.withdraw is None else job.withdraw
        for hour in range(-(-job.submit // HOUR), min(len(levels), -(-end // HOUR))):
            levels[hour] += job.size
    return levels


def test_unfunded_work_alone_could_fill_what_funded_work_leaves(trace: Trace) -> None:
    work = sum(job.size * job.runtime for job in trace.jobs if not job.min_runtime)
    assert work > trace.gpus * trace.ends * 3 // 10


def test_times_are_whole_seconds_in_order_and_within_the_trace(trace: Trace) -> None:
    submits = [job.submit for job in trace.jobs]
    assert submits == sorted(submits)
    assert submits[0] >= 0
    assert submits[-1] < trace.ends
    for job in trace.jobs:
        assert not any(value % 1000 for value in (job.submit, job.runtime, job.min_runtime, job.withdraw or 0))
    assert len({job.id for job in trace.jobs}) == len(trace.jobs)


def test_no_minimum_runtime_is_longer_than_eight_hours(trace: Trace) -> None:
    """FS-4."""
    assert max(job.min_runtime for job in trace.jobs) == 8 * HOUR


def test_a_seed_gives_one_trace_and_another_seed_another() -> None:
    lab = Lab(nodes=16, warmup=DAY, measured=2 * DAY)
    assert generate(lab, 5) == generate(lab, 5)
    assert generate(lab, 5).jobs != generate(lab, 6).jobs


def test_inflation_raises_every_priority_and_changes_nothing_else() -> None:
    lab = Lab(nodes=16, warmup=DAY, measured=2 * DAY)
    honest, inflated = generate(lab, 5), generate(replace(lab, inflated=True), 5)
    assert Counter(job.priority for job in inflated.jobs) == {2: len(inflated.jobs)}
    assert [replace(job, priority=2) for job in honest.jobs] == list(inflated.jobs)


def test_nodes_break_about_as_often_as_published() -> None:
    """6.5 times in a thousand node-days; 128 nodes for 37 days in each of several seeds."""
    nodes = [Node(f"node-{at}", 8) for at in range(128)]
    counts = [len(mishaps(Lab(), seed, nodes)) for seed in range(20)]
    assert 25 < sum(counts) / len(counts) < 37


def test_the_tree_is_the_documented_one() -> None:
    assert sorted(claims(SHARES).values(), reverse=True)[:2] == [360_000, 140_000]


def test_the_mean_is_met_also_where_small_jobs_do_not_suffice() -> None:
    """A fleet of two nodes for three days, whose large jobs alone may be too many."""
    lab = Lab(nodes=2, warmup=DAY, measured=3 * DAY)
    for seed in range(6):
        demand = funded_demand(generate(lab, seed))
        assert abs(sum(demand) // len(demand) - 800_000) <= 60_000
