"""Training plans through boto3: what is searched can be bought, lives by the clock, and can be extended."""

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.kit import Running, TestWorld
from tests.plans import P5, advance_to, buy, extend, plan, search
from tests.wire.sagemaker.refused import IN_USE, INVALID, LIMIT, NOT_FOUND, refusal

START = datetime(2026, 1, 1, tzinfo=UTC)
SERVERS = {"UltraServerType": "ml.u-p6e-gb200x72", "DurationHours": 24, "TargetResources": ["hyperpod-cluster"]}


def states(world: TestWorld, name: str = "plan-1") -> tuple[str, str]:
    """The plan's status as DescribeTrainingPlan and as ListTrainingPlans tell it, which agree, and its reserved
    capacity's."""
    told = plan(world.sagemaker, name)
    [listed] = [
        one
        for one in world.sagemaker.list_training_plans(Filters=[{"Name": "Status", "Value": told["Status"]}])[
            "TrainingPlanSummaries"
        ]
        if one["TrainingPlanName"] == name
    ]
    [one] = told["ReservedCapacitySummaries"]
    reserved = world.sagemaker.describe_reserved_capacity(ReservedCapacityArn=one["ReservedCapacityArn"])
    assert listed["Status"] == told["Status"] and reserved["Status"] == one["Status"]
    return told["Status"], one["Status"]


def test_a_search_says_what_it_was_asked(world: TestWorld) -> None:
    """Type, count, exact duration, one target, a fee in dollars, times within what was asked."""
    end = START + timedelta(days=9)
    found = search(world.sagemaker, 4, 48, StartTimeAfter=START, EndTimeBefore=end)
    assert found
    for offer in found:
        [block] = offer["ReservedCapacityOfferings"]
        assert offer["TargetResources"] == ["hyperpod-cluster"] and offer["DurationHours"] == 48
        assert (offer["RequestedStartTimeAfter"], offer["RequestedEndTimeBefore"]) == (START, end)
        assert (block["InstanceType"], block["InstanceCount"], block["ReservedCapacityType"]) == (P5, 4, "Instance")
        assert START < block["StartTime"] < block["EndTime"] <= end and f"{block['EndTime']:%H:%M}" == "11:30"
        assert (offer["UpfrontFee"], offer["CurrencyCode"]) == ("8787.36", "USD"), "1098.42 a day"
    assert search(world.sagemaker, 4, 48, StartTimeAfter=START, EndTimeBefore=end) == found


@pytest.mark.parametrize(
    "facts",
    [
        {"count": 3},
        {"count": 128},
        {"hours": 25},
        {"hours": 183 * 24},
        {"count": 0},
        {"StartTimeAfter": START + timedelta(days=57)},
        {"StartTimeAfter": datetime(9999, 12, 31, 23, 59, tzinfo=UTC)},
        {"EndTimeBefore": START},
        {"UltraServerType": "ml.u-p6e-gb200x72"},
        {"UltraServerType": "ml.u-none"},
        {"InstanceType": "ml.p6e-gb200.36xlarge", "count": 4},
    ],
    ids=str,
)
def test_what_is_not_offered_is_an_empty_list(world: TestWorld, facts: dict[str, Any]) -> None:
    assert search(world.sagemaker, **facts) == []


def test_a_search_without_words(world: TestWorld) -> None:
    """Every type that plans offer, and every target by itself."""
    found = world.sagemaker.search_training_plan_offerings()["TrainingPlanOfferings"]
    assert len({one["ReservedCapacityOfferings"][0]["InstanceType"] for one in found}) == 11
    assert {tuple(one["TargetResources"]) for one in found} == {
        ("training-job",), ("hyperpod-cluster",), ("endpoint",), ("studio-apps",)
    }  # fmt: skip


