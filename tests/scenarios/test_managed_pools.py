"""Managed pools: jobs with a budget and no cluster share what a project's quota leaves to budgets (FS-20, VX-24)."""

from typing import Any

import pytest
from google.api_core import exceptions

from app.core.projects import number_of
from tests.fleets import PARENT, gpus, queue, state
from tests.kit import TestWorld, custom_job, worker_pool

METRIC = "aiplatform.googleapis.com/custom_model_training_nvidia_h100_gpus"
POOL = "pool:custom_model_training_nvidia_h100_gpus"


@pytest.fixture
def demo(world: TestWorld) -> TestWorld:
    """Sixteen H100 by quota, and a tree of two teams of the same weight."""
    world.control("PUT", "budgets", json={"budgets": [{"name": f"team-{name}", "weight": 1} for name in "ab"]})
    quota(world, 16)
    return world


def quota(world: TestWorld, value: int | None, metric: str = METRIC) -> Any:
    body = {"name": metric, "value": value, "account": number_of("p1"), "region": "us-central1"}
    return world.http.post(f"{world.endpoint}/_windtunnel/quotas", json=body)


def custom(world: TestWorld, *pools: dict[str, Any], name: str = "train", strategy: str = "", **labels: str) -> str:
    """A job without a cluster; its name."""
    given = {f"windtunnel-{key.replace('_', '-')}": text for key, text in labels.items()}
    job = custom_job(name, *pools, labels=given)
    if strategy:
        job["job_spec"]["scheduling"] = {"strategy": strategy}
    made = world.vertex.create_custom_job(parent=PARENT, custom_job=job)
    world.advance(0)
    return str(made.name)


def work(world: TestWorld, budget: str, replicas: int = 1, name: str = "", seconds: int = 36_000) -> str:
    """Replicas of eight GPUs for ten hours, one of them protected."""
    pools = [gpus(count, 8, RUN_SECONDS=str(seconds)) for count in (1, replicas - 1) if count]
    return custom(world, *pools, name=name or budget, budget=budget, min_runtime="1h")


def test_a_job_with_a_budget_runs_in_the_pool_to_its_end(demo: TestWorld) -> None:
    """FS-20: the scheduler starts it, and it asks for machines as any job of the region does."""
    job = work(demo, "team-a", 2, seconds=3600)
    assert state(demo, job) == "PENDING"
    demo.advance(minutes=30)
    assert state(demo, job) == "RUNNING"
    [row] = demo.control("GET", "workloads")["workloads"]
    assert (row["pool"], row["cluster_arn"], row["status"], row["gpus"], row["replicas"]) == (
        POOL,
        None,
        "running",
        8,
        2,
    )
    demo.advance(hours=1)
    assert (state(demo, job), queue(demo)) == ("SUCCEEDED", [])
    [row] = demo.control("GET", "workloads")["workloads"]
    assert (row["status"], row["reason"], row["funded"]) == ("ended", "finished", True)


def test_the_teams_share_the_pool_and_who_is_over_gives_way_after_its_protection(demo: TestWorld) -> None:
    """FS-5, FS-8, FS-20: the evicted job is QUEUED, its machines are let go, and it runs again in its turn."""
    first, second = work(demo, "team-a", name="first"), work(demo, "team-a", name="second")
    demo.advance(minutes=30)
    other = work(demo, "team-b")
    assert [state(demo, job) for job in (first, second, other)] == ["RUNNING", "RUNNING", "QUEUED"]
    assert queue(demo) == [("team-b", "gpus-protected")]
    demo.advance(minutes=90)
    told = {name: state(demo, job) for name, job in (("first", first), ("second", second), ("team-b", other))}
    assert sorted(told.values()) == ["QUEUED", "RUNNING", "RUNNING"]
    assert told["team-b"] == "RUNNING"
    [waits] = demo.control("GET", "queue")["queue"]
    assert (waits["pool"], waits["budget"], waits["cluster_arn"]) == (POOL, "team-a", None)
    kinds = [one["kind"] for one in demo.control("GET", "decisions", params={"cluster": POOL})["decisions"]]
    assert kinds == ["admit", "admit", "preempt", "requeue", "admit"]
    demo.advance(hours=30)
    assert [state(demo, job) for job in (first, second, other)] == ["SUCCEEDED"] * 3


