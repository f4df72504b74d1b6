"""What has hurt people who run HyperPod, each as a scenario: the numbers are those of public issues and pull requests.

docs/fidelity.md names the sources. Pains outside of the control plane (scripts, templates, data planes) are not here.
"""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, classic, eks, group, login, slurm, workers

P5 = "ml.p5.48xlarge"


def code_of(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_a_creation_that_rolls_back_tells_why_in_describe_alone(world: TestWorld) -> None:
    """awsome-distributed-ai 204: no capacity for one group takes the whole classic cluster back (HP-40)."""
    world.capacity(P5, 3)
    world.sagemaker.create_cluster(**classic(group("head"), group("gpu", 4, InstanceType=P5)))
    seen = []
    for _ in range(40):
        status = world.describe()["ClusterStatus"]
        seen += [status] if status not in seen else []
        world.advance(seconds=1)
    assert seen == ["Creating", "RollingBack", "Failed"]
    failed = world.describe()
    assert "We currently do not have sufficient capacity" in failed["FailureMessage"]
    assert world.nodes() == []
    assert world.bill()["total_micro_usd"] >= 0
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=1)
    world.capacity(P5, 4)
    world.sagemaker.create_cluster(**classic(group("head"), group("gpu", 4, InstanceType=P5)))
    world.advance(minutes=1)
    assert world.describe()["ClusterStatus"] == "InService"


def test_a_failure_before_the_script_leaves_no_log(world: TestWorld) -> None:
    """awsome-distributed-ai 189: the EFA check fails first, so no lifecycle script starts and nothing is billed."""
    world.fault("launch-unhealthy", group="gpu")
    world.sagemaker.create_cluster(**classic(group("gpu", 2)))
    world.advance(minutes=2)
    failed = world.describe()
    assert failed["ClusterStatus"] == "Failed"
    assert "EFA health checks did not run successfully" in failed["FailureMessage"]
    assert world.bill()["lines"] == []


def test_lifecycle_scripts_fail_now_and_then(world: TestWorld) -> None:
    """awsome-distributed-ai 186: some nodes, by the seed; on a continuous cluster they are tried again and join."""
    world.fault("script-failed", group="gpu", probability=0.4, attempt=1)
    world.sagemaker.create_cluster(**eks(group("gpu", 20)))
    world.advance(seconds=6)
    failed = [
        node for node in world.nodes() if "Lifecycle scripts did not run" in node["InstanceStatus"].get("Message", "")
    ]
    assert 0 < len(failed) < 20
    world.advance(minutes=5)
    assert world.group("gpu")["CurrentCount"] == 20


def test_a_quota_is_told_with_its_numbers(world: TestWorld) -> None:
    """awsome-distributed-ai 198: the code and the sentence that Service Quotas' users know; a higher quota helps."""
    world.control("POST", "quotas", json={"name": f"{P5} for cluster usage", "value": 1})
    with pytest.raises(ClientError, match="is 1 Instances, with current utilization of 0") as refused:
        world.sagemaker.create_cluster(**slurm(workers(2)))
    assert code_of(refused) == "ResourceLimitExceeded"
    world.control("POST", "quotas", json={"name": f"{P5} for cluster usage", "value": 2})
    world.sagemaker.create_cluster(**slurm(workers(2)))


def test_slurm_parameters_come_in_slurm_config(world: TestWorld) -> None:
    """awsome-distributed-ai 1028: with Continuous it is the API's SlurmConfig that counts (HP-10)."""
    with pytest.raises(ClientError, match="has no InstanceGroup with SlurmConfig") as refused:
        world.sagemaker.create_cluster(**classic(group("gpu"), NodeProvisioningMode="Continuous"))
    assert code_of(refused) == "ValidationException"
    world.sagemaker.create_cluster(**slurm(workers(1)))


