"""HP-30: UpdateClusterSoftware, from the request to the end, and every way in which it can end."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, classic, eks, group, slurm, workers

P5 = "ml.p5.48xlarge"
OLD, NEW, NEXT = "1.0.0", "1.1.0", "1.2.0"
SCRIPT = "UpdateClusterSoftware"


def publish(world: TestWorld, version: str = NEXT, **facts: Any) -> None:
    world.control("POST", "images", json={"version": version, **facts})


def alarm(world: TestWorld, state: str, name: str = "loss") -> None:
    world.control("POST", "alarms", json={"name": name, "state": state})


def patch(world: TestWorld, **facts: Any) -> None:
    world.sagemaker.update_cluster_software(ClusterName="demo", **facts)


def rolling(count: int, wait: int = 0, kind: str = "INSTANCE_COUNT", **facts: Any) -> dict[str, Any]:
    """A DeploymentConfig."""
    policy = {"MaximumBatchSize": {"Type": kind, "Value": count}}
    return {"RollingUpdatePolicy": policy, "WaitIntervalInSeconds": wait} | facts


def watching(name: str = "loss") -> dict[str, Any]:
    return {"AutoRollbackConfiguration": [{"AlarmName": name}]}


def shown(world: TestWorld, name: str = "workers") -> tuple[str, str | None, int]:
    found = world.group(name)
    return found["Status"], found.get("SoftwareUpdateStatus"), found["TargetStateCount"]


def versions(world: TestWorld, name: str = "workers") -> tuple[str, str]:
    found = world.group(name)
    return found["CurrentImageReleaseVersion"], found["DesiredImageReleaseVersion"]


def statuses(world: TestWorld, name: str = "workers") -> list[str]:
    return sorted(n["InstanceStatus"]["Status"] for n in world.nodes(InstanceGroupNameContains=name))


def told(world: TestWorld, name: str = "workers") -> list[str]:
    return [event["Description"] for event in world.events(InstanceGroupName=name)]


@pytest.fixture
def four(world: TestWorld) -> TestWorld:
    """An EKS cluster with four running workers, and a release newer than theirs."""
    world.sagemaker.create_cluster(**eks(group("workers", 4, InstanceType=P5)))
    world.advance(minutes=1)
    publish(world)
    return world


def test_all_at_once(four: TestWorld) -> None:
    """HP-30: Pending, InProgress, Succeeded; the instances stay, their scripts run again, and the bill runs on."""
    before = {node["InstanceId"] for node in four.nodes()}
    assert shown(four) == ("InService", None, 4)
    assert four.group("workers")["ImageVersionStatus"] == "UpdateAvailable"
    patch(four)
    assert shown(four)[:2] == ("SystemUpdating", "Pending")
    assert versions(four) == (NEW, NEXT)
    four.advance(1)
    assert shown(four) == ("SystemUpdating", "InProgress", 0)
    assert four.describe()["ClusterStatus"] == "InService"
    assert statuses(four) == ["SystemUpdating"] * 4
    assert four.group("workers")["CurrentCount"] == 4
    four.advance(minutes=1)
    assert shown(four) == ("InService", "Succeeded", 4)
    assert versions(four) == (NEXT, NEXT)
    assert four.group("workers")["ImageVersionStatus"] == "UpToDate"
    nodes = four.nodes()
    assert {node["InstanceId"] for node in nodes} == before
    assert {node["CurrentImageReleaseVersion"] for node in nodes} == {NEXT}
    assert all(node["LastSoftwareUpdateTime"] > node["LaunchTime"] for node in nodes)
    lines = told(four)
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using AllAtOnce strategy." in lines
    assert "UpdateClusterSoftware completed successfully for IG workers in Cluster demo." in lines
    assert sum("Root volume replacement started" in line for line in lines) == 4
    assert sum(line.endswith("in IG workers updated successfully.") for line in lines) == 4
    assert sum("script execution" in line and line.endswith("has Started") for line in lines) == 8


def test_on_the_newest_release_nothing_changes(world: TestWorld) -> None:
    """HP-30: no node is touched and no script runs."""
    world.sagemaker.create_cluster(**eks(group("workers", 2, InstanceType=P5)))
    world.advance(minutes=1)
    before = told(world)
    patch(world)
    world.advance(minutes=1)
    assert shown(world) == ("InService", "Succeeded", 2)
    assert not [line for line in told(world)[len(before) :] if "Instance i-" in line]
    assert "LastSoftwareUpdateTime" not in world.nodes()[0]


def test_batches_and_rests(four: TestWorld) -> None:
    """HP-30: so many at a time, with the wait between two batches and none after the last."""
    patch(four, DeploymentConfig=rolling(2, wait=600))
    four.advance(1)
    assert statuses(four) == ["Running", "Running", "SystemUpdating", "SystemUpdating"]
    assert four.group("workers")["ActiveSoftwareUpdateConfig"]["WaitIntervalInSeconds"] == 600
    four.advance(60)
    assert shown(four) == ("SystemUpdating", "InProgress", 2)
    assert statuses(four) == ["Running"] * 4
    four.advance(545)
    assert shown(four) == ("SystemUpdating", "InProgress", 2)
    assert statuses(four) == ["Running", "Running", "SystemUpdating", "SystemUpdating"]
    four.advance(10)
    assert shown(four) == ("InService", "Succeeded", 4)
    assert "ActiveSoftwareUpdateConfig" not in four.group("workers")
    lines = told(four)
    assert lines.count("Next update batch selected for IG workers in Cluster demo.") == 2
    assert "UpdateClusterSoftware initiated for IG workers in Cluster demo using Rolling strategy." in lines


def test_percentages(four: TestWorld) -> None:
    """HP-30: of the group, rounded down, at least one."""
    patch(four, DeploymentConfig=rolling(30, kind="CAPACITY_PERCENTAGE"))
    four.advance(1)
    assert statuses(four).count("SystemUpdating") == 1
    with pytest.raises(ClientError, match=r"ConflictException.*SystemUpdating"):
        patch(four)
    four.advance(minutes=2)
    assert shown(four) == ("InService", "Succeeded", 4)
    with pytest.raises(ClientError, match="101 is no percentage"):
        patch(four, DeploymentConfig=rolling(101, kind="CAPACITY_PERCENTAGE"))


def test_a_flexible_group_spreads_its_types(world: TestWorld) -> None:
    """HP-30: 100 nodes, ten of them P5, by ten percent: one P5 and nine of the others a batch."""
    g6 = "ml.g6.48xlarge"
    flexible = group("workers", 100, InstanceRequirements={"InstanceTypes": [P5, g6]})
    del flexible["InstanceType"]
    world.capacity(P5, 10)
    world.sagemaker.create_cluster(**eks(flexible))
    world.advance(minutes=1)
    publish(world)
    patch(world, DeploymentConfig=rolling(10, kind="CAPACITY_PERCENTAGE"))
    world.advance(1)
    chosen = [n["InstanceType"] for n in world.nodes() if n["InstanceStatus"]["Status"] == "SystemUpdating"]
    assert sorted(chosen) == [g6] * 9 + [P5]
    world.advance(minutes=5)
    assert shown(world) == ("InService", "Succeeded", 100)


def test_tries_then_rolls_back(four: TestWorld) -> None:
    """HP-30: four tries of the script, the last failure told meanwhile, then the way back; the images swap."""
    four.fault("script-failed", operation=SCRIPT, times=4)
    patch(four, DeploymentConfig=rolling(1))
    four.advance(5)
    assert statuses(four).count("Failure") == 1
    four.advance(1)
    status = next(n["InstanceStatus"] for n in four.nodes() if n["InstanceStatus"]["Status"] != "Running")
    assert status["Status"] == "SystemUpdating"
    assert status["Message"].startswith("Lifecycle scripts did not run successfully")
    four.advance(8)
    assert shown(four) == ("SystemUpdating", "RollbackInProgress", 3)
    assert versions(four) == (NEXT, NEW)
    four.advance(minutes=1)
    assert shown(four) == ("InService", "RollbackComplete", 4)
    assert versions(four) == (NEW, NEW)
    lines = told(four)
    assert sum("has Failed" in line for line in lines) == 4
    assert "UpdateClusterSoftware failed for IG workers in Cluster demo. Initiating rollback." in lines
    assert sum(line.endswith("failed to update. Rollback initiated.") for line in lines) == 1
    assert sum(line.endswith("rolled back successfully to previous AMI.") for line in lines) == 1
    patch(four)
    four.advance(minutes=1)
    assert shown(four) == ("InService", "Succeeded", 4)


@pytest.mark.parametrize("recovery", ["Automatic", "None"])
def test_a_rollback_that_fails(world: TestWorld, recovery: str) -> None:
    """HP-30: Failed; with NodeRecovery the instances are replaced, without it another update mends them."""
    world.sagemaker.create_cluster(**eks(group("workers", 2, InstanceType=P5), NodeRecovery=recovery))
    world.advance(minutes=1)
    publish(world)
    rule = world.fault("script-failed", operation=SCRIPT)
    before = {node["InstanceId"] for node in world.nodes()}
    patch(world)
    world.advance(minutes=1)
    assert shown(world)[:2] == ("InService" if recovery == "Automatic" else "Degraded", "Failed")
    lines = told(world)
    assert "Failed to complete UpdateClusterSoftware for IG workers in Cluster demo." in lines
    queued = "Failed instances in IG workers in Cluster demo queued for node replacement."
    assert (queued in lines) == (recovery == "Automatic")
    world.advance(minutes=1)
    assert statuses(world) == (["Running"] * 2 if recovery == "Automatic" else ["Failure"] * 2)
    world.control("DELETE", f"faults/{rule}")
    patch(world)
    world.advance(minutes=1)
    assert shown(world) == ("InService", "Succeeded", 2)
    assert statuses(world) == ["Running"] * 2
    assert ({node["InstanceId"] for node in world.nodes()} == before) == (recovery == "None")


def test_an_alarm_while_it_bakes(four: TestWorld) -> None:
    """HP-30: each batch is watched for the wait interval; an alarm turns the update round at once."""
    policy = rolling(2, 300, **watching())
    policy["RollingUpdatePolicy"]["RollbackMaximumBatchSize"] = {"Type": "INSTANCE_COUNT", "Value": 1}
    patch(four, DeploymentConfig=policy)
    four.advance(60)
    assert shown(four) == ("SystemUpdating", "InProgress", 2)
    alarm(four, "ALARM", "another")
    four.advance(1)
    assert shown(four)[1] == "InProgress"
    alarm(four, "ALARM")
    four.advance(1)
    assert shown(four) == ("SystemUpdating", "RollbackInProgress", 2)
    assert statuses(four).count("SystemUpdating") == 1
    four.advance(minutes=20)
    assert shown(four) == ("InService", "RollbackComplete", 4)
    lines = told(four)
    assert "Baking period started for IG workers in Cluster demo. Monitoring alarms [loss] for 300 seconds." in lines
    assert (
        "Baking period failed for IG workers in Cluster demo. Alarms [loss] entered ALARM state. Initiating "
        "auto-rollback." in lines
    )
    alarm(four, "OK")
    patch(four, DeploymentConfig=rolling(2, 300, **watching()))
    four.advance(minutes=9)
    assert shown(four) == ("SystemUpdating", "InProgress", 4)
    four.advance(minutes=2)
    assert shown(four) == ("InService", "Succeeded", 4)
    assert sum("Baking period completed" in line for line in told(four)) == 2


def test_an_alarm_in_the_middle_of_a_batch(four: TestWorld) -> None:
    """HP-30: who is being updated is updated to the end, and then taken back."""
    patch(four, DeploymentConfig=rolling(2, **watching()))
    four.advance(1)
    alarm(four, "ALARM")
    four.advance(0.5)
    assert shown(four)[1] == "RollbackInProgress"
    four.advance(minutes=1)
    assert shown(four) == ("InService", "RollbackComplete", 4)
    assert {n["CurrentImageReleaseVersion"] for n in four.nodes()} == {NEW}


def test_some_groups(world: TestWorld) -> None:
    """HP-30: InstanceGroups names the groups and their releases; another group may be updated meanwhile."""
    world.sagemaker.create_cluster(**slurm(workers(2, ImageReleaseVersion=OLD), workers(2, "others")))
    world.advance(minutes=2)
    assert [world.group(name)["ImageVersionStatus"] for name in ("workers", "others")] == [
        "UpdateAvailable",
        "UpToDate",
    ]
    publish(world)
    patch(world, InstanceGroups=[{"InstanceGroupName": "workers", "ImageReleaseVersion": NEW}])
    world.advance(1)
    patch(world, InstanceGroups=[{"InstanceGroupName": "others"}])
    world.advance(minutes=1)
    assert (versions(world), versions(world, "others")) == ((NEW, NEW), (NEXT, NEXT))
    assert "SoftwareUpdateStatus" not in world.group("controller")
    assert world.group("controller")["CurrentImageReleaseVersion"] == NEW


def test_a_classic_cluster_is_system_updating(world: TestWorld) -> None:
    """HP-30, HP-40: the cluster and its groups; nothing else is possible meanwhile."""
    world.sagemaker.create_cluster(**classic(group("workers", 2)))
    world.advance(minutes=1)
    publish(world)
    patch(world)
    assert world.describe()["ClusterStatus"] == "SystemUpdating"
    world.advance(1)
    assert world.describe()["ClusterStatus"] == "SystemUpdating"
    assert world.sagemaker.list_clusters()["ClusterSummaries"][0]["ClusterStatus"] == "SystemUpdating"
    for call, kwargs in (
        (world.sagemaker.update_cluster_software, {}),
        (world.sagemaker.update_cluster, {"InstanceGroups": [group("workers", 3)]}),
        (world.sagemaker.delete_cluster, {}),
    ):
        with pytest.raises(ClientError, match=r"ConflictException.*SystemUpdating"):
            call(ClusterName="demo", **kwargs)
    world.advance(minutes=1)
    assert world.describe()["ClusterStatus"] == "InService"
    assert shown(world) == ("InService", "Succeeded", 2)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("workers", 3)])
    world.advance(minutes=1)
    assert shown(world) == ("InService", "Succeeded", 3)


def test_custom_images(world: TestWorld) -> None:
    """HP-30: a group with a custom AMI needs ImageId: another AMI, or `default`."""
    mine, other = "ami-0123456789abcdef0", "ami-0fedcba9876543210"
    world.sagemaker.create_cluster(**eks(group("workers", 1, InstanceType=P5, ImageId=mine), group("plain", 1)))
    world.advance(minutes=1)
    assert world.group("workers")["CurrentImageId"] == mine
    assert "ImageVersionStatus" not in world.group("workers")
    with pytest.raises(ClientError, match=r"ValidationException.*uses a custom AMI. Give ImageId"):
        patch(world)
    with pytest.raises(ClientError, match=r"ValidationException.*not both"):
        patch(world, ImageId=other, InstanceGroups=[{"InstanceGroupName": "workers", "ImageReleaseVersion": NEW}])
    patch(world, ImageId=other, InstanceGroups=[{"InstanceGroupName": "workers"}])
    assert (world.group("workers")["CurrentImageId"], world.group("workers")["DesiredImageId"]) == (mine, other)
    world.advance(minutes=1)
    assert world.group("workers")["CurrentImageId"] == other
    patch(world, ImageId="default")
    world.advance(minutes=1)
    assert versions(world) == versions(world, "plain") == (NEW, NEW)
    released = next(one for one in world.control("GET", "images")["images"] if one["version"] == OLD)
    patch(world, ImageId=released["ami"])
    world.advance(minutes=1)
    assert versions(world) == (OLD, OLD)
    assert world.group("workers")["CurrentImageId"] == released["ami"]


def test_refusals(four: TestWorld) -> None:
    """HP-19, HP-30."""
    with pytest.raises(ClientError, match="ResourceNotFound"):
        four.sagemaker.update_cluster_software(ClusterName="none")
    with pytest.raises(ClientError, match=r"ValidationException.*names no group of cluster demo: ghost"):
        patch(four, InstanceGroups=[{"InstanceGroupName": "ghost"}])
    with pytest.raises(ClientError, match=r"ValidationException.*given more than once: workers"):
        patch(four, InstanceGroups=[{"InstanceGroupName": "workers"}] * 2)
    with pytest.raises(ClientError, match=r"ValidationException.*9.9.9 is not known. Choose one of: 1.0.0"):
        patch(four, InstanceGroups=[{"InstanceGroupName": "workers", "ImageReleaseVersion": "9.9.9"}])
    with pytest.raises(ClientError, match=r"ValidationException.*9.9.9 is not known"):
        four.sagemaker.create_cluster(**eks(group("a", 1, ImageReleaseVersion="9.9.9"), name="other"))
    with pytest.raises(ClientError, match=r"does not change ImageReleaseVersion. Use UpdateClusterSoftware"):
        four.sagemaker.update_cluster(
            ClusterName="demo", InstanceGroups=[group("workers", 4, InstanceType=P5, ImageReleaseVersion=OLD)]
        )
    four.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=[group("workers", 4, InstanceType=P5, ImageReleaseVersion=NEW)]
    )
    four.sagemaker.create_cluster(**eks(group("a", 1), name="young"))
    with pytest.raises(ClientError, match=r"ConflictException.*young is in Creating state"):
        four.sagemaker.update_cluster_software(ClusterName="young")
    four.capacity(P5, 4)
    four.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=[group("workers", 6, InstanceType=P5, MinInstanceCount=6)]
    )
    four.advance(5)
    with pytest.raises(ClientError, match=r"ConflictException.*'workers' of cluster demo is in Updating state"):
        patch(four)
    four.sagemaker.delete_cluster(ClusterName="demo")
    with pytest.raises(ClientError, match=r"ConflictException.*Deleting"):
        patch(four)


def test_what_stands_of_a_release(four: TestWorld) -> None:
    """HP-30: UpToDate, UpdateAvailable, SecurityUpdateRequired, EndOfLife."""

    def standing() -> str:
        assert four.nodes()[0]["ImageVersionStatus"] == four.group("workers")["ImageVersionStatus"]
        name = four.nodes()[0]["InstanceId"]
        details = four.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=name)["NodeDetails"]
        assert (details["CurrentImageReleaseVersion"], details["DesiredImageReleaseVersion"]) == (NEW, NEW)
        return str(details["ImageVersionStatus"])

    assert standing() == "UpdateAvailable"
    four.control("POST", "images/retire", json={"version": NEXT})
    assert standing() == "UpToDate"
    publish(four, "1.2.1", security=True)
    assert standing() == "SecurityUpdateRequired"
    four.control("POST", "images/retire", json={"version": NEW})
    assert standing() == "EndOfLife"
    with pytest.raises(ClientError, match="has reached its end of life"):
        patch(four, InstanceGroups=[{"InstanceGroupName": "workers", "ImageReleaseVersion": NEXT}])


def test_scaling_meanwhile(four: TestWorld) -> None:
    """HP-30: new nodes start on the desired image and count; who is told to stop is not waited for."""
    patch(four, DeploymentConfig=rolling(1, wait=60))
    four.advance(1)
    four.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("workers", 6, InstanceType=P5)])
    four.advance(20)
    assert shown(four) == ("SystemUpdating", "InProgress", 3)
    victim = next(n["InstanceId"] for n in four.nodes() if n["CurrentImageReleaseVersion"] == NEW)
    four.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[victim])
    four.sagemaker.batch_add_cluster_nodes(
        ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    )
    four.advance(minutes=10)
    assert shown(four) == ("InService", "Succeeded", 6)
    four.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("workers", 2, InstanceType=P5)])
    publish(four, "2.0.0")
    patch(four)
    four.advance(minutes=1)
    assert shown(four) == ("InService", "Succeeded", 2)


def test_deleted_meanwhile(four: TestWorld) -> None:
    """HP-19, HP-30: a group and a cluster may always be deleted."""
    four.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("others", 1)])
    four.advance(minutes=1)
    patch(four)
    four.advance(1)
    four.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["workers"])
    four.advance(minutes=1)
    assert [g["InstanceGroupName"] for g in four.describe()["InstanceGroups"]] == ["others"]
    publish(four, "2.0.0")
    patch(four)
    four.advance(1)
    four.sagemaker.delete_cluster(ClusterName="demo")
    four.advance(minutes=1)
    assert four.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert all(interval["ended"] for interval in [])


def test_a_machine_breaks_meanwhile(four: TestWorld) -> None:
    """HP-29, HP-30: it is replaced, and the new instance runs the desired image."""
    node = four.nodes(IncludeNodeLogicalIds=True)[0]
    four.fault("node-hardware", node=node["NodeLogicalId"], seconds=4, times=1)
    patch(four)
    four.advance(minutes=2)
    assert shown(four) == ("InService", "Succeeded", 4)
    assert {n["CurrentImageReleaseVersion"] for n in four.nodes()} == {NEXT}


def test_a_minimum_that_is_not_met_meanwhile(four: TestWorld) -> None:
    """HP-17, HP-30: the counts roll back, the software update goes on."""
    four.capacity(P5, 4)
    patch(four, DeploymentConfig=rolling(1, wait=3600))
    four.advance(60)
    four.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=[group("workers", 6, InstanceType=P5, MinInstanceCount=6)]
    )
    four.advance(60)
    assert shown(four)[:2] == ("Updating", "InProgress")
    four.advance(hours=3)
    assert four.group("workers")["TargetCount"] == 4
    four.advance(hours=1)
    assert shown(four) == ("InService", "Succeeded", 4)


def test_a_new_group_inherits_the_eldest_group_s_image(four: TestWorld) -> None:
    """HP-30: unless it asks for one."""
    four.sagemaker.update_cluster(
        ClusterName="demo",
        InstanceGroups=[group("heir", 1), group("own", 1, ImageReleaseVersion=OLD)],
    )
    four.advance(minutes=1)
    assert [versions(four, name) for name in ("workers", "heir", "own")] == [(NEW, NEW), (NEW, NEW), (OLD, OLD)]
    four.sagemaker.create_cluster(**eks(group("a", 1), name="young"))
    assert four.group("a", "young")["DesiredImageReleaseVersion"] == NEXT


def test_a_script_that_hangs(four: TestWorld) -> None:
    """HP-30."""
    four.fault("script-hang", operation=SCRIPT, times=1)
    patch(four)
    four.advance(64.5)
    assert "Lifecycle scripts execution timed out" in [n["InstanceStatus"].get("Message") for n in four.nodes()]
    four.advance(minutes=2)
    assert shown(four) == ("InService", "Succeeded", 4)


def test_without_a_script(world: TestWorld) -> None:
    """HP-30: the root volume alone is replaced."""
    bare = group("workers", 2, InstanceType=P5)
    del bare["LifeCycleConfig"]
    world.sagemaker.create_cluster(**eks(bare))
    world.advance(minutes=1)
    publish(world)
    patch(world)
    world.advance(minutes=1)
    assert shown(world) == ("InService", "Succeeded", 2)


def test_the_same_bytes_however_it_is_cut(service: Running) -> None:
    """CT-1, HP-30: by the second or at once, and in a fork."""

    def told_by(steps: list[float]) -> bytes:
        world = service.world(seed=5)
        world.sagemaker.create_cluster(**eks(group("workers", 7, InstanceType=P5)))
        world.fault("script-failed", operation=SCRIPT, probability=0.5, times=9)
        world.fault("node-hardware", probability=0.3, seconds=200)
        world.advance(60)
        publish(world)
        patch(world, DeploymentConfig=rolling(3, 30, **watching()))
        for step in steps:
            world.advance(step)
        alarm(world, "ALARM")
        for step in steps:
            world.advance(step)
        assert world.group("workers")["SoftwareUpdateStatus"] in ("RollbackComplete", "Failed", "Succeeded")
        exported = world.export()
        world.close()
        return exported

    assert told_by([300]) == told_by([1] * 300) == told_by([0.7, 99.3, 200])


def test_two_callers_at_once(four: TestWorld) -> None:
    """HP-30: one update begins, the others are refused."""
    four.sagemaker.list_clusters()

    def ask(_: int) -> str:
        try:
            patch(four)
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "begun"

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(ask, range(8)))
    assert answers == ["ConflictException"] * 7 + ["begun"]
    four.advance(minutes=1)
    assert shown(four) == ("InService", "Succeeded", 4)


def test_a_fork_in_the_middle(four: TestWorld, service: Running) -> None:
    """CT-2, HP-30: the fork goes on as its source does, with its own releases and alarms."""
    patch(four, DeploymentConfig=rolling(2, 300, **watching()))
    four.advance(100)
    body = {"name": f"{four.name}-twin", "fork_of": four.name}
    httpx.post(f"{service.base}/_windtunnel/worlds", json=body).raise_for_status()
    twin = TestWorld(service.base, f"{four.name}-twin")
    alarm(twin, "ALARM")
    for world in (four, twin):
        world.advance(minutes=20)
    assert (shown(four)[1], shown(twin)[1]) == ("Succeeded", "RollbackComplete")
    twin.close()
