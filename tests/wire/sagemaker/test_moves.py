"""Running nodes change their group, and their cluster with it: MoveClusterNodes."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.balance import balance
from tests.kit import Running, TestWorld, eks, group, slurm, workers
from tests.wire.sagemaker.refused import CONFLICT, INVALID, NOT_FOUND, refusal

NODE, LOGICAL = "i-0123456789abcdef0", "00000000-0000-4000-8000-000000000000"


class Pair:
    """Two EKS clusters in service: `one` has groups a (4) and b (1), `two` has c (1)."""

    def __init__(self, world: TestWorld) -> None:
        self.world, self.sagemaker = world, world.sagemaker
        create = self.sagemaker.create_cluster
        self.arns = {
            "one": create(**eks(group("a", 4, MinInstanceCount=1), group("b", 1), name="one"))["ClusterArn"],
            "two": create(**eks(group("c", 1), name="two"))["ClusterArn"],
        }
        world.advance(minutes=5)

    def move(self, source: str = "a", target: str = "c", **which: Any) -> dict[str, Any]:
        """From one of cluster one's groups."""
        return self.sagemaker.move_cluster_nodes(**self.asked(source, target, **which))

    def asked(self, source: str = "a", target: str = "c", **which: Any) -> dict[str, Any]:
        return {
            "SourceClusterArn": self.arns["one"],
            "SourceInstanceGroupName": source,
            "TargetClusterArn": self.arns["two" if target == "c" else "one"],
            "TargetInstanceGroupName": target,
        } | which

    def nodes(self, name: str, of: str) -> list[dict[str, Any]]:
        found = self.world.nodes(name, IncludeNodeLogicalIds=True)
        return [node for node in found if node["InstanceGroupName"] == of]

    def ids(self, name: str = "one", of: str = "a") -> list[str]:
        return [node["InstanceId"] for node in self.nodes(name, of)]

    def counts(self, name: str, of: str) -> tuple[int, int]:
        found = self.world.group(of, name)
        return found["CurrentCount"], found["TargetCount"]

    def node(self, name: str, instance: str) -> dict[str, Any]:
        return dict(self.sagemaker.describe_cluster_node(ClusterName=name, NodeId=instance)["NodeDetails"])

    def status(self, name: str, instance: str) -> str:
        return str(self.node(name, instance)["InstanceStatus"]["Status"])


@pytest.fixture
def pair(world: TestWorld) -> Pair:
    return Pair(world)


def test_a_node_moves_to_another_cluster(pair: Pair) -> None:
    """DetachInProgress in the source, then AttachInProgress in the target, with all that it is."""
    moved = pair.ids()[0]
    before = pair.node("one", moved)
    assert pair.move(NodeIds=[moved])["Successful"] == [moved]
    assert pair.status("one", moved) == "DetachInProgress"
    assert (pair.counts("one", "a"), pair.counts("two", "c")) == ((3, 3), (1, 2))
    assert moved not in pair.ids("two", "c")
    pair.world.advance(seconds=1)
    assert pair.status("two", moved) == "AttachInProgress"
    assert moved not in pair.ids()
    assert refusal(pair.node, name="one", instance=moved)[0] == NOT_FOUND
    pair.world.advance(minutes=1)
    after = pair.node("two", moved)
    assert after["InstanceStatus"]["Status"] == "Running"
    same = ("InstanceId", "NodeLogicalId", "PrivatePrimaryIp", "PrivateDnsHostname", "LaunchTime", "Placement")
    assert {key: before[key] for key in same} == {key: after[key] for key in same}
    assert (pair.counts("one", "a"), pair.counts("two", "c")) == ((3, 3), (2, 2))
    assert len(pair.ids("one", "a")) == 3, "nothing is launched in its place"