def test_the_life_of_a_plan(world: TestWorld) -> None:
    """HP operations: Pending until it is paid, Scheduled, Active from its start, Expired from its end."""
    offer = search(world.sagemaker)[0]
    arn = buy(world.sagemaker, offer=offer)
    assert arn == "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan-1"
    told = plan(world.sagemaker, arn)
    block = offer["ReservedCapacityOfferings"][0]
    assert (told["StartTime"], told["EndTime"]) == (block["StartTime"], block["EndTime"])
    assert (told["UpfrontFee"], told["TotalInstanceCount"]) == (offer["UpfrontFee"], 2)
    assert (told["AvailableInstanceCount"], told["InUseInstanceCount"]) == (0, 0)
    assert states(world) == ("Pending", "Pending")
    world.advance(120)
    assert states(world) == ("Scheduled", "Scheduled")
    assert plan(world.sagemaker)["AvailableInstanceCount"] == 2
    advance_to(world, block["StartTime"], -0.001)
    assert states(world) == ("Scheduled", "Scheduled")
    world.advance(0.001)
    assert states(world) == ("Active", "Active")
    advance_to(world, block["EndTime"], -0.001)
    assert states(world) == ("Active", "Active")
    world.advance(0.001)
    assert states(world) == ("Expired", "Expired")
    assert plan(world.sagemaker)["AvailableInstanceCount"] == 0


def test_a_payment_that_fails(world: TestWorld) -> None:
    """CT-3: `internal-error` on CreateTrainingPlan; the plan is Failed for good, and another one can be bought."""
    world.fault("internal-error", operation="CreateTrainingPlan", times=1)
    buy(world.sagemaker)
    assert states(world) == ("Pending", "Pending")
    world.advance(120)
    assert states(world) == ("Failed", "Failed")
    assert "payment" in plan(world.sagemaker)["StatusMessage"]
    [hit] = world.control("GET", "faults/hits")["hits"]
    assert hit["effect"] == "internal-error"
    buy(world.sagemaker, "plan-2")
    world.advance(120)
    assert states(world, "plan-2") == ("Scheduled", "Scheduled")


def test_an_extension_moves_the_end(world: TestWorld) -> None:
    """The new time begins where the plan ended; the history has both, and the bill of each."""
    arn = buy(world.sagemaker)
    world.advance(120)
    before = plan(world.sagemaker)
    [first] = extend(world.sagemaker, arn, 48)
    assert first["StartDate"] == before["EndTime"] and first["EndDate"] == before["EndTime"] + timedelta(hours=48)
    assert (first["Status"], first["PaymentStatus"], first["UpfrontFee"]) == ("Scheduled", "Completed", "4393.68")
    assert len(extend(world.sagemaker, arn, 24)) == 2
    after = plan(world.sagemaker)
    assert after["EndTime"] == before["EndTime"] + timedelta(hours=72) and after["DurationHours"] == 96
    assert after["ReservedCapacitySummaries"][0]["EndTime"] == after["EndTime"]
    advance_to(world, before["EndTime"])
    assert states(world) == ("Active", "Active")
    history = world.sagemaker.describe_training_plan_extension_history(TrainingPlanArn=arn)["TrainingPlanExtensions"]
    assert [one["Status"] for one in history] == ["Active", "Scheduled"]
    advance_to(world, after["EndTime"])
    history = world.sagemaker.describe_training_plan_extension_history(TrainingPlanArn=arn)["TrainingPlanExtensions"]
    assert [one["Status"] for one in history] == ["Expired", "Expired"]
    assert states(world) == ("Expired", "Expired")


def test_an_extension_whose_payment_fails_moves_nothing(world: TestWorld) -> None:
    """CT-3: and the same offering can be bought again."""
    arn = buy(world.sagemaker)
    world.advance(120)
    before = plan(world.sagemaker)["EndTime"]
    world.fault("internal-error", operation="ExtendTrainingPlan", times=1)
    [failed] = extend(world.sagemaker, arn)
    assert (failed["Status"], failed["PaymentStatus"]) == ("Failed", "Failed")
    assert plan(world.sagemaker)["EndTime"] == before
    assert [one["Status"] for one in extend(world.sagemaker, arn)] == ["Failed", "Scheduled"]
    assert plan(world.sagemaker)["EndTime"] == before + timedelta(days=1)


