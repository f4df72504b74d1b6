"""A cluster's life by clients that are no boto3: the AWS SDK for JavaScript v3, and `aws` version 1."""

import pytest

from tests.clients.drivers import Driver, Refused
from tests.kit import TestWorld, slurm, workers


def status(client: Driver) -> str:
    return client.call("DescribeCluster", ClusterName="demo")["ClusterStatus"]


def test_a_clusters_life(client: Driver, world: TestWorld) -> None:
    """HP-W1 to HP-W7: create, wait, list by pages, read events, add, delete and update, and the end."""
    arn = client.call("CreateCluster", **slurm(workers(3)))["ClusterArn"]
    assert status(client) == "Creating"
    world.advance(minutes=10)
    assert client.call("DescribeCluster", ClusterName=arn)["ClusterStatus"] == "InService"
    (listed,) = client.call("ListClusters", NameContains="dem")["ClusterSummaries"]
    assert (listed["ClusterArn"], listed["ClusterStatus"]) == (arn, "InService")

    nodes = client.pages("ListClusterNodes", 3, ClusterName="demo", SortBy="NAME")
    assert [one["InstanceGroupName"] for one in nodes] == ["controller", "workers", "workers", "workers"]
    assert {one["InstanceStatus"]["Status"] for one in nodes} == {"Running"}
    node = client.call("DescribeClusterNode", ClusterName="demo", NodeId=nodes[1]["InstanceId"])["NodeDetails"]
    assert (node["InstanceId"], node["InstanceType"]) == (nodes[1]["InstanceId"], "ml.p5.48xlarge")

    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 2}]
    added = client.call("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=more, ClientToken="c" * 32)
    assert len(added["Successful"]) == 2
    world.advance(minutes=10)
    taken = client.call("BatchDeleteClusterNodes", ClusterName="demo", NodeIds=[nodes[1]["InstanceId"]])
    assert taken["Successful"] == [nodes[1]["InstanceId"]]
    world.advance(minutes=10)
    assert len(world.nodes()) == 5

    client.call("UpdateCluster", ClusterName="demo", InstanceGroups=[workers(1)])
    world.advance(minutes=10)
    assert len(client.pages("ListClusterNodes", 100, ClusterName="demo")) == 2
    events = client.pages("ListClusterEvents", 20, ClusterName="demo")
    assert [one["EventId"] for one in events] == [one["EventId"] for one in reversed(world.events())]
    told = client.call("DescribeClusterEvent", ClusterName="demo", EventId=events[0]["EventId"])["EventDetails"]
    assert told["Description"] == events[0]["Description"]

    assert client.call("DeleteCluster", ClusterName="demo")["ClusterArn"] == arn
    assert status(client) == "Deleting"
    world.advance(minutes=20)
    with pytest.raises(Refused) as caught:
        status(client)
    assert caught.value.code == "ResourceNotFound"


def test_errors_are_known_by_their_codes(client: Driver, world: TestWorld) -> None:
    """HP-W3: the name and the text that the client shows are the service's."""

    def refusal(operation: str, **request: object) -> Refused:
        with pytest.raises(Refused) as caught:
            client.call(operation, **request)
        return caught.value

    client.call("CreateCluster", **slurm(workers(1)))
    taken = refusal("CreateCluster", **slurm(workers(1)))
    assert (taken.code, "already exists" in taken.message) == ("ResourceInUse", True)
    wrong = refusal("CreateCluster", **slurm(workers(1), name="bad_name"))
    assert (wrong.code, "clusterName" in wrong.message) == ("ValidationException", True)
    token = refusal("ListClusterNodes", ClusterName="demo", NextToken="bm9uc2Vuc2U=")
    assert (token.code, "NextToken" in token.message) == ("ValidationException", True)
    assert refusal("DeleteCluster", ClusterName="nobody").code == "ResourceNotFound"
    world.fault("api-throttle", operation="ListClusters")
    assert refusal("ListClusters").code == "ThrottlingException"
