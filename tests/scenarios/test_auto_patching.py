"""HP-30: AutoPatchConfig: a patch of the group's release line is found, its day comes, and it is applied."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, classic, eks, group, slurm, workers

P5 = "ml.p5.48xlarge"
SCHEDULED = "InstanceGroup workers in Cluster demo has been scheduled for UpdateClusterSoftware to latest."
NOT_SCHEDULED = "Failed to schedule UpdateClusterSoftware for IG workers in Cluster demo."
DAY = timedelta(days=1)


def patching(strategy: str = "WhenIdle", date: datetime | None = None, **facts: Any) -> dict[str, Any]:
    schedule = {} if date is None else {"PatchSchedule": {"NextPatchDate": date}}
    return {"AutoPatchConfig": {"PatchingStrategy": strategy, **schedule, **facts}}


def rolling(count: int, **facts: Any) -> dict[str, Any]:
    policy = {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": count}}
    return {"DeploymentConfig": {"RollingUpdatePolicy": policy} | facts}


def made(world: TestWorld, count: int = 4, recovery: str = "Automatic", **facts: Any) -> None:
    one = group("workers", count, InstanceType=P5, **(patching() | facts))
    world.sagemaker.create_cluster(**eks(one, NodeRecovery=recovery))
    world.advance(minutes=1)


def change(world: TestWorld, count: int = 4, **facts: Any) -> None:
    groups = [group("workers", count, InstanceType=P5, **facts)]
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=groups)


def publish(world: TestWorld, version: str = "1.1.1") -> datetime:
    """The moment of the release."""
    world.control("POST", "images", json={"version": version})
    world.advance(0)
    return now(world)


def now(world: TestWorld) -> datetime:
    return datetime.fromisoformat(world.now())


def wait_until(world: TestWorld, instant: datetime) -> dict[str, Any]:
    done = world.control("POST", "clock/advance", json={"to": instant.isoformat()})
    assert done["settled"], done
    return done


def told(world: TestWorld) -> list[str]:
    return [event["Description"] for event in world.events(InstanceGroupName="workers")]


def versions(world: TestWorld) -> list[str]:
    return sorted(node.get("CurrentImageReleaseVersion", "none") for node in world.nodes())


def shown(world: TestWorld) -> tuple[str, str | None]:
    found = world.group("workers")
    return found["Status"], found.get("SoftwareUpdateStatus")


def dates(world: TestWorld) -> tuple[datetime | None, datetime | None]:
    """The current and the desired date of the next patch."""
    config = world.group("workers")["AutoPatchConfig"]
    assert "PatchSchedule" not in config
    return tuple(config.get(f"{when}PatchSchedule", {}).get("NextPatchDate") for when in ("Current", "Desired"))  # type: ignore[return-value]


def test_a_patch_is_applied_three_weeks_after_its_release(world: TestWorld) -> None:
    """HP-30: within the release line, to all nodes at once since nothing runs on them."""
    made(world)
    assert world.group("workers")["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle"}
    publish(world, "1.2.0")
    assert dates(world) == (None, None), "1.2.0 is no patch of 1.1.0"
    released = publish(world)
    assert dates(world) == (released + 21 * DAY, released + 21 * DAY)
    wait_until(world, released + 7 * DAY)
    publish(world, "1.1.2")
    assert dates(world)[0] == released + 21 * DAY, "a later patch does not move the day"
    wait_until(world, released + 21 * DAY - timedelta(seconds=1))
    assert (shown(world), versions(world)) == (("InService", None), ["1.1.0"] * 4)
    world.advance(1)
    assert shown(world) == ("SystemUpdating", "InProgress")
    assert "ActiveSoftwareUpdateConfig" not in world.group("workers")
    assert dates(world) == (None, None)
    world.advance(minutes=1)
    assert (shown(world), versions(world)) == (("InService", "Succeeded"), ["1.1.2"] * 4)
    lines = told(world)
    assert SCHEDULED in lines
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using WhenIdle strategy." in lines
    assert wait_until(world, released + 3650 * DAY)["counts"].get("passes", 0) == 0


def test_the_day_can_be_moved(world: TestWorld) -> None:
    """HP-30: earlier or later, within 60 days of the release; the same day once more is no move."""
    made(world)
    released = publish(world)
    with pytest.raises(ClientError, match=r"ValidationException.*must not lie before .* and by .*, 60 days after"):
        change(world, **patching(date=released + 60 * DAY + timedelta(seconds=1)))
    with pytest.raises(ClientError, match=r"ValidationException.*NextPatchDate .* must not lie before"):
        change(world, **patching(date=released - DAY))
    change(world, **patching(date=released + 60 * DAY))
    assert dates(world) == (released + 60 * DAY, released + 60 * DAY)
    change(world, **patching("WhenAllIdle", date=released + 5 * DAY))
    assert dates(world)[0] == released + 5 * DAY
    wait_until(world, released + 5 * DAY)
    world.advance(minutes=1)
    assert versions(world) == ["1.1.1"] * 4
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using WhenAllIdle strategy." in told(world)
    change(world, 5, **patching("WhenAllIdle", date=released + 5 * DAY))
    world.advance(minutes=1)
    assert world.group("workers")["CurrentCount"] == 5
    second = publish(world, "1.1.2")
    assert dates(world)[0] == second + 21 * DAY
    change(world, 4, **patching("WhenAllIdle", date=released + 5 * DAY))
    assert dates(world)[0] == second + 21 * DAY


def test_a_day_that_waits_for_its_patch(world: TestWorld) -> None:
    """HP-30: a day that is given before any patch is known is desired, and current once one is found in time."""
    start = now(world)
    with pytest.raises(ClientError, match=r"ValidationException.*NextPatchDate .* must not lie before"):
        world.sagemaker.create_cluster(**eks(group("workers", 1, **patching(date=start - DAY))))
    made(world, **patching(date=start + 80 * DAY))
    assert dates(world) == (None, start + 80 * DAY)
    wait_until(world, start + 30 * DAY)
    publish(world)
    assert dates(world) == (start + 80 * DAY, start + 80 * DAY)
    wait_until(world, start + 81 * DAY)
    assert (dates(world), versions(world)) == ((None, None), ["1.1.1"] * 4)
    change(world, **patching(date=start + 300 * DAY))
    released = publish(world, "1.1.2")
    assert dates(world)[0] == released + 21 * DAY, "too far away"


def test_batches_that_are_drained_first(world: TestWorld) -> None:
    """HP-30: DrainFirst goes by DeploymentConfig, and an alarm turns it round."""
    alarms = {"AutoRollbackConfiguration": [{"AlarmName": "loss"}], "WaitIntervalInSeconds": 60}
    drain = {"DrainPolicy": {"DrainTimeoutInSeconds": 60, "OnDrainTimeout": "Force"}}
    made(world, **patching("DrainFirst", **rolling(2, **alarms), **drain))
    assert world.group("workers")["AutoPatchConfig"]["DrainPolicy"] == drain["DrainPolicy"]
    released = publish(world)
    wait_until(world, released + 21 * DAY)
    assert world.group("workers")["ActiveSoftwareUpdateConfig"]["WaitIntervalInSeconds"] == 60
    world.advance(30)
    assert versions(world) == ["1.1.0", "1.1.0", "1.1.1", "1.1.1"]
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using DrainFirst strategy." in told(world)
    world.control("POST", "alarms", json={"name": "loss", "state": "ALARM"})
    world.advance(minutes=2)
    assert (shown(world), versions(world)) == (("InService", "RollbackComplete"), ["1.1.0"] * 4)
    again = dates(world)[0]
    assert again is not None and again > released + 42 * DAY, "the patch is still there, so its day comes again"
    world.control("POST", "alarms", json={"name": "loss", "state": "OK"})
    wait_until(world, again + DAY)
    assert versions(world) == ["1.1.1"] * 4


@pytest.mark.parametrize("recovery", ["Automatic", "None"])
def test_it_does_not_turn_back(world: TestWorld, recovery: str) -> None:
    """HP-30: a node that cannot be patched fails; the others stay patched."""
    made(world, recovery=recovery)
    released = publish(world)
    node = world.nodes(IncludeNodeLogicalIds=True)[0]["NodeLogicalId"]
    world.fault("script-failed", operation="UpdateClusterSoftware", node=node, times=4)
    wait_until(world, released + 21 * DAY)
    world.advance(minutes=1)
    assert shown(world) == ("InService" if recovery == "Automatic" else "Degraded", "Failed")
    lines = told(world)
    assert "Failed to complete UpdateClusterSoftware for IG workers in Cluster demo." in lines
    assert not [line for line in lines if "ollback" in line or "rolled back" in line]
    assert dates(world) == (None, None)
    if recovery == "Automatic":
        world.advance(minutes=1)
        assert (shown(world)[0], versions(world)) == ("InService", ["1.1.1"] * 4)
        return
    assert versions(world) == ["1.1.1", "1.1.1", "1.1.1", "none"]
    version = {"InstanceGroupName": "workers", "ImageReleaseVersion": "1.1.1"}
    world.sagemaker.update_cluster_software(ClusterName="demo", InstanceGroups=[version])
    world.advance(minutes=1)
    assert (shown(world), versions(world)) == (("InService", "Succeeded"), ["1.1.1"] * 4)


def test_who_is_busy_waits_for_the_next_cycle(world: TestWorld) -> None:
    """HP-30: the day of the patch finds the group busy: that is told, and three weeks later it is patched."""
    made(world)
    released = publish(world)
    world.capacity(P5, 4)
    wait_until(world, released + 21 * DAY - timedelta(hours=1))
    change(world, 5, MinInstanceCount=5, **patching())
    wait_until(world, released + 21 * DAY)
    assert (shown(world)[0], told(world).count(NOT_SCHEDULED)) == ("Updating", 1)
    assert dates(world)[0] == released + 42 * DAY
    wait_until(world, released + 43 * DAY)
    assert versions(world) == ["1.1.1"] * 4
    assert told(world).count(SCHEDULED) == 1


def test_what_takes_the_patch_away(world: TestWorld) -> None:
    """HP-30: an update by hand, the patch's end of life, and a request without AutoPatchConfig."""
    made(world)
    publish(world)
    world.control("POST", "images/retire", json={"version": "1.1.1"})
    world.advance(0)
    assert dates(world) == (None, None)
    publish(world, "1.1.2")
    assert dates(world)[0] is not None
    world.sagemaker.update_cluster_software(ClusterName="demo")
    world.advance(minutes=1)
    assert (dates(world), versions(world)) == ((None, None), ["1.1.2"] * 4)
    released = publish(world, "1.1.3")
    change(world)
    assert "AutoPatchConfig" not in world.group("workers")
    wait_until(world, released + 30 * DAY)
    assert versions(world) == ["1.1.2"] * 4
    enabled = now(world)
    change(world, **patching())
    world.advance(0)
    assert dates(world)[0] == enabled + 21 * DAY, "found when it is looked for"


