"""HP-30: ScheduledUpdateConfig, by which the clock begins what UpdateClusterSoftware would."""

from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, classic, eks, group, slurm, workers

P5 = "ml.p5.48xlarge"
SUNDAYS = "cron(0 2 ? * SUN *)"
FIRST, SECOND = "2026-01-04T02:00:00Z", "2026-01-11T02:00:00Z"
"""The first Sundays of a world that begins on Thursday, 2026-01-01."""
SCHEDULED = "InstanceGroup workers in Cluster demo has been scheduled for UpdateClusterSoftware to latest."
NOT_SCHEDULED = "Failed to schedule UpdateClusterSoftware for IG workers in Cluster demo."


def scheduled(expression: str = SUNDAYS, **facts: Any) -> dict[str, Any]:
    return {"ScheduledUpdateConfig": {"ScheduleExpression": expression, **facts}}


def rolling(count: int, wait: int = 0) -> dict[str, Any]:
    policy = {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": count}}
    return {"DeploymentConfig": {"RollingUpdatePolicy": policy, "WaitIntervalInSeconds": wait}}


def publish(world: TestWorld, version: str = "1.2.0") -> None:
    world.control("POST", "images", json={"version": version})


def advance_to(world: TestWorld, instant: str) -> dict[str, Any]:
    done = world.control("POST", "clock/advance", json={"to": instant})
    assert done["settled"], done
    return done


def told(world: TestWorld, name: str = "workers") -> list[str]:
    return [event["Description"] for event in world.events(InstanceGroupName=name)]


def versions(world: TestWorld, cluster: str = "demo") -> set[str]:
    return {node["CurrentImageReleaseVersion"] for node in world.nodes(cluster)}


def shown(world: TestWorld, name: str = "workers") -> tuple[str, str | None]:
    found = world.group(name)
    return found["Status"], found.get("SoftwareUpdateStatus")


def made(world: TestWorld, count: int = 4, **facts: Any) -> None:
    world.sagemaker.create_cluster(**eks(group("workers", count, InstanceType=P5, **(scheduled() | facts))))
    world.advance(minutes=1)


def change(world: TestWorld, count: int = 4, **facts: Any) -> None:
    groups = [group("workers", count, InstanceType=P5, **facts)]
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=groups)


def test_it_begins_by_the_clock(world: TestWorld) -> None:
    """HP-30: at the moment that the expression names, with the group's DeploymentConfig."""
    made(world, **scheduled(**rolling(2, wait=600)))
    assert world.group("workers")["ScheduledUpdateConfig"]["ScheduleExpression"] == SUNDAYS
    publish(world)
    world.advance(0)
    assert world.control("GET", "clock")["next_due"] == FIRST.replace("Z", ".000Z")
    advance_to(world, "2026-01-04T01:59:59Z")
    assert shown(world) == ("InService", None)
    world.advance(1)
    assert shown(world) == ("SystemUpdating", "InProgress")
    assert world.group("workers")["ActiveSoftwareUpdateConfig"]["WaitIntervalInSeconds"] == 600
    world.advance(minutes=5)
    assert versions(world) == {"1.1.0", "1.2.0"}
    world.advance(minutes=15)
    assert shown(world) == ("InService", "Succeeded")
    assert versions(world) == {"1.2.0"}
    begun = [event for event in world.events(InstanceGroupName="workers") if event["Description"] == SCHEDULED]
    assert [event["EventTime"].isoformat() for event in begun] == ["2026-01-04T02:00:00+00:00"]
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using Rolling strategy." in told(world)


def test_nothing_newer_is_no_occasion(world: TestWorld) -> None:
    """HP-30: an occurrence with nothing to install is passed over in silence, however often it comes."""
    made(world)
    before = told(world)
    assert world.control("GET", "clock")["next_due"] is None
    advance_to(world, "2026-01-11T02:00:01Z")
    assert told(world) == before
    assert shown(world) == ("InService", None)
    publish(world)
    world.advance(minutes=1)
    assert shown(world) == ("InService", None), "an occurrence is at its moment, not after it"
    advance_to(world, "2026-01-18T03:00:00Z")
    assert shown(world) == ("InService", "Succeeded")
    assert told(world).count(SCHEDULED) == 1


