"""Cluster scheduler configs and compute quotas through boto3: what each operation changes."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError

from tests.governance import PRIORITIES, SETTLED, SHAPES, Governed, cluster
from tests.kit import TestWorld
from tests.wire.sagemaker.refused import CONFLICT, INVALID, LIMIT, NOT_FOUND, refusal


@pytest.fixture(params=SHAPES)
def kind(world: TestWorld, request: pytest.FixtureRequest) -> Governed:
    return Governed(world, request.param, cluster(world))


@pytest.fixture
def quotas(world: TestWorld) -> Governed:
    return Governed(world, "ComputeQuota", cluster(world))


@pytest.fixture
def configs(world: TestWorld) -> Governed:
    return Governed(world, "ClusterSchedulerConfig", cluster(world))


def test_a_life(kind: Governed) -> None:
    """HP-W3: created, updated, deleted; each in its time, and for an hour the deleted one can still be seen."""
    one = kind.create(Description="first")
    assert kind.status(one) == "Creating"
    kind.world.advance(SETTLED - 1)
    assert kind.status(one) == "Creating"
    kind.world.advance(1)
    assert kind.status(one) == "Created"
    assert kind.update(one, 1, Description="second") == 2
    assert kind.status(one) == "Updating"
    kind.world.advance(SETTLED)
    shown = kind.describe(one)
    assert (shown["Status"], shown["Description"], shown[f"{kind.shape}Version"]) == ("Updated", "second", 2)
    assert shown["ClusterArn"] == kind.cluster_arn
    assert shown["LastModifiedTime"] > shown["CreationTime"]
    user = {"IamIdentity": {"Arn": "arn:aws:iam::111122223333:root", "PrincipalId": "111122223333"}}
    assert shown["CreatedBy"] == shown["LastModifiedBy"] == user
    kind.delete(one)
    assert kind.status(one) == "Deleting"
    kind.world.advance(SETTLED)
    assert kind.status(one) == "Deleted"
    assert [entry["Status"] for entry in kind.listed()] == ["Deleted"]
    kind.world.advance(3599)
    assert kind.status(one) == "Deleted"
    kind.world.advance(1)
    assert kind.listed() == []
    assert refusal(kind, verb="describe", **kind.named(one))[0] == NOT_FOUND


def test_older_versions_are_kept(kind: Governed) -> None:
    """HP-W3: each version as it was asked for, with how it ended; one that never was is not found."""
    one = kind.create(Description="first")
    kind.world.advance(SETTLED)
    kind.fail("Update")
    kind.update(one, 1, Description="second")
    kind.world.advance(SETTLED)
    kind.update(one, 2, Description="third")
    told = [(kind.describe(one, number)["Description"], kind.describe(one, number)["Status"]) for number in (1, 2, 3)]
    assert told == [("first", "Created"), ("second", "UpdateFailed"), ("third", "Updating")]
    assert kind.describe(one, 2)["FailureReason"]
    assert kind.describe(one) == kind.describe(one, 3)
    for number in (0, -1, 4, 2**31 - 1):
        code, message = refusal(kind, verb="describe", **kind.named(one), **{f"{kind.shape}Version": number})
        assert (code, "versions are 1 to 3" in message) == (NOT_FOUND, True)


FAILURES = [
    ("Create", None, "CreateFailed"),
    ("Create", "CreateRollbackFailed", "CreateRollbackFailed"),
    ("Update", None, "UpdateFailed"),
    ("Update", "UpdateRollbackFailed", "UpdateRollbackFailed"),
    ("Delete", None, "DeleteFailed"),
    ("Delete", "DeleteRollbackFailed", "DeleteRollbackFailed"),
]


@pytest.mark.parametrize(("verb", "code", "state"), FAILURES, ids=[state for _, _, state in FAILURES])
def test_every_failure_and_the_way_out(kind: Governed, verb: str, code: str | None, state: str) -> None:
    """CT-3: each failed status is reached by a rule, tells why, and can be deleted."""
    kind.fail(verb, code, message="The add-on did not answer.")
    one = kind.create()
    if verb != "Create":
        kind.world.advance(SETTLED)
        kind.update(one, 1, Description="new") if verb == "Update" else kind.delete(one)
    assert "FailureReason" not in kind.describe(one)
    kind.world.advance(SETTLED)
    shown = kind.describe(one)
    assert (shown["Status"], shown["FailureReason"]) == (state, "The add-on did not answer.")
    assert [entry["Status"] for entry in kind.listed(Status=state)] == [state]
    again = {"verb": "update", **kind.named(one), "TargetVersion": shown[f"{kind.shape}Version"]}
    if state in ("CreateFailed", "CreateRollbackFailed", "DeleteRollbackFailed"):
        told = refusal(kind, **again)
        assert told[0] == CONFLICT
        assert state in told[1]
        assert "Delete it" in told[1]
    else:
        kind(**again)
        kind.world.advance(SETTLED)
        assert kind.status(one) == "Updated"
        assert "FailureReason" not in kind.describe(one)
    kind.delete(one)
    kind.world.advance(SETTLED)
    assert kind.status(one) == "Deleted"
    (rule,) = kind.world.control("GET", "faults")["rules"]
    assert rule["hits"] == 1
    (hit,) = kind.world.control("GET", "faults/hits")["hits"]
    assert (hit["effect"], hit["logical_id"]) == ("internal-error", one)


def test_two_updates_at_once(kind: Governed) -> None:
    """One of them takes the version, the others are refused."""
    one = kind.create()
    kind.world.advance(SETTLED)
    clients = [kind.world.client() for _ in range(8)]

    def update(client: object) -> str:
        try:
            kind("update", client=client, **kind.named(one), TargetVersion=1)
        except ClientError as refused:
            return str(refused.response["Error"]["Code"])
        return "done"

    with ThreadPoolExecutor(8) as pool:
        told = sorted(pool.map(update, clients))
    assert told == [CONFLICT] * 7 + ["done"]
    assert kind.describe(one)[f"{kind.shape}Version"] == 2


def test_two_creations_at_once(kind: Governed) -> None:
    """One scheduler config a cluster, one quota a name, whoever asks how often; the same within an account's quota."""
    name = "Number of compute quotas per Region"
    other = "Number of cluster scheduler configs per Region"
    arns = [kind.cluster_arn, *(cluster(kind.world, f"c-{number}") for number in range(3))]
    for quota in (name, other):
        kind.world.control("POST", "quotas", json={"name": quota, "value": 2})
    clients = [kind.world.client() for _ in range(8)]

    def create(number: int) -> str:
        try:
            kind("create", client=clients[number], **kind.request() | {"ClusterArn": arns[number % 4]})
        except ClientError as refused:
            return str(refused.response["Error"]["Code"])
        return "done"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(create, range(8)))
    assert told.count("done") == 2
    assert set(told) == {"done", LIMIT, CONFLICT} or set(told) == {"done", LIMIT}
    assert len(kind.listed()) == 2


