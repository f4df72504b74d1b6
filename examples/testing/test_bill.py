"""What a cluster costs, and that our own report of it agrees with the bill."""

from decimal import Decimal
from typing import Any

from platform_module import Platform, ensure, is_ready

P5 = "ml.p5.48xlarge"


def test_an_hour_of_two_nodes(world: Any, sagemaker: Any) -> None:
    world.price(P5, "55.04")
    ensure(sagemaker, Platform("research", workers=2))
    world.advance_until(lambda: is_ready(sagemaker, "research"), limit="1h")
    before = world.bill(by="group", cluster="research")
    world.advance("1h")
    after = world.bill(by="group", cluster="research")
    spent = {line["group"]: line["micro_usd"] for line in after.lines}
    had = {line["group"]: line["micro_usd"] for line in before.lines}
    assert Decimal(spent["workers"] - had["workers"]) / 1_000_000 == 2 * Decimal("55.04")


def test_nothing_is_paid_for_a_node_that_never_came(world: Any, sagemaker: Any) -> None:
    world.capacity(P5, 0)
    ensure(sagemaker, Platform("research", workers=2))
    world.advance("2h")
    assert {line["instance_type"] for line in world.bill(by="type").lines} == {"ml.c5.xlarge"}


def test_cost_explorer_tells_the_same(world: Any, sagemaker: Any) -> None:
    ensure(sagemaker, Platform("research", workers=2))
    world.advance("3h")
    costs = world.boto3("ce").get_cost_and_usage(
        TimePeriod={"Start": "2026-01-01", "End": "2026-01-02"}, Granularity="DAILY", Metrics=["UnblendedCost"]
    )
    told = Decimal(costs["ResultsByTime"][0]["Total"]["UnblendedCost"]["Amount"])
    assert told == world.bill(by="account").usd
