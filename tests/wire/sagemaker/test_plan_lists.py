"""ListTrainingPlans and DescribeTrainingPlanExtensionHistory: filters, sorts and pages."""

from datetime import timedelta
from typing import Any

import pytest

from tests.kit import TestWorld
from tests.plans import advance_to, buy, extend, plan, search
from tests.wire.sagemaker.refused import INVALID, refusal


def names(answer: dict[str, Any]) -> list[str]:
    return [one["TrainingPlanName"] for one in answer["TrainingPlanSummaries"]]


@pytest.fixture
def many(world: TestWorld) -> TestWorld:
    """Plans c (Active), a (Scheduled), b (Failed), d (Pending), in order of their starts but for a and b."""
    offers = search(world.sagemaker)
    buy(world.sagemaker, "c", offers[0])
    buy(world.sagemaker, "a", offers[2])
    world.fault("internal-error", operation="CreateTrainingPlan", times=1)
    buy(world.sagemaker, "b", offers[1])
    advance_to(world, offers[0]["ReservedCapacityOfferings"][0]["StartTime"])
    latest = offers[2]["ReservedCapacityOfferings"][0]["StartTime"] + timedelta(seconds=1)
    buy(world.sagemaker, "d", search(world.sagemaker, StartTimeAfter=latest)[0])
    return world


def test_plans_are_sorted_and_filtered(many: TestWorld) -> None:
    """HP-W7: by start unless asked otherwise; every filter, and filters together."""
    lists = many.sagemaker.list_training_plans
    assert names(lists()) == ["c", "b", "a", "d"]
    assert names(lists(SortOrder="Descending")) == ["d", "a", "b", "c"]
    assert names(lists(SortBy="TrainingPlanName")) == ["a", "b", "c", "d"]
    assert names(lists(SortBy="Status")) == ["c", "b", "d", "a"], "Active, Failed, Pending, Scheduled"
    status = lambda *values: [{"Name": "Status", "Value": value} for value in values]  # noqa: E731
    assert names(lists(Filters=status("Active"))) == ["c"]
    assert names(lists(Filters=status("Failed", "Pending"))) == ["b", "d"]
    assert names(lists(Filters=status("Nonsense"))) == []
    start = plan(many.sagemaker, "b")["StartTime"]
    assert names(lists(StartTimeAfter=start)) == ["a", "d"]
    assert names(lists(StartTimeBefore=start)) == ["c"]
    assert names(lists(StartTimeAfter=start - timedelta(seconds=1), Filters=status("Failed"))) == ["b"]
    assert names(many.client(account="222233334444").list_training_plans()) == []


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
@pytest.mark.parametrize(
    "facts", [{}, {"SortBy": "TrainingPlanName"}, {"SortBy": "Status", "SortOrder": "Descending"}], ids=str
)
def test_plans_by_pages(many: TestWorld, size: int, facts: dict[str, str]) -> None:
    """HP-W7, RL-11: pages of any size join to the whole."""
    pages = many.sagemaker.get_paginator("list_training_plans").paginate(**facts, MaxResults=size)
    joined = [name for page in pages for name in names(page)]
    assert joined == names(many.sagemaker.list_training_plans(**facts)) and len(joined) == 4


def test_history_by_pages(world: TestWorld) -> None:
    """HP-W7: oldest first; a forged token is refused."""
    arn = buy(world.sagemaker)
    world.advance(120)
    for _ in range(5):
        extend(world.sagemaker, arn)
    history = world.sagemaker.get_paginator("describe_training_plan_extension_history")
    whole = world.sagemaker.describe_training_plan_extension_history(TrainingPlanArn=arn)["TrainingPlanExtensions"]
    assert len(whole) == 5 and whole == sorted(whole, key=lambda one: one["StartDate"])
    for size in (1, 2, 5, 100):
        pages = list(history.paginate(TrainingPlanArn=arn, MaxResults=size))
        assert [one for page in pages for one in page["TrainingPlanExtensions"]] == whole
    for call in ("describe_training_plan_extension_history", "list_training_plans"):
        facts = {"TrainingPlanArn": arn} if "history" in call else {}
        assert refusal(getattr(world.sagemaker, call), **facts, NextToken="x")[0] == INVALID
