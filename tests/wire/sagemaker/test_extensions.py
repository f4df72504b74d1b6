"""Extensions of Slurm clusters, through their six operations."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from app.core.extensions import ISSUES
from tests.kit import Running, TestWorld, classic, eks, group, slurm, workers
from tests.wire.sagemaker.refused import CONFLICT, IN_USE, INVALID, NOT_FOUND, refusal

NAME = "sagemaker-observability"


class Cluster:
    """A Slurm cluster in service with a controller and three workers, and what can be done with its extensions."""

    def __init__(self, world: TestWorld) -> None:
        self.world, self.sagemaker = world, world.sagemaker
        self.arn = self.sagemaker.create_cluster(**slurm(workers(3)))["ClusterArn"]
        world.advance(minutes=5)

    def create(self, settings: Any = None, **facts: Any) -> str:
        values = {} if settings is None else {"ConfigurationValues": json.dumps(settings)}
        asked = {"ClusterArn": self.arn, "ExtensionName": NAME} | values | facts
        return str(self.sagemaker.create_cluster_extension(**asked)["ExtensionArn"])

    def update(self, arn: str, settings: Any = None, **facts: Any) -> None:
        values = {} if settings is None else {"ConfigurationValues": json.dumps(settings)}
        asked = {"ClusterArn": self.arn, "ExtensionArn": arn} | values | facts
        assert self.sagemaker.update_cluster_extension(**asked)["ExtensionArn"] == arn

    def delete(self, arn: str) -> None:
        assert self.sagemaker.delete_cluster_extension(ClusterArn=self.arn, ExtensionArn=arn)["ExtensionArn"] == arn

    def describe(self, arn: str) -> dict[str, Any]:
        return dict(self.sagemaker.describe_cluster_extension(ClusterArn=self.arn, ExtensionArn=arn))

    def state(self, arn: str) -> tuple[str, int, int]:
        """Status, active nodes, all nodes."""
        seen = self.describe(arn)
        return seen["ExtensionDetails"]["Status"], *(seen["NodeSummary"][key] for key in ("ActiveCount", "TotalCount"))

    def settings(self, arn: str) -> Any:
        return json.loads(self.describe(arn)["ExtensionDetails"]["ConfigurationValues"])

    def issues(self, arn: str) -> list[tuple[str, int]]:
        found = self.describe(arn).get("Health", {"Issues": []})["Issues"]
        return [(one["Code"], one["NodeCount"]) for one in found]

    def listed(self, **question: Any) -> list[dict[str, Any]]:
        pages = self.sagemaker.get_paginator("list_cluster_extensions").paginate(ClusterArn=self.arn, **question)
        return [one for page in pages for one in page["Extensions"]]

    def fail(self, operation: str, **facts: Any) -> None:
        self.world.control("DELETE", "faults")
        self.world.fault("internal-error", operation=f"{operation}ClusterExtension", **facts)


@pytest.fixture
def cluster(world: TestWorld) -> Cluster:
    return Cluster(world)


def test_creation_installs_on_every_node(cluster: Cluster) -> None:
    """Creating, then Active; the description shows every setting with its default."""
    arn = cluster.create()
    assert arn.startswith(f"arn:aws:sagemaker:us-west-2:111122223333:extension/sagemaker-{cluster.arn[-12:]}/{NAME}/")
    assert cluster.state(arn) == ("Creating", 0, 4)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 4, 4)
    details = cluster.describe(arn)["ExtensionDetails"]
    assert (details["ExtensionName"], details["ClusterArn"]) == (NAME, cluster.arn)
    assert details["ExtensionVersion"] == "1.2.0", "the latest"
    settings = cluster.settings(arn)
    assert settings["metricsProvider"]["nodeMetrics"] == {"level": "BASIC", "collectionIntervalSeconds": 30}
    assert "prometheus" not in settings
    [one] = cluster.listed()
    assert (one["ExtensionArn"], one["Status"]) == (arn, "Active")


def test_new_nodes_get_it_by_themselves(cluster: Cluster) -> None:
    """Degraded until they have it: it runs on some of the nodes but not on all."""
    arn = cluster.create()
    cluster.world.advance(seconds=5)
    cluster.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(5)])
    while cluster.state(arn)[2] == 4:
        cluster.world.advance(seconds=1)
    assert cluster.state(arn) == ("Degraded", 4, 6)
    assert cluster.issues(arn) == []
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 6, 6)


def test_settings_merge_and_null_is_the_default(cluster: Cluster) -> None:
    """Given ones change, others stay, null returns to the default, of a whole branch too."""
    url = "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-1/api/v1/remote_write"
    arn = cluster.create(
        {"prometheus": {"remoteWriteUrl": url}, "metricsProvider": {"nodeMetrics": {"level": "ADVANCED"}}}
    )
    cluster.world.advance(seconds=5)
    cluster.update(arn, {"metricsProvider": {"jobMetrics": {"level": "DISABLED", "collectionIntervalSeconds": 60}}})
    assert cluster.state(arn) == ("Updating", 0, 4)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 4, 4)
    settings = cluster.settings(arn)
    assert settings["prometheus"]["remoteWriteUrl"] == url
    assert settings["metricsProvider"]["nodeMetrics"]["level"] == "ADVANCED"
    assert settings["metricsProvider"]["jobMetrics"] == {"level": "DISABLED", "collectionIntervalSeconds": 60}
    cluster.update(arn, {"prometheus": None, "metricsProvider": {"jobMetrics": None, "nodeMetrics": {"level": None}}})
    settings = cluster.settings(arn)
    assert "prometheus" not in settings
    assert settings["metricsProvider"]["jobMetrics"] == {"level": "ENABLED", "collectionIntervalSeconds": 30}
    assert settings["metricsProvider"]["nodeMetrics"]["level"] == "BASIC"


def test_versions_go_up_only(cluster: Cluster) -> None:
    """A version knows its own settings; a later one brings new ones with their defaults."""
    arn = cluster.create(ExtensionVersion="1.0.0")
    cluster.world.advance(seconds=5)
    assert "profilesProvider" not in cluster.settings(arn)
    hosts = {"profilesProvider": {"hostProfiling": {"enabled": True}}}
    assert refusal(cluster.update, arn=arn, settings=hosts)[0] == INVALID
    cluster.update(arn, hosts, ExtensionVersion="1.1.0")
    assert cluster.state(arn)[0] == "Updating"
    assert cluster.settings(arn)["profilesProvider"] == {"hostProfiling": {"enabled": True}}
    assert cluster.settings(arn)["metricsProvider"]["ncclMetrics"]["level"] == "DISABLED"
    code, message = refusal(cluster.update, arn=arn, ExtensionVersion="1.0.0")
    assert code == INVALID and "not later" in message
    code, message = refusal(cluster.update, arn=arn, ExtensionVersion="0.9.0")
    assert code == INVALID and "not offered" in message, "withdrawn"


@pytest.mark.parametrize(
    "settings",
    [
        {"metricsprovider": {}},
        {"metricsProvider": {"nodeMetrics": {"lvl": "BASIC"}}},
        {"metricsProvider": {"nodeMetrics": {"level": "basic"}}},
        {"metricsProvider": {"nodeMetrics": {"collectionIntervalSeconds": True}}},
        {"metricsProvider": {"nodeMetrics": {"collectionIntervalSeconds": 2**40}}},
        {"metricsProvider": {"nodeMetrics": []}},
        {"metricsProvider": 5},
        {"metricsProvider.nodeMetrics.level": "BASIC"},
        {"profilesProvider": {"hostProfiling": {"enabled": "yes"}}},
        {"prometheus": {"remoteWriteUrl": ""}},
        {"prometheus": {"remoteWriteUrl": "a\x00b"}},
        {"": {}},
        [],
        "text",
    ],
)
def test_bad_settings_are_refused(cluster: Cluster, settings: Any) -> None:
    """Unknown ones at every level, and values that a setting does not take."""
    code, message = refusal(cluster.create, settings=settings)
    assert code == INVALID and "ConfigurationValues" in message


@pytest.mark.parametrize("text", ["{", "nothing", '{"a":' * 1500 + "1" + "}" * 1500, '{"prometheus": NaN}', "null"])
def test_what_is_no_json_object_is_refused(cluster: Cluster, text: str) -> None:
    code, message = refusal(cluster.create, ConfigurationValues=text)
    assert code == INVALID and "ConfigurationValues" in message


def test_creation_that_fails_everywhere(cluster: Cluster) -> None:
    """CT-3: CreateFailed with its reason; an update without a change retries."""
    cluster.fail("Create", code="AccessDenied", message="sts:AssumeRole is denied.")
    arn = cluster.create()
    assert cluster.state(arn) == ("Creating", 0, 4)
    assert cluster.issues(arn) == []
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("CreateFailed", 0, 4)
    [issue] = cluster.describe(arn)["Health"]["Issues"]
    assert issue == {"Code": "AccessDenied", "Message": "sts:AssumeRole is denied.", "NodeCount": 4}
    cluster.update(arn)
    assert cluster.state(arn)[0] == "Updating"
    assert cluster.issues(arn) == [("AccessDenied", 4)], "an earlier attempt failed on them"
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 4, 4)
    assert "Health" not in cluster.describe(arn)


@pytest.mark.parametrize("code", ISSUES)
def test_each_reason_for_a_failure_is_told(cluster: Cluster, code: str) -> None:
    """CT-3: the rule's code is the issue's, with a text that says what to do; an update retries."""
    cluster.fail("Create", code=code)
    arn = cluster.create()
    cluster.world.advance(seconds=5)
    [issue] = cluster.describe(arn)["Health"]["Issues"]
    assert (issue["Code"], issue["Message"], issue["NodeCount"]) == (code, ISSUES[code], 4)
    cluster.update(arn)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 4, 4)


def test_some_nodes_fail(cluster: Cluster) -> None:
    """Degraded; the retry works on those alone, and the others go on."""
    cluster.fail("Create", times=1, code="DependencyUnreachable")
    arn = cluster.create()
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Degraded", 3, 4)
    assert cluster.issues(arn) == [("DependencyUnreachable", 1)]
    cluster.fail("Update", code="no-such-code")
    cluster.update(arn)
    assert cluster.state(arn) == ("Updating", 3, 4)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Degraded", 3, 4)
    assert cluster.issues(arn) == [("Other", 1)]
    cluster.sagemaker.batch_delete_cluster_nodes(
        ClusterName="demo", NodeIds=[node["InstanceId"] for node in cluster.world.nodes()[1:]]
    )
    cluster.world.advance(minutes=1)
    assert cluster.state(arn)[1:] == (1 - len(cluster.issues(arn)), 1)


def test_update_that_fails(cluster: Cluster) -> None:
    """UpdateFailed on every node; then a retry."""
    arn = cluster.create()
    cluster.world.advance(seconds=5)
    cluster.fail("Update")
    cluster.update(arn, {"metricsProvider": {"jobMetrics": {"level": "DISABLED"}}})
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("UpdateFailed", 0, 4)
    assert cluster.issues(arn) == [("InternalFailure", 4)]
    cluster.world.control("DELETE", "faults")
    cluster.update(arn)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("Active", 4, 4)


def test_deletion_and_another_life(cluster: Cluster) -> None:
    """Deleting, then gone; the next one has another ARN."""
    arn = cluster.create()
    assert refusal(cluster.delete, arn=arn)[0] == IN_USE, "while it is Creating"
    cluster.world.advance(seconds=5)
    cluster.delete(arn)
    assert cluster.state(arn)[0] == "Deleting"
    assert refusal(cluster.delete, arn=arn)[0] == CONFLICT
    assert refusal(cluster.update, arn=arn)[0] == CONFLICT
    assert refusal(cluster.create)[0] == IN_USE
    cluster.world.advance(seconds=5)
    assert cluster.listed() == []
    for call in (cluster.describe, cluster.delete, cluster.update):
        assert refusal(call, arn=arn)[0] == NOT_FOUND
    again = cluster.create()
    assert again != arn and cluster.state(again)[0] == "Creating"
    assert refusal(cluster.describe, arn=arn)[0] == NOT_FOUND


def test_deletion_that_fails(cluster: Cluster) -> None:
    """DeleteFailed on every node, Degraded on some; deleted again it goes."""
    arn = cluster.create()
    cluster.world.advance(seconds=5)
    cluster.fail("Delete")
    cluster.delete(arn)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn) == ("DeleteFailed", 0, 4)
    assert refusal(cluster.update, arn=arn)[0] == CONFLICT
    cluster.fail("Delete", times=2)
    cluster.delete(arn)
    cluster.world.advance(seconds=5)
    assert cluster.state(arn)[0] == "Degraded"
    assert cluster.issues(arn) == [("InternalFailure", 2)]
    cluster.delete(arn)
    cluster.world.advance(seconds=5)
    assert cluster.listed() == []


def test_a_client_token_has_one_effect(cluster: Cluster) -> None:
    """For 8 hours; other parameters with it are a ConflictException."""
    arn = cluster.create(ClientToken="t-1")
    assert cluster.create(ClientToken="t-1") == arn
    assert refusal(cluster.create, ClientToken="t-1", ExtensionVersion="1.0.0")[0] == CONFLICT
    cluster.world.advance(seconds=5)
    level = {"metricsProvider": {"jobMetrics": {"level": "DISABLED"}}}
    cluster.update(arn, level, ClientToken="t-2")
    cluster.world.advance(seconds=5)
    cluster.update(arn, level, ClientToken="t-2")
    assert cluster.state(arn)[0] == "Active", "nothing was begun"
    assert refusal(cluster.update, arn=arn, ClientToken="t-2")[0] == CONFLICT
    cluster.world.advance(hours=9)
    assert refusal(cluster.create, ClientToken="t-1")[0] == IN_USE


def test_two_creations_at_once(cluster: Cluster) -> None:
    """One of each name."""

    def tried(_: int) -> str:
        try:
            return cluster.create()
        except ClientError as error:
            return str(error.response["Error"]["Code"])

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(tried, range(6)))
    assert sorted(answers)[:5] == [IN_USE] * 5


def test_clusters_that_take_none(world: TestWorld) -> None:
    """Slurm with continuous provisioning, in service, and nothing else; a cluster that goes takes its own along."""
    call = world.sagemaker.create_cluster_extension
    arns = {}
    for made in (slurm(workers(1)), eks(group("g", 1), name="e"), classic(group("c", 1), name="old")):
        arns[made["ClusterName"]] = world.sagemaker.create_cluster(**made)["ClusterArn"]
    code, message = refusal(call, ClusterArn=arns["demo"], ExtensionName=NAME)
    assert code == CONFLICT and "Creating" in message
    world.advance(minutes=5)
    for name in ("e", "old"):
        assert refusal(call, ClusterArn=arns[name], ExtensionName=NAME)[0] == INVALID
    assert refusal(call, ClusterArn=f"{arns['e'][:-12]}{'z' * 12}", ExtensionName=NAME)[0] == NOT_FOUND
    assert refusal(call, ClusterArn=arns["demo"], ExtensionName="no-such-thing")[0] == NOT_FOUND
    assert refusal(call, ClusterArn=arns["demo"], ExtensionName=NAME, ExtensionVersion="9.9.9")[0] == INVALID
    arn = call(ClusterArn=arns["demo"], ExtensionName=NAME)["ExtensionArn"]
    world.sagemaker.delete_cluster(ClusterName="demo")
    asked = {"ClusterArn": arns["demo"], "ExtensionArn": arn}
    assert refusal(world.sagemaker.update_cluster_extension, **asked)[0] == CONFLICT
    assert refusal(world.sagemaker.delete_cluster_extension, **asked)[0] == CONFLICT
    world.advance(minutes=5)
    lists: list[Callable[..., Any]] = [world.sagemaker.list_cluster_extensions]
    for each in lists:
        assert refusal(each, ClusterArn=arns["demo"])[0] == NOT_FOUND
    assert refusal(world.sagemaker.describe_cluster_extension, **asked)[0] == NOT_FOUND


def test_lists(cluster: Cluster) -> None:
    """HP-W7: the versions from the highest, in pages; the extensions in a range with both its ends."""
    pages = cluster.sagemaker.get_paginator("list_cluster_extension_versions").paginate(
        ExtensionName=NAME, PaginationConfig={"PageSize": 2}
    )
    offered = [[one["ExtensionVersion"] for one in page["ExtensionVersions"]] for page in pages]
    assert offered == [["1.2.0", "1.1.0"], ["1.0.0"]]
    assert cluster.sagemaker.list_cluster_extension_versions(ExtensionName="none")["ExtensionVersions"] == []
    cluster.create()
    made = cluster.listed()[0]["CreationTime"]
    second = timedelta(seconds=1)
    assert len(cluster.listed(CreationTimeAfter=made, CreationTimeBefore=made)) == 1
    assert cluster.listed(CreationTimeAfter=made + second) == cluster.listed(CreationTimeBefore=made - second) == []
    assert len(cluster.listed(PaginationConfig={"PageSize": 1})) == 1
    call = cluster.sagemaker.list_cluster_extensions
    assert refusal(call, ClusterArn=cluster.arn, NextToken="made-up")[0] == INVALID


def test_tags(cluster: Cluster) -> None:
    """Given at creation, and by the tagging operations on its ARN as long as it is there."""
    arn = cluster.create(Tags=[{"Key": "a", "Value": "1"}])
    cluster.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    cluster.sagemaker.delete_tags(ResourceArn=arn, TagKeys=["a"])
    assert cluster.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]
    assert refusal(cluster.create, Tags=[{"Key": "aws:x", "Value": "1"}])[0] == INVALID
    cluster.world.advance(seconds=5)
    cluster.delete(arn)
    cluster.world.advance(seconds=5)
    assert refusal(cluster.sagemaker.list_tags, ResourceArn=arn)[0] in (NOT_FOUND, INVALID)
    assert refusal(cluster.sagemaker.add_tags, ResourceArn=arn, Tags=[])[0] in (NOT_FOUND, INVALID)


def test_ids_and_clock(service: Running) -> None:
    """Equal seeds give equal ARNs; the next thing that happens is that it is installed (CT-1)."""
    arns = []
    for _ in range(2):
        cluster = Cluster(service.world())
        arns.append(cluster.create())
    assert arns[0] == arns[1]
    before = datetime.fromisoformat(cluster.world.now())
    cluster.world.control("POST", "clock/advance", json={"next": True})
    assert datetime.fromisoformat(cluster.world.now()) == before + timedelta(seconds=2)
    assert cluster.state(arns[1])[0] == "Active"
