"""Every answer against botocore's own shapes: no unknown member, none missing, no null, every value in its range."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from app.wire import emulated
from tests.governance import SHAPES, Governed
from tests.kit import Running, TestWorld, classic, eks, group, login, slurm, workers
from tests.plans import exercise

REQUEST = json.loads(Path("examples/create_cluster.json").read_text())


def problems(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """What botocore's shape does not allow in a JSON value."""
    if value is None:
        yield f"{path} is null"
        return
    kind = shape.type_name
    if kind == "structure":
        unknown = set(value) - set(shape.members)
        missing = set(shape.required_members) - set(value)
        yield from (f"{path}.{name} is unknown" for name in unknown)
        yield from (f"{path}.{name} is missing" for name in missing)
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            yield f"{path} is a union with {sorted(value)}"
        for name in set(value) & set(shape.members):
            yield from problems(shape.members[name], value[name], f"{path}.{name}")
    elif kind == "list":
        for place, item in enumerate(value):
            yield from problems(shape.member, item, f"{path}[{place}]")
    elif kind == "map":
        for key, item in value.items():
            yield from problems(shape.key, key, f"{path} key")
            yield from problems(shape.value, item, f"{path}.{key}")
    elif kind == "string":
        yield from string_problems(shape, value, path)
    elif kind in ("integer", "long", "float", "double", "timestamp"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"{path} is {value!r}, no number"
        elif kind in ("integer", "long") and not shape.metadata.get("min", value) <= value <= shape.metadata.get(
            "max", value
        ):
            yield f"{path} is out of range: {value}"
    elif kind == "boolean" and not isinstance(value, bool):
        yield f"{path} is no boolean"


def string_problems(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{path} is {value!r}, no string"
        return
    if shape.enum and value not in shape.enum:
        yield f"{path} is {value!r}, none of {shape.enum}"
    if not shape.metadata.get("min", 0) <= len(value) <= shape.metadata.get("max", 10**9):
        yield f"{path} has length {len(value)}"
    pattern = shape.metadata.get("pattern")
    if pattern and r"\p" not in pattern and not re.fullmatch(pattern, value):
        yield f"{path} is {value!r}, not {pattern}"


class Recorder:
    """Calls through boto3, keeping each answer as it came over the wire."""

    def __init__(self, world: TestWorld) -> None:
        self.world, self.client = world, world.sagemaker
        self.seen: set[str] = set()
        self.found: list[str] = []
        self.raw = b""
        self.client.meta.events.register("before-parse.sagemaker", self._keep)

    def _keep(self, response_dict: dict[str, Any], **_: Any) -> None:
        self.raw = response_dict["body"]

    def __call__(self, operation: str, **request: Any) -> Any:
        model = self.client.meta.service_model.operation_model(operation)
        method = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower()
        parsed = getattr(self.client, method)(**request)
        raw = json.loads(self.raw or b"{}")
        self.seen.add(operation)
        if model.output_shape is not None:
            self.found += list(problems(model.output_shape, raw, operation))
            kept = {key for key in parsed if key != "ResponseMetadata"}
            self.found += [f"{operation}.{key} was not parsed" for key in set(raw) ^ kept]
        assert parsed["ResponseMetadata"]["RequestId"]
        return parsed


def rich() -> dict[str, Any]:
    """A request that uses what a request can use."""
    vpc = {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678", "subnet-0123456789abcdef0"]}
    return eks(
        group(
            "rich",
            2,
            ThreadsPerCore=1,
            OverrideVpcConfig=vpc,
            ImageId="ami-0123456789abcdef0",
            OnStartDeepHealthChecks=["InstanceStress"],
            InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 100}}],
            KubernetesConfig={"Labels": {"a": "b"}, "Taints": [{"Key": "k", "Effect": "NoSchedule"}]},
            CapacityRequirements={"Spot": {}},
            ScheduledUpdateConfig={"ScheduleExpression": "cron(0 0 1 * ? *)"},
            MinInstanceCount=1,
        ),
        {key: value for key, value in group("flex", 1).items() if key != "InstanceType"}
        | {"InstanceRequirements": {"InstanceTypes": ["ml.g5.xlarge", "ml.g5.2xlarge"]}},
        group("spare", 0, CapacityRequirements={"Spot": {}}, OverrideVpcConfig=vpc),
        name="rich",
        NodeRecovery="Automatic",
        Tags=[{"Key": "a", "Value": "b"}],
    )