def test_managed_and_unmanaged_work_draw_on_one_quota(demo: TestWorld) -> None:
    """FS-20: whoever came first has it, unmanaged jobs are never evicted, and their GPUs are no part of the pool."""
    plain = custom(demo, gpus(1, 8, RUN_SECONDS="7200"), name="plain")
    first, second = work(demo, "team-a", name="first"), work(demo, "team-b", name="second")
    assert [state(demo, job) for job in (plain, first, second)] == ["PENDING", "PENDING", "QUEUED"]
    late = custom(demo, gpus(1, 8, RUN_SECONDS="60"), name="late")
    assert state(demo, late) == "QUEUED", "the quota has no room after managed work"
    demo.advance(minutes=30)
    assert state(demo, plain) == "RUNNING"
    demo.vertex.cancel_custom_job(name=second)
    demo.vertex.cancel_custom_job(name=first)
    demo.advance(minutes=1)
    assert [state(demo, job) for job in (plain, first, second)] == ["RUNNING", "CANCELLED", "CANCELLED"]
    assert state(demo, late) in ("PENDING", "RUNNING")


def test_what_unmanaged_jobs_leave_is_given_to_those_who_wait_in_the_pool(demo: TestWorld) -> None:
    """FS-20: the pool grows when an unmanaged job ends, though nothing else happens."""
    custom(demo, gpus(1, 8, RUN_SECONDS="600"), name="plain")
    gang = work(demo, "team-a", 2)
    [waits] = demo.control("GET", "queue")["queue"]
    assert (state(demo, gang), waits["reason"]) == ("QUEUED", "fleet-too-small")
    assert "larger quota" in waits["message"]
    demo.advance(minutes=30)
    assert state(demo, gang) == "RUNNING"


def test_a_quota_that_changes_wakes_the_pool(demo: TestWorld) -> None:
    """CT-4, FS-20: more is used at once; less evicts nobody; without a limit nothing is shared, so it must stay."""
    first, second = work(demo, "team-a", 2, name="first"), work(demo, "team-b", name="second")
    assert [state(demo, job) for job in (first, second)] == ["PENDING", "QUEUED"]
    quota(demo, 24)
    demo.advance(0)
    assert state(demo, second) == "PENDING"
    quota(demo, 0)
    demo.advance(minutes=30)
    assert [state(demo, job) for job in (first, second)] == ["RUNNING", "RUNNING"]
    refused = quota(demo, None)
    assert (refused.status_code, "shares what" in refused.json()["error"]["message"]) == (409, True)


@pytest.mark.parametrize(
    ("pools", "facts", "told"),
    [
        ([gpus(1, 8)], {"strategy": "SPOT"}, "strategy SPOT buys"),
        ([gpus(1, 8)], {"strategy": "FLEX_START"}, "strategy FLEX_START buys"),
        ([worker_pool("g2-standard-4")], {}, "nvidia_l4_gpus, is not limited"),
        ([gpus(1, 8), worker_pool("g2-standard-4")], {}, "Use one model of GPU"),
        ([gpus(1, 8), worker_pool("n1-standard-4")], {}, "cannot wait for .*_cpus besides"),
    ],
)
def test_what_no_pool_can_give_is_refused_in_words(
    demo: TestWorld, pools: list[dict[str, Any]], facts: dict[str, str], told: str
) -> None:
    """FS-20: other ways to buy, a pool of unlimited size, several quotas at once."""
    quota(demo, 1000, METRIC.replace("nvidia_h100_gpus", "cpus"))
    with pytest.raises(exceptions.BadRequest, match=told):
        custom(demo, *pools, budget="team-a", **facts)


def test_a_limit_in_dollars_holds_in_a_pool(demo: TestWorld) -> None:
    """FS-3: a GPU costs what its machine does by the GPU."""
    demo.control(
        "POST", "prices", json={"instance_type": "a3-highgpu-8g", "micro_usd_per_hour": 80_000_000, "region": "*"}
    )
    limit = {"amount": 100_000_000, "unit": "micro-usd"}
    demo.control("PUT", "budgets/team-a/limits", json={"limits": [limit]})
    first, second = work(demo, "team-a", name="first"), work(demo, "team-a", name="second")
    assert [state(demo, job) for job in (first, second)] == ["PENDING", "QUEUED"]
    assert queue(demo) == [("second", "budget-exhausted")]


def test_machines_may_be_out_of_stock_for_a_job_that_the_scheduler_started(demo: TestWorld) -> None:
    """VX-12, FS-20: it has its part of the quota, and waits for machines as any job does."""
    demo.capacity("a3-highgpu-8g", 0, region="us-central1")
    job = work(demo, "team-a")
    demo.advance(minutes=5)
    assert state(demo, job) == "PENDING"
