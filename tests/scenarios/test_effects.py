"""CT-3: each effect is reached by a public command and recovered from."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from app.core.effects import EFFECTS
from tests.jobs import Jobs, gpus
from tests.kit import TestWorld, eks, group


def create(world: TestWorld, count: int = 1) -> None:
    world.sagemaker.create_cluster(**eks(group("a", count)))
    world.advance(minutes=1)


def message(world: TestWorld) -> str:
    nodes = world.nodes(IncludeNodeLogicalIds=True)
    return " ".join(node["InstanceStatus"].get("Message", "") for node in nodes)


def fails_to_launch(effect: str, told: str) -> Callable[[TestWorld], None]:
    """While the rule stands no node joins; without it the next attempt does."""

    def scenario(world: TestWorld) -> None:
        rule = world.fault(effect, group="a")
        create(world)
        assert told in message(world)
        assert world.group("a")["CurrentCount"] == 0
        world.control("DELETE", f"faults/{rule}")
        world.advance(minutes=6)
        assert (world.group("a")["CurrentCount"], message(world)) == (1, "")

    return scenario


def boots_slowly(world: TestWorld) -> None:
    world.fault("boot-slow", group="a", seconds=300, times=1)
    create(world)
    assert world.group("a")["CurrentCount"] == 0
    world.advance(minutes=5)
    assert world.group("a")["CurrentCount"] == 1


def breaks_down(world: TestWorld) -> None:
    create(world)
    before = world.nodes()[0]["InstanceId"]
    world.fault("node-hardware", group="a", times=1)
    world.advance(seconds=2)
    assert world.group("a")["CurrentCount"] == 0
    world.advance(minutes=1)
    assert (world.group("a")["CurrentCount"], world.nodes()[0]["InstanceId"] == before) == (1, False)


def is_rebooted(world: TestWorld) -> None:
    create(world)
    world.fault("node-degraded", code="Xid-73", times=1)
    world.advance(2)
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Pending"
    world.advance(minutes=1)
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Running"


def does_not_come_back(world: TestWorld) -> None:
    world.sagemaker.create_cluster(**eks(group("a"), NodeRecovery="None"))
    world.advance(minutes=1)
    node = [world.nodes()[0]["InstanceId"]]
    world.fault("reboot-failed", group="a", times=1)
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=node)
    world.advance(minutes=1)
    assert "did not come back after a reboot" in message(world)
    assert world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=node)["Successful"] == node
    world.advance(minutes=1)
    assert (world.nodes()[0]["InstanceStatus"]["Status"], world.nodes()[0]["InstanceId"]) == ("Running", node[0])


def does_not_go(world: TestWorld) -> None:
    create(world)
    rule = world.fault("terminate-failed")
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(hours=1)
    assert "could not be terminated" in message(world)
    world.control("DELETE", f"faults/{rule}")
    world.advance(minutes=2)
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def what_was_begun_fails(world: TestWorld) -> None:
    create(world)
    node = [world.nodes()[0]["InstanceId"]]
    world.fault("internal-error", operation="BatchRebootClusterNodes", times=1)
    reboot = world.sagemaker.batch_reboot_cluster_nodes
    assert reboot(ClusterName="demo", NodeIds=node)["Failed"][0]["ErrorCode"] == "InternalServerError"
    assert reboot(ClusterName="demo", NodeIds=node)["Successful"] == node


def refused(effect: str, error: str, **rule: Any) -> Callable[[TestWorld], None]:
    """The first request is refused so, the second is not."""

    def scenario(world: TestWorld) -> None:
        world.fault(effect, operation="ListClusters", times=1, **rule)
        with pytest.raises(ClientError) as caught:
            world.sagemaker.list_clusters()
        assert caught.value.response["Error"]["Code"] == error
        assert world.sagemaker.list_clusters()["ClusterSummaries"] == []

    return scenario


def answers_late(world: TestWorld) -> None:
    world.fault("api-latency", operation="ListClusters", seconds=0.01, times=1)
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert [hit["effect"] for hit in world.control("GET", "faults/hits")["hits"]] == ["api-latency"]
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def loses_the_answer(world: TestWorld) -> None:
    world.fault("api-drop", operation="ListClusters", times=1)
    with pytest.raises(ConnectionClosedError):
        world.sagemaker.list_clusters()
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def a_job_comes_through(effect: str, retried: str, *pools: dict[str, Any], **facts: Any) -> Callable[[TestWorld], None]:
    """The effect strikes a job once; the job begins again, or goes on elsewhere, and succeeds."""

    def scenario(world: TestWorld) -> None:
        strategy = facts.pop("strategy", "STANDARD")
        world.fault(effect, times=1, job="train", **facts)
        jobs = Jobs(world)
        job = jobs.create(*pools, strategy=strategy)
        world.advance(hours=1)
        assert jobs.state(job) == "SUCCEEDED"
        [hit] = world.control("GET", "faults/hits")["hits"]
        assert (hit["effect"], hit["logical_id"].split("/")[0]) == (effect, job.rpartition("/")[2])
        assert retried in world.export().decode()

    return scenario


def runs_out_of_memory(world: TestWorld) -> None:
    world.fault("worker-oom", replica="workerpool0-0", times=1)
    jobs = Jobs(world)
    job = jobs.create()
    world.advance(hours=1)
    assert "ran out of memory" in jobs.get(job)["error"]["message"]


SCENARIOS: dict[str, Callable[[TestWorld], None]] = {
    "launch-capacity": fails_to_launch("launch-capacity", "do not have sufficient capacity"),
    "launch-transient": fails_to_launch("launch-transient", "internal error occurred while launching"),
    "launch-unhealthy": fails_to_launch("launch-unhealthy", "EFA health checks did not run successfully"),
    "script-failed": fails_to_launch("script-failed", "Lifecycle scripts did not run successfully"),
    "script-hang": fails_to_launch("script-hang", ""),
    "boot-slow": boots_slowly,
    "node-hardware": breaks_down,
    "node-degraded": is_rebooted,
    "reboot-failed": does_not_come_back,
    "terminate-failed": does_not_go,
    "worker-exit": a_job_comes_through("worker-exit", '"crash":1', code="139"),
    "worker-oom": runs_out_of_memory,
    "vm-maintenance": a_job_comes_through("vm-maintenance", "(maintenance)", gpus(), seconds=5),
    "spot-preemption": a_job_comes_through("spot-preemption", '"preempted":1', strategy="SPOT"),
    "stockout": a_job_comes_through("stockout", '"stockout":1', attempt=1, replica="workerpool0-0"),
    "internal-error": what_was_begun_fails,
    "api-error": refused("api-error", "InternalFailure"),
    "api-throttle": refused("api-throttle", "ThrottlingException"),
    "api-latency": answers_late,
    "api-drop": loses_the_answer,
}


@pytest.mark.parametrize("effect", EFFECTS)
def test_each_effect_is_reached_and_recovered_from(world: TestWorld, effect: str) -> None:
    """CT-3: an effect without a scenario is a failure here."""
    SCENARIOS[effect](world)