def test_refusals(world: TestWorld) -> None:
    """HP-30: what the service model's descriptions rule out."""

    def refused(request: dict[str, Any], reason: str) -> None:
        with pytest.raises(ClientError, match=rf"ValidationException.*{reason}"):
            world.sagemaker.create_cluster(**request)

    needs = "AutoPatchConfig needs the EKS orchestrator"
    refused(slurm(workers(1, **patching())), needs)
    refused(classic(group("workers", 1, **patching())), needs)
    refused(eks(group("workers", 1, **patching("DrainFirst"))), "DrainFirst needs MaximumBatchSize")
    drain = patching("WhenIdle", DrainPolicy={"OnDrainTimeout": "Skip"})
    refused(eks(group("workers", 1, **drain)), "DrainPolicy is for PatchingStrategy DrainFirst, not WhenIdle")
    policy = {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 200}}
    deployment = patching("DrainFirst", DeploymentConfig={"RollingUpdatePolicy": policy})
    refused(eks(group("workers", 1, **deployment)), "200 is no percentage")
    made(world)
    with pytest.raises(ClientError, match=r"ValidationException.*DrainFirst needs MaximumBatchSize"):
        change(world, **patching("DrainFirst"))


def test_a_group_that_starts_on_an_older_patch(world: TestWorld) -> None:
    """HP-30: the newer one is found at once; a custom image has none."""
    publish(world)
    begun = now(world)
    mine = group("mine", 1, ImageId="ami-0123456789abcdef0", **patching())
    old = group("workers", 1, ImageReleaseVersion="1.1.0", **patching())
    world.sagemaker.create_cluster(**eks(old, mine))
    world.advance(minutes=1)
    assert dates(world)[0] == begun + 21 * DAY
    assert world.group("mine")["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle"}


