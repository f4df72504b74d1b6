"""What each state of a group or a cluster lets each operation do: the tables are the data, one cell one test (HP-19).

`ok` is allowed; anything else is the exact code: the call's, or that of the item of a batch.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.kit import Running, TestWorld, classic, group
from tests.states import CLUSTER_STATES, GROUP_STATES, NODES, Reach, patch, patch_group

GONE = "i-0123456789abcdef0"


class Reached:
    """Worlds in which a state was reached, one each, and copies of them for whoever changes something."""

    def __init__(self, service: Running) -> None:
        self._service = service
        self._first: dict[Reach, TestWorld] = {}

    def world(self, reach: Reach) -> TestWorld:
        if reach not in self._first:
            self._first[reach] = self._service.world()
            reach(self._first[reach])
        return self._first[reach]

    @contextmanager
    def copy(self, reach: Reach, purpose: str) -> Iterator[TestWorld]:
        source = self.world(reach)
        copied = TestWorld(source.base, f"{source.name}-{purpose}")
        source.control("POST", "worlds", json={"name": copied.name, "fork_of": source.name})
        yield copied
        copied.close()
        httpx.delete(f"{source.base}/_windtunnel/worlds/{copied.name}").raise_for_status()


@pytest.fixture(scope="module")
def reached(service: Running) -> Reached:
    return Reached(service)


def node(world: TestWorld, of: str) -> str:
    """A healthy instance of the group, or, when there is none, one that is leaving or that never was."""
    nodes = [one for one in world.nodes() if one["InstanceGroupName"] == of]
    nodes.sort(key=lambda one: one["InstanceStatus"]["Status"] != "Running")
    return nodes[0]["InstanceId"] if nodes else GONE


def checks(of: str) -> dict[str, Any]:
    wanted = [{"InstanceGroupName": of, "DeepHealthChecks": ["InstanceStress"]}]
    return {"ClusterName": "demo", "DeepHealthCheckConfigurations": wanted}


def more(of: str) -> dict[str, Any]:
    return {"ClusterName": "demo", "NodesToAdd": [{"InstanceGroupName": of, "IncrementTargetCountBy": 1}]}


def spec(world: TestWorld, of: str, **facts: Any) -> list[dict[str, Any]]:
    return [group(of, 3, InstanceType=world.group(of)["InstanceType"]) | facts]


Call = Callable[[TestWorld, str], Any]
ON_GROUPS: dict[str, Call] = {
    "target": lambda w, g: w.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=spec(w, g, InstanceCount=5)),
    "minimum": lambda w, g: w.sagemaker.update_cluster(
        ClusterName="demo", InstanceGroups=spec(w, g, MinInstanceCount=1)
    ),
    "delete-group": lambda w, g: w.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=[g]),
    "delete-cluster": lambda w, g: w.sagemaker.delete_cluster(ClusterName="demo"),
    "add": lambda w, g: w.sagemaker.batch_add_cluster_nodes(**more(g)),
    "delete": lambda w, g: w.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[node(w, g)]),
    "reboot": lambda w, g: w.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[node(w, g)]),
    "replace": lambda w, g: w.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=[node(w, g)]),
    "check": lambda w, g: w.sagemaker.start_cluster_health_check(**checks(g)),
    "patch": patch_group,
}


WAITING = {
    "target": "ok",
    "minimum": "ok",
    "delete-group": "ok",
    "delete-cluster": "ok",
    "add": "InvalidInstanceGroupStatus",
    "delete": "InvalidNodeStatus",
    "reboot": "InvalidInstanceStatus",
    "replace": "InvalidInstanceStatus",
    "check": "ValidationException",
    "patch": "ConflictException",
}
OPEN = dict.fromkeys(ON_GROUPS, "ok")
LEAVING = WAITING | {
    "target": "ConflictException",
    "minimum": "ConflictException",
    "delete-group": "ConflictException",
}
GROUPS = {
    "creating": WAITING,
    "updating": WAITING,
    "in-service": OPEN,
    "scaling-down": OPEN,
    "degraded": OPEN,
    "system-updating": WAITING | {"add": "ok", "delete": "ok"},
    "deleting": LEAVING,
}


def answer(call: Callable[[], Any]) -> str:
    """`ok`, or the code of the refusal."""
    try:
        given = call()
    except ClientError as refused:
        assert refused.response["ResponseMetadata"]["HTTPStatusCode"] == 400
        assert len(refused.response["Error"]["Message"]) > 20  # says why
        return refused.response["Error"]["Code"]
    failed = [one for key in ("Failed", "FailedNodeLogicalIds") for one in given.get(key) or ()]
    return (failed[0].get("ErrorCode") or failed[0]["Code"]) if failed else "ok"


@pytest.mark.parametrize("operation", ON_GROUPS)
@pytest.mark.parametrize("state", GROUPS)
def test_a_group(reached: Reached, state: str, operation: str) -> None:
    """HP-19: each state of a group against each operation on it; another group of the cluster is not blocked, and what
    is refused changes nothing."""
    status, reach = GROUP_STATES[state]
    assert reached.world(reach).group(NODES)["Status"] == status
    do, wanted = ON_GROUPS[operation], GROUPS[state][operation]
    if wanted != "ok":
        is_refused(reached.world(reach), lambda world: do(world, NODES), wanted)
    with reached.copy(reach, operation) as world:
        if wanted == "ok":
            assert answer(lambda: do(world, NODES)) == "ok"
        if operation != "delete-cluster":
            assert answer(lambda: do(world, "others")) == "ok"


@pytest.mark.parametrize("state", GROUPS)
def test_the_software_of_the_whole_cluster(reached: Reached, state: str) -> None:
    """HP-19: any group that is blocked keeps the whole from it, unless it is on its way out."""
    reach = GROUP_STATES[state][1]
    if GROUPS[state]["patch"] == "ok" or state == "deleting":
        with reached.copy(reach, "software") as world:
            assert answer(lambda: patch(world)) == "ok"
    else:
        is_refused(reached.world(reach), patch, "ConflictException")


def is_refused(world: TestWorld, do: Callable[[TestWorld], Any], code: str) -> None:
    """With this code, and nothing has changed."""
    before = world.describe()
    assert answer(lambda: do(world)) == code
    assert settled(world.describe()) == settled(before)


def settled(described: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in described.items() if key != "ResponseMetadata"}


def again(world: TestWorld) -> Any:
    return world.sagemaker.create_cluster(**classic(group("others", 1)))


def scaled(world: TestWorld) -> Any:
    return world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=spec(world, NODES))


def tagged(world: TestWorld) -> Any:
    return world.sagemaker.add_tags(ResourceArn=world.describe()["ClusterArn"], Tags=[{"Key": "a", "Value": "b"}])


ON_CLUSTERS: dict[str, Callable[[TestWorld], Any]] = {
    "create-again": again,
    "describe": lambda w: w.sagemaker.describe_cluster(ClusterName="demo"),
    "list-nodes": lambda w: w.sagemaker.list_cluster_nodes(ClusterName="demo"),
    "list-events": lambda w: w.sagemaker.list_cluster_events(ClusterName="demo"),
    "tag": tagged,
    "target": scaled,
    "recovery": lambda w: w.sagemaker.update_cluster(ClusterName="demo", NodeRecovery="None"),
    "patch-all": patch,
    **{name: lambda w, do=do: do(w, NODES) for name, do in ON_GROUPS.items() if name not in ("target", "minimum")},
}

NO_EVENTS = "ValidationException"
READING = {
    "create-again": "ResourceInUse",
    "describe": "ok",
    "list-nodes": "ok",
    "list-events": "ok",
    "tag": "ok",
}
REFUSED = dict.fromkeys(ON_CLUSTERS, "ConflictException") | READING
CLASSIC = {"list-events": NO_EVENTS, "add": "ValidationException"}
ALLOWED = dict.fromkeys(ON_CLUSTERS, "ok") | READING
CLUSTERS = {
    "continuous-creating": ALLOWED
    | dict.fromkeys(("add", "delete", "reboot", "replace", "check"), "ValidationException")
    | dict.fromkeys(("patch", "patch-all"), "ConflictException"),
    "continuous-in-service": ALLOWED,
    "continuous-failed": REFUSED | {"delete-cluster": "ok"},
    "continuous-deleting": REFUSED,
    "classic-creating": REFUSED | CLASSIC,
    "classic-in-service": ALLOWED | CLASSIC,
    "classic-updating": REFUSED | CLASSIC,
    "classic-system-updating": REFUSED | CLASSIC,
    "classic-rolling-back": REFUSED | CLASSIC,
    "classic-failed": REFUSED | CLASSIC | {"delete-cluster": "ok"},
    "classic-deleting": REFUSED | CLASSIC,
}


@pytest.mark.parametrize("operation", ON_CLUSTERS)
@pytest.mark.parametrize("state", CLUSTERS)
def test_a_cluster(reached: Reached, state: str, operation: str) -> None:
    """HP-19, HP-7, HP-9, HP-40: each status of a cluster, in both modes, against each operation on it; what is refused
    changes nothing."""
    status, reach = CLUSTER_STATES[state]
    assert reached.world(reach).describe()["ClusterStatus"] == status
    do, wanted = ON_CLUSTERS[operation], CLUSTERS[state][operation]
    if operation in READING:
        assert answer(lambda: do(reached.world(reach))) == wanted
    elif wanted != "ok":
        is_refused(reached.world(reach), do, wanted)
    else:
        with reached.copy(reach, operation) as world:
            assert answer(lambda: do(world)) == "ok"