def test_every_answer_fits_its_shape(world: TestWorld, service: Running) -> None:
    """RL-14, HP-W2: every implemented operation, through creation, shortage, failure, scaling and deletion."""
    call = Recorder(world)
    world.capacity("ml.p5.48xlarge", 10)
    world.fault("script-failed", group="login-group", times=1)
    arn = call("CreateCluster", **REQUEST)["ClusterArn"]
    governed = call("CreateCluster", **rich())["ClusterArn"]
    call("CreateCluster", **classic(group("g", 1), name="classic"))
    call("CreateCluster", **slurm(login(), workers(1), name="plain"))
    for seconds in (0, 2, 4, 30, 600):
        world.advance(seconds)
        for name in (REQUEST["ClusterName"], "rich", "classic", "plain"):
            look(call, name)
    call("ListClusters", MaxResults=1)
    more = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 2, "InstanceTypes": ["ml.p5.48xlarge"]}]
    bad = [{"InstanceGroupName": "nobody", "IncrementTargetCountBy": 1}]
    added = call("BatchAddClusterNodes", ClusterName="plain", NodesToAdd=more + bad)
    call("UpdateCluster", ClusterName="rich", InstanceGroups=[rich()["InstanceGroups"][0] | {"InstanceCount": 4}])
    logical = [added["Successful"][0]["NodeLogicalId"], "00000000-0000-4000-8000-000000000000"]
    instances = [world.nodes("classic")[0]["InstanceId"], "i-12345678"]
    call("BatchDeleteClusterNodes", ClusterName="plain", NodeLogicalIds=logical)
    call("BatchDeleteClusterNodes", ClusterName="classic", NodeIds=instances)
    call("AddTags", ResourceArn=arn, Tags=[{"Key": "a", "Value": ""}])
    call("ListTags", ResourceArn=arn)
    call("DeleteTags", ResourceArn=arn, TagKeys=["a"])
    govern(call, governed)
    extend(call, call("DescribeCluster", ClusterName="plain")["ClusterArn"])
    attach(call, governed)
    repair(call)
    call("UpdateClusterSoftware", ClusterName="plain")
    call("DeleteCluster", ClusterName="plain")
    world.advance(1)
    look(call, "plain")
    plans = Recorder(service.world())
    exercise(plans, plans.world)
    assert plans.found == []
    assert call.found == []
    sagemaker = next(one for one in emulated.services() if one.name == "sagemaker")
    assert call.seen | plans.seen == set(sagemaker.operations)


def extend(call: Recorder, arn: str) -> None:
    """An extension from its versions to its end."""
    name = "sagemaker-observability"
    versions = call("ListClusterExtensionVersions", ExtensionName=name)["ExtensionVersions"]
    oldest = versions[-1]["ExtensionVersion"]
    made = call("CreateClusterExtension", ClusterArn=arn, ExtensionName=name, ExtensionVersion=oldest)["ExtensionArn"]
    for operation in (None, "UpdateClusterExtension", "DeleteClusterExtension"):
        if operation is not None:
            call(operation, ClusterArn=arn, ExtensionArn=made)
        call("DescribeClusterExtension", ClusterArn=arn, ExtensionArn=made)
        call("ListClusterExtensions", ClusterArn=arn)
        call.world.advance(minutes=5)


def attach(call: Recorder, arn: str) -> None:
    """A volume comes and goes, a network interface comes, and the node moves to another group."""
    call.world.advance(minutes=30)
    node = next(one for one in call.world.nodes("rich") if one["InstanceGroupName"] == "rich")["InstanceId"]
    volume = {"ClusterArn": arn, "NodeId": node, "VolumeId": "vol-0123456789abcdef0"}
    call("AttachClusterNodeVolume", **volume)
    call.world.advance(minutes=1)
    call("DetachClusterNodeVolume", **volume)
    call(
        "AttachClusterNodeNetworkInterface",
        ClusterName="rich",
        NodeId=node,
        NetworkInterfaceId="eni-0123456789abcdef0",
    )
    call.world.advance(minutes=5)
    call(
        "MoveClusterNodes",
        SourceClusterArn=arn,
        SourceInstanceGroupName="rich",
        TargetClusterArn=arn,
        TargetInstanceGroupName="spare",
        NodeIds=[node, "i-12345678"],
    )