def test_ten_years_of_sundays_cost_nothing(world: TestWorld) -> None:
    """CT-1, HP-30: without a new release no pass is made; with one a year, some for each."""
    made(world)
    done = advance_to(world, "2036-01-01T00:00:00Z")
    assert done["counts"].get("passes", 0) == 0
    publish(world)
    done = advance_to(world, "2046-01-01T00:00:00Z")
    assert versions(world) == {"1.2.0"}
    assert done["counts"]["passes"] < 15


def test_who_is_busy_waits_for_the_next_time(world: TestWorld) -> None:
    """HP-30: the group cannot be updated at the moment; that is told, and the next occurrence counts."""
    made(world)
    publish(world)
    advance_to(world, "2026-01-04T01:30:00Z")
    world.sagemaker.update_cluster_software(ClusterName="demo", **rolling(1, wait=1800))
    advance_to(world, "2026-01-04T02:00:00Z")
    publish(world, "1.3.0")
    failed = next(event for event in world.events() if event["Description"] == NOT_SCHEDULED)
    assert failed["EventLevel"] == "Error"
    details = world.sagemaker.describe_cluster_event(ClusterName="demo", EventId=failed["EventId"])["EventDetails"]
    reason = details["EventDetails"]["EventMetadata"]["InstanceGroupScaling"]["FailureMessage"]
    assert "'workers' of cluster demo is in SystemUpdating state" in reason
    world.advance(hours=3)
    assert versions(world) == {"1.2.0"}
    advance_to(world, "2026-01-11T02:05:00Z")
    assert versions(world) == {"1.3.0"}
    assert (told(world).count(NOT_SCHEDULED), told(world).count(SCHEDULED)) == (1, 2)


def test_a_minimum_that_is_waited_for(world: TestWorld) -> None:
    """HP-19, HP-30: a group that is Updating takes no update."""
    world.capacity(P5, 4)
    made(world)
    publish(world)
    advance_to(world, "2026-01-04T01:00:00Z")
    change(world, 6, MinInstanceCount=6, **scheduled())
    advance_to(world, "2026-01-04T02:00:00Z")
    assert shown(world)[0] == "Updating"
    assert told(world).count(NOT_SCHEDULED) == 1
    advance_to(world, "2026-01-11T02:05:00Z")
    assert versions(world) == {"1.2.0"}


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("rate(1 day)", "is no cron expression. Give cron"),
        ("0 2 ? * SUN *", "is no cron expression"),
        ("cron(0 2 ? * SUN)", "has 5 fields and must have 6"),
        ("cron(0  2 ? * SUN *)", "has 7 fields"),
        ("cron(60 2 ? * SUN *)", "Minutes '60' must be 0 to 59"),
        ("cron(*/5 2 ? * SUN *)", "Minutes '\\*/5' must be"),
        ("cron(0 24 ? * SUN *)", "Hours '24' must be 0 to 23"),
        ("cron(0 2 * * ? *)", "Day-of-month '\\*' must be 1 to 31"),
        ("cron(0 2 32 * ? *)", "Day-of-month '32'"),
        ("cron(0 2 1 JAN ? *)", "Month 'JAN' must be 1 to 12"),
        ("cron(0 2 ? * SUN#2 *)", "Day-of-week 'SUN#2' must be MON to SUN, 1 .Monday. to 7, 1#2"),
        ("cron(0 2 ? * 8 *)", "Day-of-week '8'"),
        ("cron(0 2 ? * sun *)", "Day-of-week 'sun'"),
        ("cron(0 2 ? * SUN 1999)", "Year '1999' must be 2020 to 2099"),
        ("cron(0 2 ? * ? *)", "exactly one of Day-of-month and Day-of-week"),
        ("cron(0 2 1 * MON *)", "exactly one of Day-of-month and Day-of-week"),
        ("cron(0 2 30 2 ? *)", "names no moment after"),
        ("cron(0 2 1 1 ? 2025)", "names no moment after"),
        ("cron(0 2 ? * SUN \u0662\u0660\u0663\u0660)", "Year '"),
    ],
)
def test_malformed_expressions_are_refused(world: TestWorld, expression: str, reason: str) -> None:
    """HP-30: with what to write instead."""
    with pytest.raises(ClientError, match=rf"ValidationException.*{reason}"):
        world.sagemaker.create_cluster(**eks(group("workers", 1, **scheduled(expression))))
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_an_update_gives_changes_and_takes_away(world: TestWorld) -> None:
    """HP-30: UpdateCluster refuses what CreateCluster refuses; a group that is named without a schedule has none."""
    made(world)
    publish(world)
    with pytest.raises(ClientError, match=r"ValidationException.*Hours '99'"):
        change(world, **scheduled("cron(0 99 ? * SUN *)"))
    with pytest.raises(ClientError, match=r"ValidationException.*101 is no percentage"):
        policy = {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 101}}
        change(world, **scheduled(DeploymentConfig={"RollingUpdatePolicy": policy}))
    change(world)
    assert "ScheduledUpdateConfig" not in world.group("workers")
    advance_to(world, "2026-01-04T03:00:00Z")
    assert versions(world) == {"1.1.0"}
    change(world, **scheduled("cron(30 14 ? 2 2#3 2026)"))
    advance_to(world, "2026-02-17T14:29:00Z")
    assert versions(world) == {"1.1.0"}
    change(world, 5, **scheduled("cron(30 14 ? 2 2#3 2026)"))
    world.advance(minutes=3)
    assert versions(world) == {"1.2.0"}, "the third Tuesday of February"
    change(world, 6, **scheduled("cron(30 14 ? 2 2#3 2026)"))
    assert world.group("workers")["TargetCount"] == 6, "who sends it again unchanged may do so after its last time"
    with pytest.raises(ClientError, match="names no moment after"):
        change(world, **scheduled("cron(31 14 ? 2 2#3 2026)"))