def test_a_node_moves_within_its_cluster(pair: Pair) -> None:
    [moved] = pair.nodes("one", "a")[:1]
    answer = pair.move("a", "b", NodeLogicalIds=[moved["NodeLogicalId"]])
    assert answer["SuccessfulNodeLogicalIds"] == [moved["NodeLogicalId"]]
    assert "Successful" not in answer
    pair.world.advance(minutes=1)
    assert moved["InstanceId"] in pair.ids("one", "b")
    assert (pair.counts("one", "a"), pair.counts("one", "b")) == ((3, 3), (2, 2))
    back = pair.move("b", "a", NodeIds=[moved["InstanceId"]])
    assert back["Successful"] == [moved["InstanceId"]]
    pair.world.advance(minutes=1)
    assert pair.counts("one", "a") == (4, 4) and moved["InstanceId"] in pair.ids()


def test_a_node_keeps_its_image(pair: Pair) -> None:
    """HP-30: its root volume comes along, whatever the new group starts on, until the software there is updated."""
    pair.world.control("POST", "images", json={"version": "9.0.0"})
    pair.sagemaker.update_cluster_software(ClusterName="two")
    pair.world.advance(hours=1)
    moved = pair.ids()[0]
    before = pair.node("one", moved)["CurrentImageReleaseVersion"]
    pair.move(NodeIds=[moved])
    pair.world.advance(minutes=1)
    assert pair.node("two", moved)["CurrentImageReleaseVersion"] == before != "9.0.0"
    assert pair.world.group("c", "two")["TargetStateCount"] == 1
    pair.sagemaker.update_cluster_software(ClusterName="two")
    pair.world.advance(hours=1)
    assert pair.node("two", moved)["CurrentImageReleaseVersion"] == "9.0.0"


def test_the_bill_goes_on_without_a_gap(pair: Pair) -> None:
    """HP-22, HP-25: under the source's ARN to the hand-over, under the target's from then on."""
    moved = pair.ids()[0]
    pair.move(NodeIds=[moved])
    pair.world.advance(minutes=1)
    pair.world.sagemaker.batch_delete_cluster_nodes(ClusterName="two", NodeIds=[moved])
    pair.world.advance(minutes=1)
    spans = [
        (one["cluster_name"], one["started"], one["ended"])
        for line in pair.world.bill(intervals=True)["lines"]
        for one in line["intervals"]
        if one["instance_id"] == moved
    ]
    (source, _, left), (target, arrived, end) = sorted(spans, key=lambda span: span[1])
    assert (source, target) == ("one", "two")
    assert left == arrived and end is not None


def test_to_and_fro(pair: Pair) -> None:
    """The intervals of a node that comes back are chained to those that it had before."""
    moved = pair.ids()[0]
    for _ in range(2):
        pair.move(NodeIds=[moved])
        pair.world.advance(minutes=1)
        pair.sagemaker.move_cluster_nodes(
            SourceClusterArn=pair.arns["two"],
            SourceInstanceGroupName="c",
            TargetClusterArn=pair.arns["one"],
            TargetInstanceGroupName="a",
            NodeIds=[moved],
        )
        pair.world.advance(minutes=1)
    assert pair.status("one", moved) == "Running"
    assert pair.counts("one", "a") == (4, 4)


def test_so_many_of_a_group(pair: Pair) -> None:
    """InstanceCount: all or none; its operations are scalings of both clusters."""
    code, message = refusal(pair.move, InstanceCount=5)
    assert code == INVALID and "Only 4" in message
    answer = pair.move(InstanceCount=2)
    assert len(answer["Successful"]) == 2 and "Failed" not in answer
    for wanted in ("InProgress", "Done"):
        for name in ("one", "two"):
            newest = pair.sagemaker.list_cluster_operations(ClusterName=name)["ClusterOperationSummaries"][0]
            assert (newest["Type"], newest["Status"]) == ("Scaling", wanted)
        pair.world.advance(minutes=1)
    assert (pair.counts("one", "a"), pair.counts("two", "c")) == ((2, 2), (3, 3))


