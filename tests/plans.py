"""Training plans in tests: searched, bought, and at the moments that matter."""

from datetime import datetime, timedelta
from typing import Any

from tests.kit import TestWorld

P5 = "ml.p5.48xlarge"
PAID = timedelta(minutes=2)
"""So long after it was bought a plan's payment is through."""


def search(client: Any, count: int = 2, hours: int = 24, **facts: Any) -> list[dict[str, Any]]:
    """Offerings for HyperPod; keyword arguments are members of the request."""
    request = {
        "InstanceType": P5,
        "InstanceCount": count,
        "DurationHours": hours,
        "TargetResources": ["hyperpod-cluster"],
    } | facts
    found: list[dict[str, Any]] = client.search_training_plan_offerings(**request)["TrainingPlanOfferings"]
    return found


def buy(client: Any, name: str = "plan-1", offer: dict[str, Any] | None = None, **facts: Any) -> str:
    """Buy the first offering of a search, or `offer`; the plan's ARN."""
    offer = offer or search(client, **facts)[0]
    bought = client.create_training_plan(TrainingPlanName=name, TrainingPlanOfferingId=offer["TrainingPlanOfferingId"])
    arn: str = bought["TrainingPlanArn"]
    return arn


def extend(client: Any, arn: str, hours: int = 24) -> list[dict[str, Any]]:
    """Buy more time; all the plan's extensions."""
    offered = client.search_training_plan_offerings(TrainingPlanArn=arn, DurationHours=hours)
    [one] = offered["TrainingPlanExtensionOfferings"]
    bought: list[dict[str, Any]] = client.extend_training_plan(
        TrainingPlanExtensionOfferingId=one["TrainingPlanExtensionOfferingId"]
    )["TrainingPlanExtensions"]
    return bought


def plan(client: Any, name: str = "plan-1") -> dict[str, Any]:
    described: dict[str, Any] = client.describe_training_plan(TrainingPlanName=name)
    return described


def advance_to(world: TestWorld, moment: datetime, seconds: float = 0) -> None:
    """Go to so many seconds after the moment."""
    now = datetime.fromisoformat(world.now())
    world.advance((moment - now).total_seconds() + seconds)


def exercise(call: Any, world: TestWorld) -> None:
    """Every operation on training plans once, in every state, through `call(operation, **request)`."""
    offer = call(
        "SearchTrainingPlanOfferings",
        UltraServerType="ml.u-p6e-gb200x72",
        UltraServerCount=2,
        DurationHours=120,
        TargetResources=["hyperpod-cluster"],
        StartTimeAfter=datetime.fromisoformat(world.now()),
    )["TrainingPlanOfferings"][-1]
    call("SearchTrainingPlanOfferings", InstanceType=P5, InstanceCount=64, EndTimeBefore="2027-01-01T00:00:00Z")
    request = {"TrainingPlanName": "ultra", "TrainingPlanOfferingId": offer["TrainingPlanOfferingId"]}
    arn = call("CreateTrainingPlan", **request, SpareInstanceCountPerUltraServer=2)["TrainingPlanArn"]
    moments = [
        0,
        60,
        *(block[when] for block in offer["ReservedCapacityOfferings"] for when in ("StartTime", "EndTime")),
    ]
    for moment in moments:
        world.advance(moment) if isinstance(moment, int) else advance_to(world, moment)
        told = call("DescribeTrainingPlan", TrainingPlanName="ultra")
        call("ListTrainingPlans", SortBy="Status")
        for one in told["ReservedCapacitySummaries"]:
            call("DescribeReservedCapacity", ReservedCapacityArn=one["ReservedCapacityArn"])
            call("ListUltraServersByReservedCapacity", ReservedCapacityArn=one["ReservedCapacityArn"], MaxResults=1)
        for more in call("SearchTrainingPlanOfferings", TrainingPlanArn=arn)["TrainingPlanExtensionOfferings"][:1]:
            if told["Status"] == "Scheduled":
                call("ExtendTrainingPlan", TrainingPlanExtensionOfferingId=more["TrainingPlanExtensionOfferingId"])
        call("DescribeTrainingPlanExtensionHistory", TrainingPlanArn=arn)