def test_a_schedule_given_at_its_moment_begins_with_the_next(world: TestWorld) -> None:
    """HP-30."""
    world.sagemaker.create_cluster(**eks(group("workers", 1, ImageReleaseVersion="1.0.0", **scheduled())))
    advance_to(world, "2026-01-04T02:05:00Z")
    assert versions(world) == {"1.1.0"}
    publish(world)
    advance_to(world, "2026-01-04T03:00:00Z")
    groups = [group("workers", 1, **scheduled("cron(0 3 ? * SUN *)"))]
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=groups)
    world.advance(minutes=5)
    assert versions(world) == {"1.1.0"}
    advance_to(world, "2026-01-11T03:05:00Z")
    assert versions(world) == {"1.2.0"}


def test_groups_of_a_classic_cluster_begin_together(world: TestWorld) -> None:
    """HP-30, HP-40: as one UpdateClusterSoftware that names both; the third group is not touched."""
    groups = [group(name, 2, **scheduled()) for name in ("a", "b")]
    world.sagemaker.create_cluster(**classic(*groups, group("c", 1)))
    world.advance(minutes=1)
    publish(world)
    advance_to(world, FIRST)
    assert world.describe()["ClusterStatus"] == "SystemUpdating"
    world.advance(minutes=1)
    assert world.describe()["ClusterStatus"] == "InService"
    found = {node["InstanceGroupName"]: node["CurrentImageReleaseVersion"] for node in world.nodes()}
    assert found == {"a": "1.2.0", "b": "1.2.0", "c": "1.1.0"}


def test_on_slurm(world: TestWorld) -> None:
    """HP-30: a controller's group too."""
    world.sagemaker.create_cluster(**slurm(workers(2, **scheduled("cron(00 02 ? * 7L *)"))))
    world.advance(minutes=2)
    publish(world)
    advance_to(world, "2026-01-25T02:01:00Z")
    found = {node["InstanceGroupName"]: node["CurrentImageReleaseVersion"] for node in world.nodes()}
    assert found == {"workers": "1.2.0", "controller": "1.1.0"}


def test_a_custom_image_is_left_alone(world: TestWorld) -> None:
    """HP-30: nobody knows of anything newer."""
    made(world, ImageId="ami-0123456789abcdef0")
    before = told(world)
    publish(world)
    done = advance_to(world, "2027-01-01T00:00:00Z")
    assert (told(world), done["counts"]["passes"]) == (before, 1)


