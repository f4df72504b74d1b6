"""GetCostAndUsage through a real client (CT-6)."""

import re
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError

from app.wire import cost_explorer
from tests.kit import Running, TestWorld, login, slurm, workers

DAY = {"Start": "2026-01-31", "End": "2026-02-01"}
TWO_MONTHS = {"Start": "2026-01-01", "End": "2026-03-01"}


@pytest.fixture
def billed(service: Running) -> TestWorld:
    """Two hours of a tagged cluster, the second in February, in one region; a bare one in another."""
    world = service.world(start="2026-01-31T23:00:00Z")
    world.sagemaker.create_cluster(**slurm(login(), workers(3)), Tags=[{"Key": "team", "Value": "ml"}])
    world.client(region="us-east-1").create_cluster(**slurm(workers(1), name="east"))
    world.advance(hours=2)
    return world


def ask(world: TestWorld, **query: Any) -> list[dict[str, Any]]:
    """All results, page by page."""
    asked = {"TimePeriod": TWO_MONTHS, "Granularity": "DAILY", "Metrics": ["UnblendedCost"]} | query
    client, results = world.client(service="ce", region="us-east-1"), []
    while True:
        answer = client.get_cost_and_usage(**asked)
        results += answer["ResultsByTime"]
        if "NextPageToken" not in answer:
            return results
        asked["NextPageToken"] = answer["NextPageToken"]


def micro(amount: str) -> int:
    scaled = Decimal(amount).scaleb(6)
    assert scaled == int(scaled)
    return int(scaled)


def total(results: list[dict[str, Any]]) -> int:
    return sum(micro(each["Total"]["UnblendedCost"]["Amount"]) for each in results)


def by_key(results: list[dict[str, Any]]) -> dict[tuple[str, ...], int]:
    sums: dict[tuple[str, ...], int] = {}
    for group in (group for each in results for group in each["Groups"]):
        key = tuple(group["Keys"])
        sums[key] = sums.get(key, 0) + micro(group["Metrics"]["UnblendedCost"]["Amount"])
    return sums


@pytest.mark.parametrize(
    ("granularity", "period"),
    [
        ("DAILY", TWO_MONTHS),
        ("MONTHLY", TWO_MONTHS),
        ("MONTHLY", {"Start": "2026-01-15", "End": "2026-02-02"}),
        ("HOURLY", {"Start": "2026-01-31T00:00:00Z", "End": "2026-02-02T00:00:00Z"}),
    ],
)
def test_every_granularity_sums_to_the_bill(billed: TestWorld, granularity: str, period: dict[str, str]) -> None:
    """CT-6: the same figures, to the micro-dollar."""
    results = ask(billed, Granularity=granularity, TimePeriod=period)
    assert total(results) == billed.bill()["total_micro_usd"]


def test_a_month_is_the_bill_of_that_month(billed: TestWorld) -> None:
    """CT-6: the end is exclusive."""
    january, february = ask(billed, Granularity="MONTHLY")
    cut = "2026-02-01T00:00:00Z"
    assert january["TimePeriod"] == {"Start": "2026-01-01", "End": "2026-02-01"}
    assert total([january]) == billed.bill(to=cut)["total_micro_usd"]
    assert february["Estimated"]
    assert not january["Estimated"]


@pytest.mark.parametrize(
    ("dimension", "by", "field"), [("INSTANCE_TYPE", "type", "instance_type"), ("LINKED_ACCOUNT", "account", "account")]
)
def test_groups_are_the_lines_of_the_bill(billed: TestWorld, dimension: str, by: str, field: str) -> None:
    """CT-6."""
    found = by_key(ask(billed, GroupBy=[{"Type": "DIMENSION", "Key": dimension}]))
    assert found == {(line[field],): line["micro_usd"] for line in billed.bill(by=by)["lines"]}


def test_other_dimensions_and_tags(billed: TestWorld) -> None:
    """CT-6: what is not tagged is under an empty value, as AWS shows it."""
    whole = billed.bill()["total_micro_usd"]
    tagged = sum(line["micro_usd"] for line in billed.bill(cluster="demo")["lines"])
    assert by_key(ask(billed, GroupBy=[{"Type": "DIMENSION", "Key": "SERVICE"}])) == {("Amazon SageMaker",): whole}
    assert by_key(ask(billed, GroupBy=[{"Type": "TAG", "Key": "team"}])) == {
        ("team$",): whole - tagged,
        ("team$ml",): tagged,
    }
    pairs = by_key(
        ask(billed, GroupBy=[{"Type": "DIMENSION", "Key": "REGION"}, {"Type": "DIMENSION", "Key": "USAGE_TYPE"}])
    )
    assert ("us-east-1", "USE1-Cluster:ml.p5.48xlarge") in pairs
    assert sum(pairs.values()) == whole


def test_filters(billed: TestWorld) -> None:
    """CT-6: And, Or, Not, Dimensions and Tags."""
    whole = billed.bill()["total_micro_usd"]
    east = {"Dimensions": {"Key": "REGION", "Values": ["us-east-1"]}}
    gpu = {
        "Dimensions": {"Key": "INSTANCE_TYPE", "Values": ["ml.P5"], "MatchOptions": ["STARTS_WITH", "CASE_INSENSITIVE"]}
    }
    bare = {"Tags": {"Key": "team", "MatchOptions": ["ABSENT"]}}
    team = {"Tags": {"Key": "team", "Values": ["ml", "web"]}}
    parts = {name: total(ask(billed, Filter=each)) for name, each in {"east": east, "bare": bare, "team": team}.items()}
    assert parts["east"] == parts["bare"]
    assert parts["bare"] + parts["team"] == whole
    assert total(ask(billed, Filter={"Not": east})) == whole - parts["east"]
    assert total(ask(billed, Filter={"Or": [east, team]})) == whole
    both = total(ask(billed, Filter={"And": [east, gpu]}))
    assert 0 < both < parts["east"]