def test_the_end_of_the_cluster_ends_them(kind: Governed) -> None:
    """Chosen: when the cluster is gone they are deleted, whatever state they were in, and then are gone as ever."""
    kind.fail("Create")
    one = kind.create("one")
    kind.world.advance(SETTLED)
    kind.world.sagemaker.delete_cluster(ClusterName="demo")
    assert kind.status(one) == "CreateFailed"
    gone = False
    while not gone:
        kind.world.advance(1)
        gone = kind.world.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert kind.status(one) == "Deleting"
    assert refusal(kind, verb="delete", **kind.named(one))[0] == CONFLICT
    kind.world.advance(SETTLED)
    assert kind.status(one) == "Deleted"
    assert "FailureReason" not in kind.describe(one)
    kind.world.advance(hours=1)
    assert kind.listed() == []
    Governed(kind.world, kind.shape, cluster(kind.world)).create("one")


def test_tags(kind: Governed) -> None:
    """HP-W3: at creation and later; an ARN that is not there is refused, and so is one that has gone."""
    client = kind.world.sagemaker
    one = kind.create(Tags=[{"Key": "a", "Value": "1"}])
    arn = kind.arn(one)
    client.add_tags(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    client.delete_tags(ResourceArn=arn, TagKeys=["a"])
    assert client.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]
    many = [{"Key": f"k{number}", "Value": "v"} for number in range(50)]
    assert refusal(client.add_tags, ResourceArn=arn, Tags=many)[0] == INVALID
    kind.world.advance(SETTLED)
    kind.delete(one)
    kind.world.advance(3600 + SETTLED)
    foreign = kind.world.client(account="444455556666")
    for who, name in ((client, arn), (foreign, arn), (client, arn.replace(":1111", ":4444")), (client, arn[:-1] + "~")):
        assert refusal(who.list_tags, ResourceArn=name)[0] in (NOT_FOUND, INVALID)
        assert refusal(who.add_tags, ResourceArn=name, Tags=many[:1])[0] in (NOT_FOUND, INVALID)
        assert refusal(who.delete_tags, ResourceArn=name, TagKeys=["b"])[0] in (NOT_FOUND, INVALID)
    for key in ("aws:x", "AWS:x"):
        refused = refusal(kind, verb="create", **kind.request("two", Tags=[{"Key": key, "Value": "v"}]))
        assert refused[0] == INVALID


def test_the_status_of_each_part(configs: Governed) -> None:
    """StatusDetails follow the config, for the parts that it has."""
    one = configs.create()
    assert configs.describe(one)["SchedulerConfig"] == {"PriorityClasses": PRIORITIES, "FairShare": "Enabled"}
    assert configs.describe(one)["StatusDetails"] == {"PriorityClasses": "Creating", "FairShare": "Creating"}
    configs.world.advance(SETTLED)
    configs.update(one, 1, SchedulerConfig={"IdleResourceSharing": "Disabled", "FairShare": "Disabled"})
    configs.world.advance(SETTLED)
    assert configs.describe(one)["StatusDetails"] == {"FairShare": "Updated", "IdleResourceSharing": "Updated"}
    twice = {"PriorityClasses": [PRIORITIES[0], PRIORITIES[0]]}
    for request in (configs.request(SchedulerConfig=twice) | {"verb": "create", "ClusterArn": configs.cluster_arn},):
        code, message = refusal(configs, **request)
        assert (code, "given twice: train" in message) == (INVALID, True)


def test_a_quota_shows_its_defaults_and_what_was_filled_in(quotas: Governed) -> None:
    """HP-W2: vCPU and memory by the catalogue's ratio; what an update does not name stays."""
    given = {"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Accelerators": 4}]}
    one = quotas.create(ComputeQuotaConfig=given)
    shown = quotas.describe(one)
    assert shown["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [
            {"InstanceType": "ml.p5.48xlarge", "Accelerators": 4, "VCpu": 96.0, "MemoryInGiB": 1024.0}
        ],
        "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
        "PreemptTeamTasks": "LowerPriority",
    }
    assert shown["ComputeQuotaTarget"] == {"TeamName": "one", "FairShareWeight": 0}
    assert shown["ActivationState"] == "Enabled"
    quotas.world.advance(SETTLED)
    quotas.update(one, 1, ActivationState="Disabled")
    after = quotas.describe(one)
    assert after["ActivationState"] == "Disabled"
    assert after["ComputeQuotaConfig"] == shown["ComputeQuotaConfig"]