def test_each_reason_why_a_node_stays(pair: Pair) -> None:
    """The four codes; the others go. Of none that can go, the request is refused."""
    fine, busy, loaded, rebooting = pair.ids()
    pair.sagemaker.attach_cluster_node_volume(ClusterArn=pair.arns["one"], NodeId=loaded, VolumeId="vol-01234567")
    pair.sagemaker.batch_reboot_cluster_nodes(ClusterName="one", NodeIds=[rebooting])
    [other] = pair.ids("one", "b")
    pair.world.fault("node-hardware", node=busy)
    pair.world.advance(seconds=0)
    answer = pair.move(NodeIds=[fine, loaded, rebooting, other, NODE])
    assert answer["Successful"] == [fine]
    assert {one["NodeId"]: one["Code"] for one in answer["Failed"]} == {
        loaded: "InvalidNodeStatus",
        rebooting: "NodeIdInUse",
        other: "NodeIdNotFound",
        NODE: "NodeIdNotFound",
    }
    code, message = refusal(pair.move, NodeIds=[fine])
    assert code == INVALID and "NodeIdInUse" in message, "it is moving"
    assert refusal(pair.move, NodeLogicalIds=[LOGICAL])[0] == INVALID
    pair.sagemaker.update_cluster(ClusterName="one", InstanceGroups=[group("gpu", 0, InstanceType="ml.p5.48xlarge")])
    pair.world.advance(minutes=5)
    code, message = refusal(pair.move, target="gpu", NodeIds=[loaded])
    assert code == INVALID and "NodeInstanceTypeMismatch" in message


def test_a_node_of_another_type_stays(pair: Pair) -> None:
    """A flexible group has nodes of two types, the target takes one."""
    pair.world.capacity("ml.g5.xlarge", 1)
    flexible = {key: value for key, value in group("flex", 2).items() if key != "InstanceType"}
    flexible["InstanceRequirements"] = {"InstanceTypes": ["ml.g5.xlarge", "ml.g5.2xlarge"]}
    groups = [flexible, group("small", 0, InstanceType="ml.g5.xlarge")]
    pair.sagemaker.update_cluster(ClusterName="one", InstanceGroups=groups)
    pair.world.advance(minutes=5)
    small, large = sorted(pair.nodes("one", "flex"), key=lambda node: len(node["InstanceType"]))
    answer = pair.move("flex", "small", NodeIds=[small["InstanceId"], large["InstanceId"]])
    assert answer["Successful"] == [small["InstanceId"]]
    assert [(one["NodeId"], one["Code"]) for one in answer["Failed"]] == [
        (large["InstanceId"], "NodeInstanceTypeMismatch")
    ]


def test_min_count_is_kept(pair: Pair) -> None:
    """The request fails rather than go below it (HP-14)."""
    code, message = refusal(pair.move, NodeIds=pair.ids())
    assert code == INVALID and "MinInstanceCount 1" in message
    assert pair.counts("one", "a") == (4, 4)
    assert len(pair.move(NodeIds=pair.ids()[:3])["Successful"]) == 3


def test_a_client_token_moves_once(pair: Pair) -> None:
    """For 8 hours the original answer; with other parameters it is refused."""
    first = pair.move(InstanceCount=1, ClientToken="t-1")
    pair.world.advance(minutes=1)
    again = pair.move(InstanceCount=1, ClientToken="t-1")
    assert again["Successful"] == first["Successful"]
    assert pair.counts("one", "a") == (3, 3)
    assert refusal(pair.move, InstanceCount=2, ClientToken="t-1")[0] == INVALID


@pytest.mark.parametrize("what", ["target group", "target cluster", "source cluster", "source group"])
def test_an_end_goes_meanwhile(pair: Pair, what: str) -> None:
    """The instance is lost only where it arrives; nothing stays behind, and its machine comes free."""
    pair.world.capacity("ml.c5.xlarge", 6)
    moved = pair.ids()[0]
    pair.move(NodeIds=[moved])
    name, of = ("two", "c") if what.startswith("target") else ("one", "a")
    if what.endswith("cluster"):
        pair.sagemaker.delete_cluster(ClusterName=name)
    else:
        pair.sagemaker.update_cluster(ClusterName=name, InstanceGroupsToDelete=[of])
    pair.world.advance(minutes=5)
    if what.startswith("source"):
        assert pair.status("two", moved) == "Running"
    else:
        assert pair.counts("one", "a") == (3, 3)
    pools = pair.world.control("GET", "capacity")
    used = sum(pool["used"] for pool in pools["pools"] if pool["instance_type"] == "ml.c5.xlarge")
    alive = [node for name in ("one", "two") if name in _names(pair) for node in pair.world.nodes(name)]
    assert used == len(alive)
    assert what.endswith("group") or name not in _names(pair)


