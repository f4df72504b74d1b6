"""What is billed, from when to when, and what is not."""

from datetime import UTC, datetime

import pytest

from tests.kit import Running, TestWorld, eks, group, slurm, workers

P5 = "ml.p5.48xlarge"
START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = 10_000
"""Micro-dollars a second at 36,000,000 an hour."""


@pytest.fixture
def priced(world: TestWorld) -> TestWorld:
    for name in (P5, "ml.c5.xlarge"):
        world.control("POST", "prices", json={"instance_type": name, "micro_usd_per_hour": 3600 * SECOND})
    return world


def spans(world: TestWorld, name: str) -> list[tuple[float, float | None, int]]:
    """(start, end, micro-dollars) of each interval of a group, in seconds since the world's start."""
    found = []
    for line in world.bill(intervals=True)["lines"]:
        for one in line["intervals"]:
            if one["group"] == name:
                ends = None if one["ended"] is None else seconds(one["ended"])
                found.append((seconds(one["started"]), ends, one["micro_usd"]))
    return sorted(found, key=lambda span: span[0])


def seconds(moment: str) -> float:
    return (datetime.fromisoformat(moment) - START).total_seconds()


def test_from_the_scripts_start_to_the_beginning_of_termination(priced: TestWorld) -> None:
    """HP-22: `fast`: granted at 1, script from 4; deletion asked at 100 stops the bill at 100, not at 102."""
    priced.sagemaker.create_cluster(**eks(group("a", 1, InstanceType=P5)))
    priced.advance(100)
    priced.sagemaker.delete_cluster(ClusterName="demo")
    priced.advance(60)
    assert spans(priced, "a") == [(4, 100, 96 * SECOND)]


def test_without_a_script_from_the_end_of_the_boot(priced: TestWorld) -> None:
    """HP-22."""
    plain = {key: value for key, value in group("a", 1, InstanceType=P5).items() if key != "LifeCycleConfig"}
    priced.sagemaker.create_cluster(**eks(plain))
    priced.advance(64)
    assert spans(priced, "a") == [(4, None, 60 * SECOND)]
    assert priced.nodes()[0]["InstanceStatus"] == {"Status": "Running"}


def test_a_failed_script_is_charged_and_tried_again(priced: TestWorld) -> None:
    """HP-23, HP-25: the failed run has its own cycle; the next attempt is another instance of the same node."""
    priced.fault("script-failed", group="a", times=1)
    priced.sagemaker.create_cluster(**eks(group("a", 1, InstanceType=P5)))
    priced.advance(60)
    # Granted at 1: script 4-6 fails; retried a second later, at 7: script from 10.
    assert spans(priced, "a") == [(4, 6, 2 * SECOND), (10, None, 50 * SECOND)]
    lines = priced.bill()["lines"]
    assert len({line["logical_id"] for line in lines}) == 1
    assert len({line["instance_id"] for line in lines}) == 2


def test_a_script_that_hangs_is_charged_until_it_is_given_up(priced: TestWorld) -> None:
    """HP-23: 60 s in `fast`."""
    priced.fault("script-hang", group="a", times=1)
    priced.sagemaker.create_cluster(**eks(group("a", 1, InstanceType=P5)))
    priced.advance(70)
    assert spans(priced, "a")[0] == (4, 64, 60 * SECOND)


@pytest.mark.parametrize("effect", ["launch-capacity", "launch-transient", "launch-unhealthy"])
def test_failed_launches_are_free(priced: TestWorld, effect: str) -> None:
    """HP-24: nothing for capacity, for a transient failure, or for a failed health check before the script."""
    priced.fault(effect, group="a")
    priced.sagemaker.create_cluster(**eks(group("a", 3, InstanceType=P5)))
    priced.advance(hours=2)
    assert priced.bill()["lines"] == []
    assert priced.bill()["total_micro_usd"] == 0
    priced.control("DELETE", "faults")
    priced.advance(hours=1)
    assert len(priced.bill()["lines"]) == 3


def test_each_instance_has_its_own_cycle_under_the_clusters_arn(priced: TestWorld) -> None:
    """HP-22, HP-25: real time: the bill grows with the clock; the bill of a deleted cluster stays."""
    priced.sagemaker.create_cluster(**slurm(workers(2)))
    arn = priced.describe()["ClusterArn"]
    priced.advance(60)
    first = priced.bill(cluster=arn)
    assert {line["cluster_arn"] for line in first["lines"]} == {arn}
    assert len(first["lines"]) == 3
    priced.advance(0.25)
    grown = priced.bill(cluster=arn)["total_micro_usd"] - first["total_micro_usd"]
    assert grown == 3 * SECOND // 4
    node = priced.nodes(InstanceGroupNameContains="workers")[0]["InstanceId"]
    priced.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[node])
    priced.advance(10)
    ended = [line for line in priced.bill(cluster=arn)["lines"] if line["ended"] is not None]
    assert [line["instance_id"] for line in ended] == [node]
    priced.sagemaker.delete_cluster(ClusterName="demo")
    priced.advance(10)
    last = priced.bill(cluster=arn)["total_micro_usd"]
    priced.advance(hours=5)
    assert priced.bill(cluster=arn)["total_micro_usd"] == last


def test_a_price_holds_for_an_interval(priced: TestWorld) -> None:
    """CT-5, HP-22: a new price counts from the next interval on."""
    priced.sagemaker.create_cluster(**eks(group("a", 1, InstanceType=P5)))
    priced.advance(10)
    priced.control("POST", "prices", json={"instance_type": P5, "micro_usd_per_hour": 7200 * SECOND})
    priced.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("a", 2, InstanceType=P5)])
    priced.advance(13)
    assert spans(priced, "a") == [(4, None, 19 * SECOND), (13, None, 10 * 2 * SECOND)]


def test_worlds_have_bills_clocks_and_names_of_their_own(service: Running, world: TestWorld) -> None:
    """CT-0: the same names in two worlds are two clusters; one's clock and faults are not the other's."""
    other = service.world(seed=8, profile="realistic", start="2030-06-01T12:00:00Z")
    for one in (world, other):
        one.sagemaker.create_cluster(**eks(group("a", 1)))
    world.advance(60)
    assert world.group("a")["CurrentCount"] == 1
    assert other.group("a")["CurrentCount"] == 0
    assert other.now().startswith("2030-06-01T12:00:00")
    assert other.bill()["lines"] == []
    assert world.describe()["ClusterArn"] != other.describe()["ClusterArn"]
    other.advance(hours=1)
    assert other.group("a")["CurrentCount"] == 1
    assert other.describe()["CreationTime"].year == 2030
    world.control("POST", "reset")
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert other.sagemaker.list_clusters()["ClusterSummaries"] != []
