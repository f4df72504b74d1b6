"""Counts that come late, as users report them of the service: the list drops a node first (on request only)."""

import pytest

from tests.kit import TestWorld, eks, group

P5 = "ml.p5.48xlarge"


def seen(world: TestWorld) -> tuple[int, int]:
    """Nodes in ListClusterNodes, and CurrentCount."""
    return len(world.nodes()), world.group("workers")["CurrentCount"]


def begin(world: TestWorld, lag: int) -> None:
    world.control("POST", "lag", json={"seconds": lag})
    world.sagemaker.create_cluster(**eks(group("workers", 3, InstanceType=P5)))
    world.advance(hours=4)
    assert seen(world) == (3, 3)


def shrink(world: TestWorld, count: int = 1) -> None:
    chosen = [node["InstanceId"] for node in world.nodes()[:count]]
    world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=chosen)
    world.advance(0)


def test_without_a_lag_every_answer_tells_the_same(world: TestWorld) -> None:
    """HP-6: a node that terminates is listed until it is gone, and counts no more."""
    begin(world, 0)
    shrink(world)
    assert seen(world) == (3, 2)
    assert len(world.export()) and b'"count_change":[]' in world.export()


@pytest.mark.parametrize("lag", [60, 7200])
def test_the_list_drops_a_node_and_the_count_follows(world: TestWorld, lag: int) -> None:
    """Point of the field: list first, CurrentCount `lag` seconds later, to the second; also after the node is gone."""
    begin(world, lag)
    shrink(world)
    assert seen(world) == (2, 3)
    told = world.group("workers")
    assert (told["TargetCount"], told["ActiveOperations"]) == (2, {"Scaling": 1})
    world.advance(lag - 1)
    assert seen(world) == (2, 3)
    world.advance(1)
    assert seen(world) == (2, 2)
    assert "ActiveOperations" not in world.group("workers")


def test_each_change_comes_late_by_itself(world: TestWorld) -> None:
    begin(world, 600)
    shrink(world)
    world.advance(300)
    shrink(world)
    assert seen(world) == (1, 3)
    world.advance(300)
    assert seen(world) == (1, 2)
    world.advance(300)
    assert seen(world) == (1, 1)


def test_a_count_that_grows_comes_late_too(world: TestWorld) -> None:
    world.control("POST", "lag", json={"seconds": 3600})
    world.sagemaker.create_cluster(**eks(group("workers", 3, InstanceType=P5)))
    world.advance(minutes=50)
    assert seen(world) == (3, 0)
    assert {node["InstanceStatus"]["Status"] for node in world.nodes()} == {"Running"}
    world.advance(hours=1)
    assert seen(world) == (3, 3)


def test_a_lag_is_of_the_world(world: TestWorld) -> None:
    """CT-0, CT-2: a fork is as late; without the lag the truth is told at once; a deleted cluster leaves nothing."""
    begin(world, 600)
    shrink(world)
    world.control("POST", "worlds", json={"name": f"{world.name}-fork", "fork_of": world.name})
    fork = TestWorld(world.base, f"{world.name}-fork")
    assert fork.control("GET", "lag") == {"seconds": 600}
    assert seen(fork) == (2, 3)
    assert fork.export() == world.export()
    fork.control("POST", "lag", json={"seconds": 0})
    assert seen(fork) == (3, 2)
    fork.close()
    assert seen(world) == (2, 3)
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(hours=1)
    assert b'"count_change":[]' in world.export()


@pytest.mark.parametrize("seconds", [-1, 86_401, 1.5, "60"])
def test_a_lag_that_cannot_be(world: TestWorld, seconds: object) -> None:
    answer = world.http.post(f"{world.endpoint}/_windtunnel/lag", json={"seconds": seconds})
    assert answer.status_code == 400
    assert "seconds: " in answer.json()["error"]["message"]