def test_ultra_servers_of_a_plan(world: TestWorld) -> None:
    """Whole UltraServers, each with its spares; nothing is known of their health before they are there."""
    [offer, *_] = world.sagemaker.search_training_plan_offerings(**SERVERS, UltraServerCount=12)[
        "TrainingPlanOfferings"
    ]
    block = offer["ReservedCapacityOfferings"][0]
    assert (block["ReservedCapacityType"], block["UltraServerCount"], block["InstanceCount"]) == (
        "UltraServer",
        12,
        216,
    )
    buy(world.sagemaker, offer=offer)
    world.advance(120)
    told = plan(world.sagemaker)
    assert (told["TotalUltraServerCount"], told["TotalInstanceCount"]) == (12, 216)
    assert (told["AvailableSpareInstanceCount"], told["AvailableInstanceCount"]) == (12, 204), (
        "one spare each by default"
    )
    arn = told["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    summary = world.sagemaker.describe_reserved_capacity(ReservedCapacityArn=arn)["UltraServerSummary"]
    assert (summary["UltraServerCount"], summary["AvailableSpareInstanceCount"]) == (12, 12)
    pages = world.sagemaker.get_paginator("list_ultra_servers_by_reserved_capacity").paginate(ReservedCapacityArn=arn)
    sizes = [page["UltraServers"] for page in pages]
    assert [len(page) for page in sizes] == [10, 2], "the model's default of ten a page"
    servers = [one for page in sizes for one in page]
    assert len({one["UltraServerId"] for one in servers}) == 12
    assert {one["HealthStatus"] for one in servers} == {"Insufficient-Data"}
    advance_to(world, block["StartTime"])
    [one, *_] = world.sagemaker.list_ultra_servers_by_reserved_capacity(ReservedCapacityArn=arn)["UltraServers"]
    assert (one["HealthStatus"], one["TotalInstanceCount"], one["AvailableInstanceCount"]) == ("OK", 18, 17)


def test_single_instances_have_no_ultra_servers(world: TestWorld) -> None:
    buy(world.sagemaker)
    arn = plan(world.sagemaker)["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    assert world.sagemaker.list_ultra_servers_by_reserved_capacity(ReservedCapacityArn=arn)["UltraServers"] == []


def test_offerings_that_are_none(world: TestWorld, service: Running) -> None:
    """Made up, made to another account, of another world's seed, or stale: ResourceNotFound that says which."""
    client = world.sagemaker
    offer = search(client)[0]
    request = {"TrainingPlanName": "p", "TrainingPlanOfferingId": offer["TrainingPlanOfferingId"]}
    strangers = world.client(account="222233334444"), world.client(region="us-east-1"), service.world(seed=8).sagemaker
    for other in strangers:
        code, told = refusal(other.create_training_plan, **request)
        assert code == NOT_FOUND and "never made" in told
    code, _ = refusal(client.create_training_plan, TrainingPlanName="p", TrainingPlanOfferingId="tpo-1")
    assert code == NOT_FOUND
    advance_to(world, offer["ReservedCapacityOfferings"][0]["StartTime"])
    code, told = refusal(client.create_training_plan, **request)
    assert code == NOT_FOUND and "no longer" in told
    assert client.list_training_plans()["TrainingPlanSummaries"] == []


def test_extensions_that_are_none(world: TestWorld) -> None:
    """Unknown, bought already, or of a plan that is over."""
    client = world.sagemaker
    arn = buy(client)
    assert client.search_training_plan_offerings(TrainingPlanArn=arn)["TrainingPlanExtensionOfferings"] == [], "unpaid"
    world.advance(120)
    offered = client.search_training_plan_offerings(TrainingPlanArn=arn)["TrainingPlanExtensionOfferings"]
    assert [one["DurationHours"] // 24 for one in offered] == [1, 2, 3, 4, 5, 6, 7, 14]
    ids = [one["TrainingPlanExtensionOfferingId"] for one in offered]
    client.extend_training_plan(TrainingPlanExtensionOfferingId=ids[0])
    for stale in (*ids, "tpeo-1", "", "x" * 9000):
        assert refusal(client.extend_training_plan, TrainingPlanExtensionOfferingId=stale)[0] == NOT_FOUND
    advance_to(world, plan(client)["EndTime"])
    assert client.search_training_plan_offerings(TrainingPlanArn=arn)["TrainingPlanExtensionOfferings"] == []
    unknown = arn.replace("plan-1", "plan-9")
    assert refusal(client.search_training_plan_offerings, TrainingPlanArn=unknown)[0] == INVALID


def test_unknown_names_and_arns(world: TestWorld) -> None:
    """Each operation that reads one plan or reserved capacity declares ResourceNotFound."""
    client = world.sagemaker
    arn = buy(client)
    reserved = plan(client)["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    stranger = world.client(account="222233334444")
    for name in ("nobody", arn.replace("plan-1", "nobody"), arn.replace("us-west-2", "us-east-1")):
        assert refusal(client.describe_training_plan, TrainingPlanName=name)[0] == NOT_FOUND
    assert refusal(stranger.describe_training_plan, TrainingPlanName=arn)[0] == NOT_FOUND
    assert refusal(stranger.describe_training_plan_extension_history, TrainingPlanArn=arn)[0] == NOT_FOUND
    for other in (reserved + "0", arn.replace("training-plan/plan-1", "reserved-capacity/")):
        assert refusal(client.describe_reserved_capacity, ReservedCapacityArn=other)[0] == NOT_FOUND
        assert refusal(client.list_ultra_servers_by_reserved_capacity, ReservedCapacityArn=other)[0] == NOT_FOUND
    assert refusal(stranger.describe_reserved_capacity, ReservedCapacityArn=reserved)[0] == NOT_FOUND


def test_a_name_is_taken_once(world: TestWorld) -> None:
    """ResourceInUse, of two callers at once too; the same offering may be bought under another name (chosen)."""
    offer = search(world.sagemaker)[0]
    request = {"TrainingPlanOfferingId": offer["TrainingPlanOfferingId"]}

    def create(_: int) -> bool:
        try:
            world.sagemaker.create_training_plan(TrainingPlanName="plan-1", **request)
        except world.sagemaker.exceptions.ResourceInUse:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(8))) == 1
    assert refusal(world.sagemaker.create_training_plan, TrainingPlanName="plan-1", **request)[0] == IN_USE
    buy(world.sagemaker, "plan-2", offer)


def test_quotas_of_plans(world: TestWorld) -> None:
    """CT-4: plans in the region, and instances of a type in them; a search above the quota is refused too."""
    name = f"Number of {P5} instances in reserved capacity across training plans per Region"
    world.control("POST", "quotas", json={"name": name, "value": 4})
    world.control("POST", "quotas", json={"name": "Number of training plans per Region", "value": 2})
    offer = search(world.sagemaker, 4)[0]
    code, told = refusal(search, client=world.sagemaker, count=8)
    assert code == LIMIT and name in told
    buy(world.sagemaker, "a", search(world.sagemaker, 2)[0])
    request = {"TrainingPlanName": "b", "TrainingPlanOfferingId": offer["TrainingPlanOfferingId"]}
    assert refusal(world.sagemaker.create_training_plan, **request) == (
        LIMIT,
        told.replace("utilization of 0 and a request delta of 8", "utilization of 2 and a request delta of 4"),
    )
    buy(world.sagemaker, "b", search(world.sagemaker, 2)[0])
    more = search(world.sagemaker, 1, InstanceType="ml.p4d.24xlarge")[0]["TrainingPlanOfferingId"]
    code, told = refusal(world.sagemaker.create_training_plan, TrainingPlanName="c", TrainingPlanOfferingId=more)
    assert code == LIMIT and "Number of training plans per Region" in told
    advance_to(world, max(plan(world.sagemaker, each)["EndTime"] for each in "ab"))
    buy(world.sagemaker, "c", count=4)


@pytest.mark.parametrize("spares", [18, 10**9])
def test_too_many_spares(world: TestWorld, spares: int) -> None:
    offer = world.sagemaker.search_training_plan_offerings(**SERVERS, UltraServerCount=1)["TrainingPlanOfferings"][0]
    request = {"TrainingPlanName": "p", "TrainingPlanOfferingId": offer["TrainingPlanOfferingId"]}
    code, told = refusal(world.sagemaker.create_training_plan, **request, SpareInstanceCountPerUltraServer=spares)
    assert code == INVALID and "at most 17" in told
    single = {"TrainingPlanName": "p", "TrainingPlanOfferingId": search(world.sagemaker)[0]["TrainingPlanOfferingId"]}
    code, told = refusal(world.sagemaker.create_training_plan, **single, SpareInstanceCountPerUltraServer=1)
    assert code == INVALID and "UltraServers" in told


def test_tags_of_plans_and_reserved_capacity(world: TestWorld) -> None:
    """Given with the purchase or later; unknown ARNs are refused as those of others are."""
    client = world.sagemaker
    offer = search(client)[0]["TrainingPlanOfferingId"]
    first = [{"Key": "team", "Value": "a"}]
    arn = client.create_training_plan(TrainingPlanName="p", TrainingPlanOfferingId=offer, Tags=first)["TrainingPlanArn"]
    assert client.list_tags(ResourceArn=arn)["Tags"] == first
    reserved = plan(client, "p")["ReservedCapacitySummaries"][0]["ReservedCapacityArn"]
    for owner in (arn, reserved):
        client.add_tags(ResourceArn=owner, Tags=[{"Key": "more", "Value": ""}])
        client.delete_tags(ResourceArn=owner, TagKeys=["team"])
        assert client.list_tags(ResourceArn=owner)["Tags"] == [{"Key": "more", "Value": ""}]
        for other in (owner + "0", owner.replace("us-west-2", "us-west-1")):
            assert refusal(client.list_tags, ResourceArn=other)[0] == INVALID
            assert refusal(client.add_tags, ResourceArn=other, Tags=first)[0] == INVALID
            assert refusal(client.delete_tags, ResourceArn=other, TagKeys=["a"])[0] == INVALID
    bad = {"TrainingPlanName": "q", "TrainingPlanOfferingId": offer, "Tags": [{"Key": "aws:x", "Value": ""}]}
    assert refusal(client.create_training_plan, **bad)[0] == INVALID


def test_the_next_moment_of_a_plan_is_on_the_agenda(world: TestWorld) -> None:
    """CT-1: an advance to the next instant stops where a plan's status changes, and nowhere else."""
    offer = search(world.sagemaker, hours=120)[-1]
    buy(world.sagemaker, offer=offer)
    blocks = offer["ReservedCapacityOfferings"]
    assert len(blocks) == 2
    stops = []
    for _ in range(5):
        done = world.control("POST", "clock/advance", json={"next": True})
        assert done["counts"] == {"instants": 1, "status_changes": 1}
        stops.append(datetime.fromisoformat(world.now()))
    moments = [block[when] for block in blocks for when in ("StartTime", "EndTime")]
    assert stops == [START + timedelta(seconds=1), *moments]
    assert world.control("GET", "clock")["next_due"] is None


def test_a_fork_has_the_plans(world: TestWorld, service: Running) -> None:
    """CT-2: the fork goes its own way; what the source was offered can be bought in it, for it has the same seed."""
    offer = search(world.sagemaker)[1]
    arn = buy(world.sagemaker)
    world.advance(120)
    made = world.http.post(f"{world.base}/_windtunnel/worlds", json={"name": f"{world.name}-f", "fork_of": world.name})
    assert made.is_success, made.text
    fork = TestWorld(world.base, f"{world.name}-f")
    service.worlds.append(fork)
    extend(fork.sagemaker, arn)
    buy(fork.sagemaker, "plan-2", offer)
    assert plan(fork.sagemaker)["EndTime"] == plan(world.sagemaker)["EndTime"] + timedelta(days=1)
    assert refusal(world.sagemaker.describe_training_plan, TrainingPlanName="plan-2")[0] == NOT_FOUND


def test_the_bill_shows_what_was_paid_upfront(world: TestWorld) -> None:
    """CT-6: plans and extensions by themselves, at the moment they were bought, in no cluster's bill and no total."""
    assert "upfront" not in world.bill()
    world.fault("internal-error", operation="CreateTrainingPlan", times=1)
    buy(world.sagemaker, "declined")
    arn = buy(world.sagemaker)
    world.advance(120)
    extend(world.sagemaker, arn)
    bill = world.bill()
    assert [(one["training_plan_arn"], one["extension"], one["micro_usd"]) for one in bill["upfront"]] == [
        (arn, None, 2_196_840_000),
        (arn, 1, 2_196_840_000),
    ]
    assert {one["price_evidence"] for one in bill["upfront"]} == {"recorded"}
    assert bill["total_micro_usd"] == 0
    later = world.bill(**{"from": "2026-01-01T00:01:00Z"})["upfront"]
    assert [one["extension"] for one in later] == [1]
    written = world.http.get(f"{world.endpoint}/_windtunnel/bills", params={"format": "csv"}).text
    rows = list(csv.DictReader(io.StringIO(written)))
    assert [(row["training_plan_arn"], row["micro_usd"], row["cluster_arn"]) for row in rows] == [
        (arn, "2196840000", ""),
        (arn, "2196840000", ""),
    ]