def test_an_update_that_failed_comes_again(world: TestWorld) -> None:
    """HP-30: the next occurrence tries once more."""
    made(world)
    publish(world)
    world.fault("script-failed", operation="UpdateClusterSoftware", times=16)
    advance_to(world, "2026-01-05T00:00:00Z")
    assert (shown(world), versions(world)) == (("InService", "RollbackComplete"), {"1.1.0"})
    advance_to(world, "2026-01-12T00:00:00Z")
    assert (shown(world), versions(world)) == (("InService", "Succeeded"), {"1.2.0"})


def test_a_node_that_came_from_elsewhere(world: TestWorld) -> None:
    """HP-30: a node that keeps an older image than its group's is brought up to it."""
    made(world, 2)
    world.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=[group("old", 1, InstanceType=P5, ImageReleaseVersion="1.0.0")]
    )
    world.advance(minutes=1)
    advance_to(world, SECOND)
    arn = world.describe()["ClusterArn"]
    world.sagemaker.move_cluster_nodes(
        SourceClusterArn=arn,
        TargetClusterArn=arn,
        SourceInstanceGroupName="old",
        TargetInstanceGroupName="workers",
        InstanceCount=1,
    )
    world.advance(minutes=1)
    assert versions(world) == {"1.0.0", "1.1.0"}
    advance_to(world, "2026-01-18T03:00:00Z")
    assert versions(world) == {"1.1.0"}
    assert shown(world) == ("InService", "Succeeded")


def test_deleted_meanwhile(world: TestWorld) -> None:
    """HP-19, HP-30: neither a group nor a cluster that leaves is updated."""
    made(world)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("others", 1)])
    world.advance(minutes=1)
    world.fault("terminate-failed", group="workers", times=1)
    publish(world)
    advance_to(world, "2026-01-04T01:59:59Z")
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["workers"])
    world.advance(minutes=10)
    assert [one["InstanceGroupName"] for one in world.describe()["InstanceGroups"]] == ["others"]
    world.sagemaker.create_cluster(**eks(group("a", 1, **scheduled()), name="other"))
    world.advance(minutes=1)
    publish(world, "1.3.0")
    advance_to(world, "2026-01-11T01:59:59Z")
    world.fault("terminate-failed", cluster="other", times=1)
    world.sagemaker.delete_cluster(ClusterName="other")
    world.advance(minutes=10)
    assert [one["ClusterName"] for one in world.sagemaker.list_clusters()["ClusterSummaries"]] == ["demo"]


def test_a_failed_cluster_is_left_alone(world: TestWorld) -> None:
    """HP-9, HP-30."""
    world.capacity("ml.c5.xlarge", 0)
    world.sagemaker.create_cluster(**slurm(workers(1, ImageReleaseVersion="1.0.0", **scheduled())))
    world.advance(minutes=5)
    assert world.describe()["ClusterStatus"] == "Failed"
    before = world.events()
    done = advance_to(world, "2027-01-01T00:00:00Z")
    assert (world.events(), done["counts"].get("passes", 0)) == (before, 0)


def test_the_same_bytes_however_it_is_cut(service: Running) -> None:
    """CT-1, HP-30."""

    def told_by(steps: int) -> bytes:
        world = service.world(seed=5)
        made(world, 5, **scheduled(**rolling(2, 60)))
        world.fault("script-failed", operation="UpdateClusterSoftware", probability=0.5, times=6)
        publish(world)
        for _ in range(steps):
            world.advance(hours=24 * 21 / steps)
        publish(world, "1.3.0")
        for _ in range(steps):
            world.advance(hours=24 * 21 / steps)
        exported = world.export()
        world.close()
        return exported

    assert told_by(1) == told_by(2) == told_by(84)


def test_a_fork_keeps_the_schedule(world: TestWorld, service: Running) -> None:
    """CT-2, HP-30: with releases of its own."""
    made(world)
    body = {"name": f"{world.name}-twin", "fork_of": world.name}
    httpx.post(f"{service.base}/_windtunnel/worlds", json=body).raise_for_status()
    twin = TestWorld(service.base, f"{world.name}-twin")
    publish(twin)
    for one in (world, twin):
        advance_to(one, "2026-01-04T03:00:00Z")
    assert (versions(world), versions(twin)) == ({"1.1.0"}, {"1.2.0"})
    twin.close()