def test_on_a_classic_cluster(world: TestWorld) -> None:
    """HP-30, HP-40: the cluster is SystemUpdating meanwhile."""
    request = eks(group("workers", 2, **patching()))
    del request["NodeProvisioningMode"]
    world.sagemaker.create_cluster(**request)
    world.advance(minutes=1)
    wait_until(world, publish(world) + 21 * DAY)
    assert world.describe()["ClusterStatus"] == "SystemUpdating"
    world.advance(minutes=1)
    assert (world.describe()["ClusterStatus"], versions(world)) == ("InService", ["1.1.1"] * 2)


def test_the_same_bytes_however_it_is_cut(service: Running) -> None:
    """CT-1, HP-30: with a schedule besides, at whose moment the patch is due as well."""

    def told_by(steps: int) -> bytes:
        world = service.world(seed=5)
        schedule = {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(1 0 22 1 ? *)"}}
        made(world, 3, **patching(), **schedule)
        released = publish(world)
        assert dates(world)[0] == datetime(2026, 1, 22, 0, 1, tzinfo=UTC) == released + 21 * DAY
        for _ in range(steps):
            world.advance(hours=24 * 30 / steps)
        lines = told(world)
        assert (lines.count(SCHEDULED), lines.count(NOT_SCHEDULED), versions(world)) == (1, 1, ["1.1.1"] * 3)
        exported = world.export()
        world.close()
        return exported

    assert told_by(1) == told_by(60)
