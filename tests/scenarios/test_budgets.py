"""Budgets at work on clusters: who may name them, what they pay for, and when that is used up (FS-1, FS-3, FS-20)."""

import json
from typing import Any

import pytest
from google.api_core import exceptions
from typer.testing import CliRunner

from app.cli import app
from tests.fleets import gpu_group, gpus, queue, state, submit, told
from tests.kit import TestWorld, eks


@pytest.fixture
def demo(world: TestWorld) -> TestWorld:
    """Two clusters of one node each, and a tree: research is split into a and b, product is whole."""
    for name in ("demo", "other"):
        world.sagemaker.create_cluster(**eks(gpu_group(1), name=name))
    world.advance(minutes=10)
    tree = [("research", None, 3), ("team-a", "research", 1), ("team-b", "research", 1), ("product", None, 1)]
    wanted = [{"name": name, "parent": parent, "weight": weight} for name, parent, weight in tree]
    world.control("PUT", "budgets", json={"budgets": wanted})
    return world


def limit(world: TestWorld, name: str, amount: int, **facts: str) -> None:
    world.control("PUT", f"budgets/{name}/limits", json={"limits": [{"amount": amount, **facts}]})


def work(world: TestWorld, cluster: str, budget: str = "team-a", hours: int = 1, **labels: str) -> str:
    """Eight GPUs for ten hours, so many of them protected."""
    pool = gpus(1, 8, RUN_SECONDS="36000")
    return submit(world, pool, name=cluster, cluster=cluster, budget=budget, min_runtime=f"{hours}h", **labels)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({"budget": "team-c"}, "Did you mean team-b or team-a|Did you mean team-a or team-b"),
        ({"budget": "research"}, "split into others.*team-a, team-b"),
        ({"min_runtime": "1h"}, "which a budget pays for"),
    ],
)
def test_a_job_names_a_leaf_of_the_tree(demo: TestWorld, labels: dict[str, str], told: str) -> None:
    """VX-24, FS-20: once the world has budgets; on a cluster and in a region's pool."""
    for where in ({}, {"cluster": "demo"}):
        with pytest.raises(exceptions.BadRequest, match=told):
            submit(demo, gpus(1, 8), **({"cluster": "demo"} | where | labels))


def test_without_budgets_the_labels_are_but_labels(world: TestWorld) -> None:
    """FS-20: such a job is unfunded."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    assert state(world, work(world, "demo", "anybody")) == "PENDING"
    [row] = rows(world, "workload")
    assert (row["leaf"], row["funded"]) == (None, False)


def rows(world: TestWorld, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(world.export())["tables"][table]
    return found


def test_a_budget_with_work_is_neither_split_nor_deleted(demo: TestWorld) -> None:
    """FS-1: use belongs to leaves; when the work has ended nothing is in the way."""
    job = work(demo, "demo")
    for method, path, body in (
        ("DELETE", "budgets/team-a", None),
        ("POST", "budgets", {"name": "below", "parent": "team-a", "weight": 1}),
        ("PATCH", "budgets/product", {"parent": "team-a"}),
    ):
        answer = demo.http.request(method, f"{demo.endpoint}/_windtunnel/{path}", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "Conflict")
    demo.vertex.cancel_custom_job(name=job)
    demo.advance(minutes=10)
    demo.control("DELETE", "budgets/team-a")


def test_a_limit_is_one_for_all_clusters(demo: TestWorld) -> None:
    """FS-3: eight GPU-hours are one protected job's, wherever it runs; a limit above binds those below."""
    limit(demo, "research", 8)
    first, second = work(demo, "demo"), work(demo, "other", "team-b")
    assert [state(demo, job) for job in (first, second)] == ["PENDING", "QUEUED"]
    assert queue(demo) == [("other", "budget-exhausted")]
    demo.advance(minutes=30)
    demo.vertex.cancel_custom_job(name=first)
    demo.advance(minutes=10)
    assert state(demo, second) == "QUEUED", "four GPU-hours are left, and it asks for eight"
    limit(demo, "research", 13)
    demo.advance(0)
    assert state(demo, second) == "PENDING"


def test_a_new_month_has_the_whole_limit_again(demo: TestWorld) -> None:
    """FS-3: at its first instant, UTC, though nothing else happens then."""
    limit(demo, "team-a", 8, period="month")
    first, second = work(demo, "demo"), work(demo, "other")
    demo.advance(hours=12)
    assert (state(demo, first), state(demo, second)) == ("SUCCEEDED", "QUEUED")
    demo.control("POST", "clock/advance", json={"to": "2026-01-31T23:59:59Z"})
    assert state(demo, second) == "QUEUED"
    demo.control("POST", "clock/advance", json={"to": "2026-02-01T00:00:00Z"})
    assert state(demo, second) == "PENDING"
    assert str(told(demo, second).create_time).startswith("2026-01-01")


