"""Volumes and network interfaces on nodes: AttachClusterNodeVolume, DetachClusterNodeVolume, and the interface's."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, classic, eks, group, slurm, workers
from tests.wire.sagemaker.refused import CONFLICT, INVALID, LIMIT, NOT_FOUND, refusal

VOLUME, INTERFACE = "vol-0123456789abcdef0", "eni-0123456789abcdef0"
NODE = "i-0123456789abcdef0"


@pytest.fixture
def arn(world: TestWorld) -> str:
    """An EKS cluster in service with two nodes."""
    made: str = world.sagemaker.create_cluster(**eks(group("g", 2)))["ClusterArn"]
    world.advance(minutes=5)
    return made


def node_ids(world: TestWorld, name: str = "demo") -> list[str]:
    return [node["InstanceId"] for node in world.nodes(name)]


def attach(world: TestWorld, arn: str, node: str, volume: str = VOLUME) -> dict[str, Any]:
    return world.sagemaker.attach_cluster_node_volume(ClusterArn=arn, NodeId=node, VolumeId=volume)


def detach(world: TestWorld, arn: str, node: str, volume: str = VOLUME) -> dict[str, Any]:
    return world.sagemaker.detach_cluster_node_volume(ClusterArn=arn, NodeId=node, VolumeId=volume)


def shown(world: TestWorld) -> list[str]:
    return [one["status"] for one in world.control("GET", "attachments")["volumes"]]


def test_a_volume_comes_and_goes_by_the_clock(world: TestWorld, arn: str) -> None:
    """attaching, attached, detaching, detached; a call that is repeated gives what has come about."""
    node = node_ids(world)[0]
    first = attach(world, arn, node)
    assert (first["Status"], first["ClusterArn"], first["NodeId"], first["VolumeId"]) == (
        "attaching",
        arn,
        node,
        VOLUME,
    )
    assert re.fullmatch(r"/dev/(xvd[a-z]|sd[b-z]|sd[f-p][1-6])", first["DeviceName"])
    assert shown(world) == ["attaching"]
    world.advance(seconds=5)
    again = attach(world, arn, node)
    assert again["Status"] == "attached"
    assert (again["AttachTime"], again["DeviceName"]) == (first["AttachTime"], first["DeviceName"])
    leaving = detach(world, arn, node)
    assert (leaving["Status"], leaving["AttachTime"]) == ("detaching", first["AttachTime"])
    assert "detaching" in refusal(attach, world=world, arn=arn, node=node)[1]
    world.advance(seconds=5)
    assert detach(world, arn, node)["Status"] == "detached"
    assert shown(world) == ["detached"]
    assert attach(world, arn, node_ids(world)[1])["Status"] == "attaching", "it is available again"


def test_a_busy_volume_is_detached_by_trying_again(world: TestWorld, arn: str) -> None:
    """CT-3: the rule stands for a volume that is still mounted."""
    node = node_ids(world)[0]
    attach(world, arn, node)
    world.advance(seconds=5)
    world.fault("internal-error", operation="DetachClusterNodeVolume", times=1)
    assert detach(world, arn, node)["Status"] == "detaching"
    world.advance(seconds=5)
    assert shown(world) == ["busy"]
    assert refusal(attach, world=world, arn=arn, node=node)[0] == INVALID
    assert detach(world, arn, node)["Status"] == "detaching"
    world.advance(seconds=5)
    assert detach(world, arn, node)["Status"] == "detached"


def test_a_busy_volume_is_told(service: Running) -> None:
    """VolumeAttachmentStatus `busy`, where detaching takes no time."""
    world = service.world(profile="instant")
    arn = world.sagemaker.create_cluster(**eks(group("g", 1)))["ClusterArn"]
    world.advance(minutes=5)
    node = node_ids(world)[0]
    attach(world, arn, node)
    world.fault("internal-error", operation="DetachClusterNodeVolume", times=1)
    assert detach(world, arn, node)["Status"] == "busy"
    assert detach(world, arn, node)["Status"] == "detached"
    world.close()


def test_a_volume_is_at_one_node_only(world: TestWorld, arn: str) -> None:
    one, other = node_ids(world)
    attach(world, arn, one)
    code, message = refusal(attach, world=world, arn=arn, node=other)
    assert code == INVALID and one in message and "Detach" in message
    assert refusal(detach, world=world, arn=arn, node=other)[0] == NOT_FOUND
    foreign = world.sagemaker.create_cluster(**eks(group("g", 1), name="other"))["ClusterArn"]
    world.advance(minutes=5)
    assert refusal(attach, world=world, arn=foreign, node=node_ids(world, "other")[0])[0] == INVALID


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_node_that_ends_lets_its_volumes_go(world: TestWorld, arn: str, how: str) -> None:
    """HP-29: a replacement is another instance."""
    one, other = node_ids(world)
    attach(world, arn, one)
    world.sagemaker.attach_cluster_node_network_interface(ClusterName=arn, NodeId=one, NetworkInterfaceId=INTERFACE)
    if how == "deleted":
        world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[one])
    else:
        world.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[one])
    world.advance(minutes=5)
    assert shown(world) == ["detached"]
    assert [one["status"] for one in world.control("GET", "attachments")["interfaces"]] == ["detached"]
    assert refusal(detach, world=world, arn=arn, node=one)[0] == NOT_FOUND
    assert attach(world, arn, other)["Status"] == "attaching"
    taken = world.sagemaker.attach_cluster_node_network_interface(
        ClusterName="demo", NodeId=other, NetworkInterfaceId=INTERFACE
    )
    assert taken["NodeId"] == other


def test_a_node_has_25_device_names(world: TestWorld, arn: str) -> None:
    """Chosen: /dev/xvdb to /dev/xvdz; one that comes free is given again."""
    node = node_ids(world)[0]
    devices = [attach(world, arn, node, f"vol-{n:08x}")["DeviceName"] for n in range(25)]
    assert len(set(devices)) == 25
    assert refusal(attach, world=world, arn=arn, node=node, volume="vol-ffffffff")[0] == INVALID
    detach(world, arn, node, "vol-00000003")
    world.advance(seconds=5)
    assert attach(world, arn, node, "vol-ffffffff")["DeviceName"] == devices[3]


def test_two_clusters_at_once(world: TestWorld, arn: str) -> None:
    """Of many calls for one volume, one node gets it."""
    foreign = world.sagemaker.create_cluster(**eks(group("g", 2), name="other"))["ClusterArn"]
    world.advance(minutes=5)
    wanted = [(arn, node) for node in node_ids(world)] + [(foreign, node) for node in node_ids(world, "other")]

    def tried(where: tuple[str, str]) -> str:
        try:
            return attach(world, *where)["NodeId"]
        except ClientError as error:
            return error.response["Error"]["Code"]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(tried, wanted * 2))
    assert len({answer for answer in answers if answer.startswith("i-")}) == 1
    assert {answer for answer in answers if not answer.startswith("i-")} == {INVALID}


def test_refusals_of_volumes(world: TestWorld, arn: str) -> None:
    """No cluster or node; only EKS clusters in service, and nodes that run."""
    node = node_ids(world)[0]
    nowhere = f"{arn[:-12]}{'z' * 12}"
    for call in (attach, detach):
        assert refusal(call, world=world, arn=nowhere, node=node)[0] == NOT_FOUND
        assert refusal(call, world=world, arn=arn, node=NODE)[0] == NOT_FOUND
    code, message = refusal(detach, world=world, arn=arn, node=node)
    assert code == NOT_FOUND and "not attached" in message
    young = world.sagemaker.create_cluster(**slurm(workers(1), name="s"))["ClusterArn"]
    assert refusal(attach, world=world, arn=young, node=node)[0] == INVALID
    world.advance(minutes=5)
    code, message = refusal(attach, world=world, arn=young, node=node_ids(world, "s")[0])
    assert code == INVALID and "EKS" in message
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[node])
    world.advance(seconds=0)
    code, message = refusal(attach, world=world, arn=arn, node=node)
    assert code == INVALID and "Running" in message
    world.sagemaker.delete_cluster(ClusterName="demo")
    assert refusal(attach, world=world, arn=arn, node=node)[0] == CONFLICT
    world.advance(minutes=5)
    assert shown(world) == []


def test_an_interface_is_attached_once(world: TestWorld) -> None:
    """On either orchestrator; asked again, the answer is the same."""
    for made in (slurm(workers(2)), eks(group("g", 1), name="e"), classic(group("c", 1), name="old")):
        world.sagemaker.create_cluster(**made)
    world.advance(minutes=5)
    call = world.sagemaker.attach_cluster_node_network_interface
    seen = set()
    for place, name in enumerate(("demo", "e", "old")):
        asked = {"ClusterName": name, "NodeId": node_ids(world, name)[0], "NetworkInterfaceId": f"eni-0000000{place}"}
        first, again = call(**asked), call(**asked)
        assert re.fullmatch("eni-attach-[0-9a-f]{17}", first["AttachmentId"])
        assert first["AttachmentId"] == again["AttachmentId"]
        assert (first["ClusterArn"], first["NodeId"]) == (world.describe(name)["ClusterArn"], asked["NodeId"])
        seen.add(first["AttachmentId"])
    assert len(seen) == 3
    other = node_ids(world)[1]
    code, message = refusal(call, ClusterName="demo", NodeId=other, NetworkInterfaceId="eni-00000000")
    assert code == INVALID and "another interface" in message
    assert refusal(call, ClusterName="no", NodeId=other, NetworkInterfaceId=INTERFACE)[0] == NOT_FOUND
    assert refusal(call, ClusterName="demo", NodeId=NODE, NetworkInterfaceId=INTERFACE)[0] == NOT_FOUND
    assert len(world.control("GET", "attachments")["interfaces"]) == 3


def test_an_instance_type_has_so_many_interfaces(world: TestWorld, arn: str) -> None:
    """ResourceLimitExceeded: ml.c5.xlarge takes two beside HyperPod's own two (chosen)."""
    node = node_ids(world)[0]
    call = world.sagemaker.attach_cluster_node_network_interface
    for n in range(2):
        call(ClusterName=arn, NodeId=node, NetworkInterfaceId=f"eni-{n:08x}")
    code, message = refusal(call, ClusterName=arn, NodeId=node, NetworkInterfaceId=INTERFACE)
    assert code == LIMIT and "ml.c5.xlarge" in message


def test_the_next_thing_that_happens_is_the_attachment(world: TestWorld, arn: str) -> None:
    """CT-1: an advance to what comes next stops there, though nothing has to be done."""
    attach(world, arn, node_ids(world)[0])
    world.control("POST", "clock/advance", json={"next": True})
    assert shown(world) == ["attached"]