def _names(pair: Pair) -> list[str]:
    return [one["ClusterName"] for one in pair.sagemaker.list_clusters()["ClusterSummaries"]]


def test_a_script_that_fails_in_the_target(pair: Pair) -> None:
    """CT-3: the target's lifecycle script runs; when it fails, another instance takes the place (HP-23)."""
    moved = pair.nodes("one", "a")[0]
    pair.world.fault("script-failed", cluster="two", times=1)
    pair.move(NodeIds=[moved["InstanceId"]])
    pair.world.advance(minutes=5)
    [node] = [one for one in pair.nodes("two", "c") if one["NodeLogicalId"] == moved["NodeLogicalId"]]
    assert node["InstanceId"] != moved["InstanceId"] and node["InstanceStatus"]["Status"] == "Running"
    assert pair.counts("two", "c") == (2, 2)


def test_the_bill_ends_where_the_script_fails_though_the_node_was_patched_before_its_move(pair: Pair) -> None:
    """HP-22: a script that fails in a software update goes on being billed, one that fails on arrival does not."""
    pair.world.control("POST", "images", json={"version": "1.2.0"})
    pair.sagemaker.update_cluster_software(ClusterName="one", InstanceGroups=[{"InstanceGroupName": "a"}])
    pair.world.advance(hours=1)
    pair.sagemaker.update_cluster_software(ClusterName="two")
    pair.world.advance(hours=1)
    moved = pair.ids()[0]
    pair.world.fault("script-failed", cluster="two", times=1)
    assert pair.move(NodeIds=[moved])["Successful"] == [moved]
    pair.world.advance(minutes=5)
    tables = json.loads(pair.world.export())["tables"]
    kinds = {one["kind"] for one in tables["cluster_event"] if one["instance_id"] == moved}
    assert {"root-volume-started", "script-failed"} <= kinds
    spans = sorted(one["started_at"] for one in tables["ledger"] if one["instance_id"] == moved)
    [failed] = [one["at"] for one in tables["cluster_event"] if one["kind"] == "script-failed"]
    assert len(spans) == 2, "one in each cluster"
    assert max(one["ended_at"] for one in tables["ledger"] if one["instance_id"] == moved) == failed
    balance(pair.world)


def test_interfaces_go_along(pair: Pair) -> None:
    moved = pair.ids()[0]
    asked = {"NodeId": moved, "NetworkInterfaceId": "eni-01234567"}
    first = pair.sagemaker.attach_cluster_node_network_interface(ClusterName="one", **asked)
    pair.move(NodeIds=[moved])
    pair.world.advance(minutes=1)
    [shown] = pair.world.control("GET", "attachments")["interfaces"]
    assert (shown["cluster"], shown["node"], shown["status"]) == ("two", moved, "attached")
    again = pair.sagemaker.attach_cluster_node_network_interface(ClusterName="two", **asked)
    assert again["AttachmentId"] == first["AttachmentId"]