def repair(call: Recorder) -> None:
    """Reboots, replacements and checks, with items that fail; and the operations that came of all."""
    call.world.advance(minutes=5)
    nodes = [one["InstanceId"] for one in call.world.nodes("plain") if one["InstanceGroupName"] == "workers"]
    call("BatchRebootClusterNodes", ClusterName="plain", NodeIds=[nodes[0], "i-12345678"])
    call("BatchReplaceClusterNodes", ClusterName="plain", NodeIds=["i-12345678"], NodeLogicalIds=["nobody"])
    call.world.advance(minutes=5)
    checks = [{"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"]}]
    call("StartClusterHealthCheck", ClusterName="plain", DeepHealthCheckConfigurations=checks)
    for one in call("ListClusterOperations", ClusterName="plain")["ClusterOperationSummaries"]:
        call("DescribeClusterOperation", ClusterName="plain", OperationId=one["OperationId"])


def govern(call: Recorder, cluster_arn: str) -> None:
    """A scheduler config and a compute quota in every phase of their lives; each fails once."""
    for shape in SHAPES:
        call.world.fault("internal-error", operation=f"Update{shape}", times=1)
        one = Governed(call.world, shape, cluster_arn)
        named = one.named(call(f"Create{shape}", **one.request(Description="d"))[f"{shape}Id"])
        for target in (1, 2):
            call(f"Describe{shape}", **named)
            call.world.advance(60)
            call(f"Update{shape}", **named, TargetVersion=target)
            call.world.advance(60)
            call(f"Describe{shape}", **named)
        call(f"Describe{shape}", **named, **{f"{shape}Version": 1})
        call(f"List{shape}s", SortBy="Status")
        call(f"Delete{shape}", **named)
        call(f"Describe{shape}", **named)


def look(call: Recorder, name: str) -> None:
    call("DescribeCluster", ClusterName=name)
    call("ListClusters", SortBy="NAME")
    nodes = call("ListClusterNodes", ClusterName=name, IncludeNodeLogicalIds=name != "classic")
    for node in nodes["ClusterNodeSummaries"][:4] + nodes["ClusterNodeSummaries"][-4:]:
        by = {"NodeId": node["InstanceId"]} if node["InstanceId"] else {"NodeLogicalId": node["NodeLogicalId"]}
        call("DescribeClusterNode", ClusterName=name, **by)
    if name != "classic":
        events = call("ListClusterEvents", ClusterName=name, MaxResults=100)["Events"]
        for event in events[::3]:
            call("DescribeClusterEvent", ClusterName=name, EventId=event["EventId"])


@pytest.mark.parametrize("code", ["ResourceNotFound", "ResourceInUse", "ResourceLimitExceeded", "ConflictException"])
def test_every_declared_error_is_an_exception_of_the_client(world: TestWorld, code: str) -> None:
    """RL-14, HP-W3: boto3 raises the modelled class, with `Message` and a request id."""
    sagemaker = world.sagemaker
    world.control("POST", "quotas", json={"name": "ml.p5.48xlarge for cluster usage", "value": 4})
    sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(60)
    calls = {
        "ResourceNotFound": lambda: sagemaker.describe_cluster(ClusterName="nobody"),
        "ResourceInUse": lambda: sagemaker.create_cluster(**slurm(workers(1))),
        "ResourceLimitExceeded": lambda: sagemaker.create_cluster(**slurm(workers(9), name="big")),
        "ConflictException": lambda: [sagemaker.delete_cluster(ClusterName="demo") for _ in range(2)],
    }
    with pytest.raises(getattr(sagemaker.exceptions, code)) as refused:
        calls[code]()
    response = refused.value.response
    assert response["Message"] == response["Error"]["Message"] != ""
    assert response["ResponseMetadata"]["RequestId"]
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_errors_that_no_model_declares(world: TestWorld) -> None:
    """RL-14, HP-W3: ValidationException is a ClientError with its code."""
    with pytest.raises(ClientError) as refused:
        world.sagemaker.list_clusters(NextToken="x")
    assert refused.value.response["Error"]["Code"] == "ValidationException"