def test_usage_is_in_hours_and_every_cost_is_the_same(billed: TestWorld) -> None:
    metrics = [*cost_explorer.COSTS, "UsageQuantity", "NormalizedUsageAmount"]
    for day in ask(billed, Metrics=metrics):
        shown = day["Total"]
        assert {shown[name]["Amount"] for name in cost_explorer.COSTS} == {shown["UnblendedCost"]["Amount"]}
        assert shown["NormalizedUsageAmount"] == {"Amount": "0", "Unit": "N/A"}
    (result,) = ask(billed, Metrics=["UsageQuantity"], TimePeriod=DAY)
    hours = Decimal(result["Total"]["UsageQuantity"]["Amount"])
    milliseconds = sum(line["milliseconds"] for line in billed.bill(to="2026-02-01T00:00:00Z")["lines"])
    assert abs(hours - Decimal(milliseconds) / 3_600_000) < Decimal("1e-9")


def test_an_account_sees_only_its_own(billed: TestWorld) -> None:
    """RL-22."""
    client = billed.client(service="ce", account="999988887777")
    answer = client.get_cost_and_usage(TimePeriod=DAY, Granularity="DAILY", Metrics=["UnblendedCost"])
    assert answer["ResultsByTime"][0]["Total"]["UnblendedCost"] == {"Amount": "0", "Unit": "USD"}


def test_pages_are_whole_and_tokens_are_checked(billed: TestWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """HP-W7."""
    whole = ask(billed)
    monkeypatch.setattr(cost_explorer, "PAGE_ROWS", 10)
    assert ask(billed) == whole
    client = billed.client(service="ce")
    asked = {"TimePeriod": TWO_MONTHS, "Granularity": "DAILY", "Metrics": ["UnblendedCost"]}
    token = client.get_cost_and_usage(**asked)["NextPageToken"]
    with pytest.raises(client.exceptions.RequestChangedException):
        client.get_cost_and_usage(**asked | {"Metrics": ["BlendedCost"]}, NextPageToken=token)
    for forged in ("x", token[:-4], "é", "MTox"):
        with pytest.raises(client.exceptions.InvalidNextTokenException):
            client.get_cost_and_usage(**asked, NextPageToken=forged)


def nested(depth: int) -> dict[str, Any]:
    expression: dict[str, Any] = {"Tags": {"Key": "a", "Values": ["b"]}}
    for _ in range(depth):
        expression = {"Not": expression}
    return expression


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"TimePeriod": {"Start": "2026-02-01", "End": "2026-02-01"}}, "should be before end date"),
        ({"TimePeriod": {"Start": "2026-02-02", "End": "2026-02-03"}}, "after the current date"),
        ({"TimePeriod": {"Start": "2026-02-01", "End": "2026-03-02"}}, "end date past the beginning of next month"),
        ({"TimePeriod": {"Start": "2026-02-30", "End": "2026-03-01"}}, "is no date"),
        ({"TimePeriod": {"Start": "2026-01-31T00:00:00Z", "End": "2026-02-01"}}, "yyyy-MM-dd"),
        ({"Granularity": "HOURLY", "TimePeriod": {"Start": "2026-01-01", "End": "2026-01-02"}}, "14 days"),
        ({"TimePeriod": {"Start": "1990-01-01", "End": "2026-02-01"}}, "more than 4000 parts"),
        ({"Metrics": ["ListCost"]}, "Metric ListCost is not emulated"),
        ({"Metrics": []}, "Metrics must name at least one"),
        ({"GroupBy": [{"Type": "DIMENSION", "Key": "AZ"}]}, "GroupBy DIMENSION AZ is not emulated"),
        ({"GroupBy": [{"Type": "COST_CATEGORY", "Key": "x"}]}, "is not emulated"),
        ({"GroupBy": [{"Type": "TAG", "Key": str(n)} for n in range(3)]}, "at most two"),
        ({"GroupBy": [{"Type": "TAG", "Key": "a"}] * 2}, "same key twice"),
        ({"Filter": {}}, "exactly one root"),
        ({"Filter": nested(1) | nested(0)}, "exactly one root"),
        ({"Filter": nested(30)}, "deep"),
        ({"Filter": {"And": [nested(0)]}}, "at least two"),
        ({"Filter": {"CostCategories": {"Key": "x", "Values": ["y"]}}}, "not emulated"),
        ({"Filter": {"Dimensions": {"Key": "TENANCY", "Values": ["x"]}}}, "Dimension TENANCY is not emulated"),
        ({"Filter": {"Dimensions": {"Key": "REGION"}}}, "need Values"),
    ],
)
def test_refusals_say_why(billed: TestWorld, query: dict[str, Any], told: str) -> None:
    with pytest.raises(ClientError, match=re.escape(told)) as refused:
        ask(billed, **query)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_an_unknown_billing_view(world: TestWorld) -> None:
    client = world.client(service="ce")
    view = "arn:aws:billing::111122223333:billingview/"
    asked = {
        "TimePeriod": {"Start": "2026-01-01", "End": "2026-01-02"},
        "Granularity": "DAILY",
        "Metrics": ["BlendedCost"],
    }
    client.get_cost_and_usage(**asked, BillingViewArn=f"{view}primary")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.get_cost_and_usage(**asked, BillingViewArn=f"{view}custom-1")