def test_a_targeted_deletion_moves_the_target(world: TestWorld) -> None:
    """awsome-distributed-ai PR 1011: UpdateCluster cannot choose its victims, BatchDelete can, and the target follows:
    a tool that sends the old count again buys the node back."""
    world.sagemaker.create_cluster(**eks(group("gpu", 3)))
    world.advance(minutes=1)
    victim = world.nodes()[1]["InstanceId"]
    world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[victim])
    assert world.group("gpu")["TargetCount"] == 2
    world.advance(minutes=1)
    assert victim not in {node["InstanceId"] for node in world.nodes()}
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("gpu", 3)])
    world.advance(minutes=1)
    assert world.group("gpu")["CurrentCount"] == 3


def test_an_account_with_slurm_and_eks_clusters(world: TestWorld) -> None:
    """sagemaker-hyperpod-cli 264: a Slurm cluster made without Orchestrator has none in its description."""
    world.sagemaker.create_cluster(**slurm(workers(1), name="on-slurm"))
    world.sagemaker.create_cluster(**eks(group("gpu"), name="on-eks"))
    listed = world.sagemaker.list_clusters()["ClusterSummaries"]
    orchestrated = {one["ClusterName"]: "Orchestrator" in world.describe(one["ClusterName"]) for one in listed}
    assert orchestrated == {"on-slurm": False, "on-eks": True}


def test_the_code_of_what_is_not_there(world: TestWorld) -> None:
    """sagemaker-hyperpod-cli waits for `ResourceNotFoundException`, which never comes."""
    with pytest.raises(ClientError) as missing:
        world.describe("nobody")
    assert code_of(missing) == "ResourceNotFound"
    assert type(missing.value).__name__ == "ResourceNotFound"


def test_groups_keep_their_order_and_their_split(world: TestWorld) -> None:
    """terraform-provider-awscc 3025 and 3110: groups stay in the order of their making however an update sorts them,
    are matched by name, and what Kubernetes has is told apart from what it is to have."""
    taint = {"Key": "gpu", "Value": "yes", "Effect": "NoSchedule"}
    groups = [
        group(name, 1, KubernetesConfig={"Labels": {"team": name}, "Taints": [taint]}) for name in ("c", "a", "b")
    ]
    world.sagemaker.create_cluster(**eks(*groups))
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("b", 2), group("c", 1)])
    world.advance(minutes=1)
    seen = world.describe()["InstanceGroups"]
    assert [(one["InstanceGroupName"], one["CurrentCount"]) for one in seen] == [("c", 1), ("a", 1), ("b", 2)]
    assert seen[1]["KubernetesConfig"] == {
        "CurrentLabels": {"team": "a"},
        "DesiredLabels": {"team": "a"},
        "CurrentTaints": [taint],
        "DesiredTaints": [taint],
    }


def test_deleting_what_is_busy(world: TestWorld) -> None:
    """alchemy PR 924: a classic cluster that is being created or updated is not deleted; the caller tries again."""
    world.sagemaker.create_cluster(**classic(group("gpu", 2)))
    with pytest.raises(ClientError, match="Creating") as busy:
        world.sagemaker.delete_cluster(ClusterName="demo")
    assert code_of(busy) == "ConflictException"
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("gpu", 3)])
    assert world.describe()["ClusterStatus"] == "Updating"
    with pytest.raises(world.sagemaker.exceptions.ConflictException):
        world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=1)
    world.sagemaker.delete_cluster(ClusterName="demo")


def test_a_role_that_is_not_there_yet(world: TestWorld) -> None:
    """alchemy PR 924: a new role takes a while to be known everywhere; clients repeat for a minute."""
    text = "The service cannot assume the execution role arn:aws:iam::111122223333:role/new. Verify that it exists."
    world.fault("api-error", operation="CreateCluster", code="ValidationException", message=text, times=3)
    tries = 0
    while True:
        tries += 1
        try:
            world.sagemaker.create_cluster(**eks(group("gpu")))
            break
        except ClientError as error:
            assert "cannot assume the execution role" in str(error)
            world.advance(seconds=5)
    assert tries == 4