def test_crossing_moves_at_once(pair: Pair) -> None:
    """Two callers who lock the clusters from both ends: every call is answered, and all nodes are somewhere."""
    pair.sagemaker.update_cluster(ClusterName="two", InstanceGroups=[group("c", 4)])
    pair.world.advance(minutes=5)
    there = [pair.asked(NodeIds=[node]) for node in pair.ids()[:3]]
    back = [
        {
            "SourceClusterArn": pair.arns["two"],
            "SourceInstanceGroupName": "c",
            "TargetClusterArn": pair.arns["one"],
            "TargetInstanceGroupName": "a",
            "NodeIds": [node],
        }
        for node in pair.ids("two", "c")[:3]
    ]

    def tried(asked: dict[str, Any]) -> str:
        try:
            return str(pair.sagemaker.move_cluster_nodes(**asked)["Successful"][0])
        except ClientError as error:
            return str(error.response["Error"]["Code"])

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(tried, there + back))
    assert all(answer.startswith("i-") for answer in answers)
    pair.world.advance(minutes=5)
    assert (pair.counts("one", "a"), pair.counts("two", "c")) == ((4, 4), (4, 4))
    assert set(answers[:3]) <= set(pair.ids("two", "c")) and set(answers[3:]) <= set(pair.ids())


def test_refusals(pair: Pair) -> None:
    """No such cluster or group; one and the same group; not exactly one way to name nodes; Slurm; not in service."""
    call = pair.sagemaker.move_cluster_nodes
    nowhere = f"{pair.arns['one'][:-12]}{'z' * 12}"
    for end in ("SourceClusterArn", "TargetClusterArn"):
        assert refusal(call, **pair.asked(InstanceCount=1, **{end: nowhere}))[0] == NOT_FOUND
    for end in ("SourceInstanceGroupName", "TargetInstanceGroupName"):
        assert refusal(call, **pair.asked(InstanceCount=1, **{end: "none"}))[0] == NOT_FOUND
    assert refusal(pair.move, target="a", InstanceCount=1)[0] == INVALID
    assert refusal(pair.move)[0] == INVALID
    assert refusal(pair.move, InstanceCount=1, NodeIds=[NODE])[0] == INVALID
    made = pair.sagemaker.create_cluster(**slurm(workers(1), name="s"))["ClusterArn"]
    young = pair.sagemaker.create_cluster(**eks(group("g", 1), name="e"))["ClusterArn"]
    asked = pair.asked(InstanceCount=1, TargetInstanceGroupName="g")
    assert refusal(call, **{**asked, "TargetClusterArn": young})[0] == INVALID
    code, message = refusal(call, **{**asked, "TargetClusterArn": made})
    assert code == INVALID and "EKS" in message
    pair.world.capacity("ml.c5.xlarge", 0)
    pair.sagemaker.update_cluster(ClusterName="two", InstanceGroups=[group("c", 2, MinInstanceCount=2)])
    code, message = refusal(pair.move, InstanceCount=1)
    assert code == INVALID and "Updating" in message
    pair.sagemaker.delete_cluster(ClusterName="two")
    assert refusal(pair.move, InstanceCount=1)[0] == CONFLICT


@pytest.mark.parametrize("target", ["b", "c"])
def test_without_any_delay(service: Running, target: str) -> None:
    """CT-16: in the profile `instant` a node leaves and arrives at one moment, in its own cluster too."""
    pair = Pair(service.world(profile="instant"))
    moved = pair.ids()[0]
    pair.move(target=target, NodeIds=[moved])
    pair.world.advance(seconds=0)
    assert pair.status("two" if target == "c" else "one", moved) == "Running"
    assert pair.counts("one", "a") == (3, 3)


def test_a_fork_goes_on_by_itself(service: Running, pair: Pair) -> None:
    """CT-0: what is under way in the source is under way in the copy, and ends the same."""
    moved = pair.ids()[0]
    pair.move(NodeIds=[moved])
    made = {"name": f"{pair.world.name}-fork", "fork_of": pair.world.name}
    answer = pair.world.http.post(f"{pair.world.base}/_windtunnel/worlds", json=made)
    assert answer.is_success, answer.text
    twin = TestWorld(service.base, f"{pair.world.name}-fork")
    for world in (pair.world, twin):
        world.advance(minutes=5)
        node = world.sagemaker.describe_cluster_node(ClusterName="two", NodeId=moved)["NodeDetails"]
        assert node["InstanceStatus"]["Status"] == "Running"
        operations = world.sagemaker.list_cluster_operations(ClusterName="two")["ClusterOperationSummaries"]
        assert [one["Status"] for one in operations] == ["Done", "Done"]
    twin.close()
