"""A world with the profile moto: what moto's own ten cluster tests ask and assert, told in our words, and what its
clients meet beyond them."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, group

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/service-role/AmazonSageMaker-TestExecutionRole"
VPC = {"SecurityGroupIds": ["sg-12345678901234567"], "Subnets": ["subnet-12345678901234567"]}


def machines(name: str, count: int, kind: str, bucket: str, threads: int) -> dict[str, Any]:
    life = {"SourceS3Uri": bucket, "OnCreate": "filename"}
    facts = {"InstanceType": kind, "LifeCycleConfig": life, "ExecutionRole": ROLE, "ThreadsPerCore": threads}
    return group(name, count, **facts)


TEN = machines("testgroup", 10, "ml.p4d.24xlarge", "s3://sagemaker-lifecycleconfig", 2)
FIFTEEN = machines("testgroup2", 15, "ml.g5.8xlarge", "s3://sagemaker-lifecycleconfig2", 1)


def request(name: str = "testcluster", **facts: Any) -> dict[str, Any]:
    tags = [{"Key": "testkey", "Value": "testvalue"}]
    return {"ClusterName": name, "InstanceGroups": [TEN, FIFTEEN], "VpcConfig": VPC, "Tags": tags} | facts


@pytest.fixture
def moto(service: Running) -> Iterator[TestWorld]:
    """A frozen world with the profile moto."""
    made = service.world(profile="moto")
    yield made
    made.close()


@pytest.fixture
def client(moto: TestWorld) -> Any:
    """As under moto's decorator: an access key that is no account."""
    return moto.client(account="FOOBARKEY", region="us-east-1")


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(**request)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_an_arn_ends_in_the_name(client: Any) -> None:
    assert (
        client.create_cluster(**request())["ClusterArn"] == f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:cluster/testcluster"
    )


@pytest.mark.parametrize("region", ["us-east-2", "ap-southeast-1", "eu-west-1"])
def test_a_cluster_is_in_service_at_once(moto: TestWorld, region: str) -> None:
    client = moto.client(account="FOOBARKEY", region=region)
    arn = client.create_cluster(**request())["ClusterArn"]
    found = client.describe_cluster(ClusterName=arn)
    assert (found["ClusterArn"], found["ClusterName"], found["ClusterStatus"]) == (arn, "testcluster", "InService")
    shown = [{**one} for one in (TEN, FIFTEEN)]
    for one in shown:
        one["CurrentCount"] = one["TargetCount"] = one.pop("InstanceCount")
    assert found["InstanceGroups"] == shown
    assert found["VpcConfig"] == VPC


def test_a_deleted_cluster_is_gone_at_once(client: Any) -> None:
    arn = client.create_cluster(**request())["ClusterArn"]
    assert client.delete_cluster(ClusterName=arn)["ClusterArn"] == arn
    assert refused(client.describe_cluster, ClusterName=arn) == (
        "ValidationException",
        "Could not find cluster 'testcluster'.",
    )


def test_a_node_is_named_after_its_group(client: Any) -> None:
    client.create_cluster(**request())
    node = client.describe_cluster_node(ClusterName="testcluster", NodeId="testgroup2-4")["NodeDetails"]
    assert (node["InstanceGroupName"], node["InstanceId"]) == ("testgroup2", "testgroup2-4")
    assert node["InstanceStatus"] == {"Status": "Running", "Message": "message"}
    assert node["InstanceType"] == "ml.g5.8xlarge"
    assert node["LifeCycleConfig"] == FIFTEEN["LifeCycleConfig"]
    assert node["ThreadsPerCore"] == 1


def test_clusters_are_listed_as_they_came(client: Any) -> None:
    for name in ("testcluster", "testcluster2"):
        client.create_cluster(**request(name))
    listed = client.list_clusters()["ClusterSummaries"]
    assert [(one["ClusterName"], one["ClusterStatus"]) for one in listed] == [
        ("testcluster", "InService"),
        ("testcluster2", "InService"),
    ]
    assert [one["ClusterArn"].rpartition("/")[2] for one in listed] == ["testcluster", "testcluster2"]


def test_lists_sort_by_the_words_that_moto_knows(client: Any, moto: TestWorld) -> None:
    for name in ("testcluster22", "testcluster", "testcluster2"):
        client.create_cluster(**request(name))
        moto.advance(1)

    def names(**question: Any) -> list[str]:
        return [one["ClusterName"] for one in client.list_clusters(**question)["ClusterSummaries"]]

    assert names(NameContains="2", SortBy="Name", SortOrder="Ascending") == ["testcluster2", "testcluster22"]
    assert names(SortBy="CreationTime", SortOrder="Descending") == ["testcluster2", "testcluster", "testcluster22"]


def test_nodes_are_listed_group_by_group(client: Any) -> None:
    client.create_cluster(**request(InstanceGroups=[FIFTEEN, TEN]))
    every = client.list_cluster_nodes(ClusterName="testcluster")["ClusterNodeSummaries"]
    assert [one["InstanceId"] for one in every] == [
        *(f"testgroup2-{n}" for n in range(15)),
        *(f"testgroup-{n}" for n in range(10)),
    ]
    chosen = client.list_cluster_nodes(ClusterName="testcluster", InstanceGroupNameContains="testgroup2")
    assert len(chosen["ClusterNodeSummaries"]) == 15
    first = chosen["ClusterNodeSummaries"][0]
    assert (first["InstanceGroupName"], first["InstanceId"]) == ("testgroup2", "testgroup2-0")
    assert first["InstanceType"] == "ml.g5.8xlarge"
    assert first["InstanceStatus"] == {"Status": "Running", "Message": "message"}


def test_tags_keep_their_order(client: Any) -> None:
    arn = client.create_cluster(**request())["ClusterArn"]
    client.add_tags(ResourceArn=arn, Tags=[{"Key": "testkey2", "Value": "testvalue2"}])
    assert client.list_tags(ResourceArn=arn)["Tags"] == [
        {"Key": "testkey", "Value": "testvalue"},
        {"Key": "testkey2", "Value": "testvalue2"},
    ]


def test_a_name_is_taken_in_motos_words(client: Any) -> None:
    client.create_cluster(**request())
    assert refused(client.create_cluster, **request()) == (
        "ResourceInUse",
        "Resource Already Exists: Cluster with name testcluster already exists. Choose a different name.",
    )


def test_scripts_come_from_a_bucket_of_sagemakers(client: Any) -> None:
    groups = [machines("testgroup", 10, "ml.p4d.24xlarge", "s3://lifecycleconfig", 2), FIFTEEN]
    assert refused(client.create_cluster, **request(InstanceGroups=groups)) == (
        "ValidationException",
        "Validation Error: SourceS3Uri s3://lifecycleconfig does not start with 's3://sagemaker'.",
    )
    assert client.list_clusters()["ClusterSummaries"] == []