def test_nodes_that_wait_for_days(world: TestWorld) -> None:
    """ml-container-creator PR 297: no capacity for 48 hours; the cluster is InService, the nodes keep on trying, the
    reason is on each of them, nothing is billed, and capacity ends it."""
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**eks(group("gpu", 2, InstanceType=P5)))
    world.advance(hours=48)
    assert world.describe()["ClusterStatus"] == "InService"
    waiting = world.nodes(IncludeNodeLogicalIds=True)
    assert all("sufficient capacity" in node["InstanceStatus"]["Message"] for node in waiting)
    assert (len(waiting), world.bill()["lines"]) == (2, [])
    world.capacity(P5, 2)
    world.advance(minutes=1)
    assert world.group("gpu")["CurrentCount"] == 2


def test_capacity_lies_in_the_wrong_zone(world: TestWorld) -> None:
    """ai-on-sagemaker-hyperpod 142: the subnet's zone has none while its neighbour has plenty; another subnet helps."""
    world.sagemaker.create_cluster(**eks(group("probe")))
    world.advance(minutes=1)
    zone = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=world.nodes()[0]["InstanceId"])[
        "NodeDetails"
    ]["Placement"]["AvailabilityZone"]
    other = next(f"us-west-2{letter}" for letter in "abc" if f"us-west-2{letter}" != zone)
    world.capacity(P5, 0, zone=zone)
    world.capacity(P5, 8, zone=other)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("gpu", 1, InstanceType=P5)])
    world.advance(minutes=5)
    assert world.group("gpu")["CurrentCount"] == 0
    spread = {"SecurityGroupIds": ["sg-12345678"], "Subnets": [f"subnet-{n:08x}" for n in range(16)]}
    world.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=[group("wide", 1, InstanceType=P5, OverrideVpcConfig=spread)]
    )
    world.advance(minutes=5)
    assert world.group("wide")["CurrentCount"] == 1


def test_an_inventory_of_many_clusters(world: TestWorld) -> None:
    """cloud-custodian 9355: every cluster once, page by page."""
    for number in range(23):
        world.sagemaker.create_cluster(**classic(group("gpu"), name=f"c-{number:02}"))
    pages = list(world.sagemaker.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 10}))
    names = [one["ClusterName"] for page in pages for one in page["ClusterSummaries"]]
    assert [len(page["ClusterSummaries"]) for page in pages] == [10, 10, 3]
    assert sorted(names) == [f"c-{number:02}" for number in range(23)]


def test_one_fault_is_two_events(world: TestWorld) -> None:
    """The mental model of July 2026: whoever counts Error events counts each failure twice (HP-27)."""
    world.fault("launch-transient", group="gpu", times=1)
    world.sagemaker.create_cluster(**eks(group("gpu")))
    world.advance(minutes=1)
    errors = [event for event in world.events() if event["EventLevel"] == "Error"]
    assert [event["Description"].split(" in ")[0] for event in errors] == [
        "Failed to provision EC2 Instance",
        "Instance creation",
    ]
    assert (errors[1]["EventTime"] - errors[0]["EventTime"]).total_seconds() == 1


def test_scaling_does_not_show_in_the_cluster_s_status(world: TestWorld) -> None:
    """The same: InService all the time, while CurrentCount differs from TargetCount (HP-7)."""
    world.sagemaker.create_cluster(**slurm(login(1), workers(2)))
    world.advance(minutes=1)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(4)])
    seen: set[tuple[Any, ...]] = set()
    for _ in range(12):
        now = world.group("workers")
        seen.add(
            (world.describe()["ClusterStatus"], now["CurrentCount"], now["TargetCount"], "ActiveOperations" in now)
        )
        world.advance(seconds=1)
    assert seen == {("InService", 2, 4, True), ("InService", 4, 4, False)}