def test_what_is_spent_after_protection_is_charged_until_the_limit(demo: TestWorld) -> None:
    """FS-3: two jobs of eight GPUs spend 24 GPU-hours in one and a half; then both go on, unfunded."""
    limit(demo, "team-a", 24)
    for cluster in ("demo", "other"):
        work(demo, cluster)
    demo.advance(hours=4)
    held = [(row["status"], row["funded"]) for row in rows(demo, "workload")]
    assert held == [("running", False)] * 2
    charged = [row for row in rows(demo, "segment") if row["funded"]]
    assert sum(row["gpus"] * (row["ended"] - row["started"]) for row in charged) == 24 * 3_600_000
    assert len({row["ended"] for row in charged}) == 1


def test_a_budget_burns_down(demo: TestWorld) -> None:
    """CT-10: what was charged, is reserved and is left over all clusters, as hours and dollars, and day by day."""
    demo.control("POST", "prices", json={"instance_type": "ml.p5.48xlarge", "micro_usd_per_hour": 80_000_000})
    limits = [{"amount": 100, "period": "all"}, {"amount": 500_000_000, "unit": "micro-usd", "period": "month"}]
    demo.control("PUT", "budgets/research/limits", json={"limits": limits})
    demo.control("POST", "clock/advance", json={"to": "2026-01-01T23:00:00Z"})
    for cluster, budget in (("demo", "team-a"), ("other", "team-b")):
        work(demo, cluster, budget, hours=2)
    demo.advance(minutes=90)
    told = demo.control("GET", "budgets/research")
    hour = 3_600_000
    hours, money = told["limits"]
    assert (hours["charged"], hours["reserved"], hours["left"]) == (24 * hour, 8 * hour, 68 * hour)
    assert (money["charged"], money["reserved"], money["left"]) == (240_000_000, 80_000_000, 180_000_000)
    assert (hours["per_hour"], hours["met_at"], hours["ends_at"]) == (16 * hour, "2026-01-02T05:15:00.000Z", None)
    assert (money["per_hour"], money["met_at"]) == (160_000_000, "2026-01-02T02:07:30.000Z")
    assert money["ends_at"] == "2026-02-01T00:00:00.000Z"
    charged = {day["day"]: day["gpu_milliseconds"] for day in told["days"]}
    assert (charged["2026-01-01"], charged["2026-01-02"], len(charged)) == (16 * hour, 8 * hour, 30)
    demo.advance(hours=12)
    again = demo.control("GET", "budgets/research")
    charged = {day["day"]: day["gpu_milliseconds"] for day in again["days"]}
    assert charged["2026-01-01"] == 16 * hour, "what was open has closed since"
    assert sum(charged.values()) == again["limits"][0]["charged"]
    shown = CliRunner().invoke(app, ["budget", "show", "research", "--world", demo.name, "--endpoint", demo.base])
    assert "2026-01-01       16.00" in shown.output
    assert demo.http.get(f"{demo.endpoint}/_windtunnel/budgets/nobody").status_code == 404


def test_the_tree_tells_each_budgets_share_of_a_cluster(demo: TestWorld) -> None:
    """CT-10, FS-2: U, K, E and the ratio; what is borrowed beyond the claim, unfunded or waits."""
    work(demo, "demo", hours=2)
    work(demo, "demo", "team-b")
    demo.advance(hours=1)
    told = demo.control("GET", "budgets", params={"cluster": "demo"})
    assert {one["cluster_arn"].rpartition(":")[2].partition("/")[0] for one in told["shares"]} == {"cluster"}
    shares = {one["name"]: one for one in told["shares"]}
    hour = 3_600_000
    one, two = shares["team-a"], shares["team-b"]
    assert (one["claimed_gpus"], one["funded_gpus"], one["borrowed_gpus"], one["waiting_gpus"]) == (3, 8, 5, 0)
    assert (two["claimed_gpus"], two["funded_gpus"], two["borrowed_gpus"], two["waiting_gpus"]) == (3, 0, 0, 8)
    assert (one["turn"], two["turn"], shares["product"]["turn"]) == (2, 1, 1), "who has had less is first"
    assert one["committed"] == 8 * hour
    assert shares["research"]["committed"] == 8 * hour
    assert one["owed"] == two["owed"] == 7 * 24 * 3 * hour, "three eighths of eight GPUs, for the whole window"
    assert one["used"] - two["used"] == 8 * hour + 3 * hour - 3 * hour
    assert float(one["ratio"]) == pytest.approx((one["used"] + one["committed"]) / one["owed"], abs=0.0005)
    shown = CliRunner().invoke(
        app, ["budget", "list", "--cluster", "demo", "--world", demo.name, "--endpoint", demo.base]
    )
    assert "  team-a" in shown.output
    assert one["ratio"] in shown.output
    again = demo.control("GET", "budgets", params={"cluster": "other"})
    assert all(share["funded_gpus"] == 0 for share in again["shares"])
    assert demo.http.get(f"{demo.endpoint}/_windtunnel/budgets?cluster=nothing").status_code == 404
