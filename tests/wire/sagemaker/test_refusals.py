"""What no model states: each refusal has the service's code, names what is wrong and says what to do."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, slurm, workers
from tests.wire.sagemaker.refused import EVENT, INVALID, LIMIT, NOT_FOUND, refusal


def test_quotas_of_the_account(world: TestWorld) -> None:
    """CT-4, HP-W3: ResourceLimitExceeded in AWS's sentence, at creation, update and addition."""
    quota = "ml.p5.48xlarge for cluster usage"
    world.control("POST", "quotas", json={"name": quota, "value": 4})
    code, message = refusal(world.sagemaker.create_cluster, **slurm(workers(5)))
    assert code == LIMIT
    assert message.startswith(
        f"The account-level service limit '{quota}' is 4 Instances, with current utilization of 0 "
    )
    world.sagemaker.create_cluster(**slurm(workers(4)))
    world.advance(60)
    update = {"ClusterName": "demo", "InstanceGroups": [workers(5)]}
    code, message = refusal(world.sagemaker.update_cluster, **update)
    assert code in (LIMIT, INVALID)
    add = {"ClusterName": "demo", "NodesToAdd": [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]}
    assert refusal(world.sagemaker.batch_add_cluster_nodes, **add)[0] == LIMIT
    assert world.group("workers")["TargetCount"] == 4


@pytest.mark.parametrize("name", ["nobody", "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"])
def test_what_is_not_there(world: TestWorld, name: str) -> None:
    """HP-W3: ResourceNotFound from every operation on a cluster, by name and by ARN."""
    sagemaker = world.sagemaker
    calls: list[tuple[str, dict[str, Any]]] = [
        ("describe_cluster", {}),
        ("update_cluster", {"InstanceGroups": [workers(1)]}),
        ("delete_cluster", {}),
        ("list_cluster_nodes", {}),
        ("describe_cluster_node", {"NodeId": "i-0123456789abcdef0"}),
        ("list_cluster_events", {}),
        ("describe_cluster_event", {"EventId": EVENT}),
        ("batch_add_cluster_nodes", {"NodesToAdd": [{"InstanceGroupName": "g", "IncrementTargetCountBy": 1}]}),
        ("batch_delete_cluster_nodes", {"NodeIds": ["i-0123456789abcdef0"]}),
    ]
    for operation, arguments in calls:
        code, message = refusal(getattr(sagemaker, operation), ClusterName=name, **arguments)
        assert code == NOT_FOUND, operation
        assert name in message


def test_nodes_and_events_that_are_not_there(world: TestWorld) -> None:
    """HP-W3: also another cluster's event id finds nothing."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.sagemaker.create_cluster(**slurm(workers(1), name="other"))
    world.advance(60)
    sagemaker = world.sagemaker
    foreign = world.events("other")[0]["EventId"]
    for operation, arguments in (
        ("describe_cluster_node", {"NodeId": "i-0123456789abcdef0"}),
        ("describe_cluster_node", {"NodeLogicalId": EVENT}),
        ("describe_cluster_node", {"NodeId": world.nodes("other")[0]["InstanceId"]}),
        ("describe_cluster_event", {"EventId": EVENT}),
        ("describe_cluster_event", {"EventId": foreign}),
    ):
        assert refusal(getattr(sagemaker, operation), ClusterName="demo", **arguments)[0] == NOT_FOUND
    node = world.nodes(IncludeNodeLogicalIds=True)[0]
    both = {"NodeId": node["InstanceId"], "NodeLogicalId": node["NodeLogicalId"]}
    for arguments in (both, {}):
        code, message = refusal(sagemaker.describe_cluster_node, ClusterName="demo", **arguments)
        assert (code, message) == (INVALID, "Give exactly one of NodeId and NodeLogicalId.")


def test_tags_of_what_is_not_there(world: TestWorld) -> None:
    """HP-W3: another account's or no ARN."""
    arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
    other = world.client(account="444455556666")
    for client, name in ((other, arn), (world.sagemaker, arn[:-1] + "~")):
        for call, arguments in (
            (client.add_tags, {"Tags": [{"Key": "a", "Value": "b"}]}),
            (client.list_tags, {}),
            (client.delete_tags, {"TagKeys": ["a"]}),
        ):
            code, message = refusal(call, ResourceArn=name, **arguments)
            assert code in (INVALID, NOT_FOUND)
            assert message
    many = [{"Key": f"k{number}", "Value": "v"} for number in range(30)]
    world.sagemaker.add_tags(ResourceArn=arn, Tags=many)
    more = [{"Key": f"m{number}", "Value": "v"} for number in range(21)]
    assert refusal(world.sagemaker.add_tags, ResourceArn=arn, Tags=more)[0] in (INVALID, LIMIT)
    assert len(world.sagemaker.list_tags(ResourceArn=arn)["Tags"]) == 30


@pytest.mark.parametrize("key", ["aws:name", "AWS:Name", "aWs:"])
def test_tag_keys_that_are_awss_own(world: TestWorld, key: str) -> None:
    """HP-W3: `aws:`, in any case, is reserved; at creation and later."""
    tags = [{"Key": "mine", "Value": "1"}, {"Key": key, "Value": "2"}]
    code, message = refusal(world.sagemaker.create_cluster, **slurm(workers(1), Tags=tags))
    assert (code, message) == (
        INVALID,
        f"Tag keys beginning with 'aws:' are reserved for AWS: {key}. Choose other keys.",
    )
    arn = world.sagemaker.create_cluster(**slurm(workers(1), Tags=[{"Key": "laws:x", "Value": "1"}]))["ClusterArn"]
    assert refusal(world.sagemaker.add_tags, ResourceArn=arn, Tags=tags) == (code, message)
    assert world.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "laws:x", "Value": "1"}]


def test_every_broken_constraint_is_named_at_once(world: TestWorld) -> None:
    """HP-W4: what boto3 lets through, in AWS's sentences, before any state is read."""
    request = slurm(workers(7000, SlurmConfig={"NodeType": "Boss"}), name="bad name!!", NodeRecovery="Maybe")
    code, message = refusal(world.sagemaker.create_cluster, **request)
    assert code == INVALID
    assert message.startswith("4 validation errors detected: ")
    for path in ("clusterName", "nodeRecovery", "instanceGroups.2.member.instanceCount", "slurmConfig.nodeType"):
        assert path in message


def test_operations_that_are_not_emulated(world: TestWorld) -> None:
    """HP-W5: 501 and its name, never a made-up success."""
    with pytest.raises(ClientError) as refused:
        world.sagemaker.list_notebook_instances()
    answer = refused.value.response
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 501
    assert answer["Error"]["Code"] == "NotImplemented"
    assert "ListNotebookInstances" in answer["Error"]["Message"]
