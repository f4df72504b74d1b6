"""Cluster scheduler configs and compute quotas through boto3: what each operation changes and refuses."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError

from tests.governance import PRIORITIES, SETTLED, SHAPES, Governed, cluster
from tests.kit import Running, TestWorld, eks, group, slurm, workers
from tests.wire.sagemaker.refused import CONFLICT, INVALID, LIMIT, NOT_FOUND, refusal


@pytest.fixture
def fast(service: Running) -> TestWorld:
    return service.world(profile="fast")


@pytest.fixture(params=SHAPES)
def kind(fast: TestWorld, request: pytest.FixtureRequest) -> Governed:
    return Governed(fast, request.param, cluster(fast))


@pytest.fixture
def quotas(fast: TestWorld) -> Governed:
    return Governed(fast, "ComputeQuota", cluster(fast))


@pytest.fixture
def configs(fast: TestWorld) -> Governed:
    return Governed(fast, "ClusterSchedulerConfig", cluster(fast))


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


def test_nothing_is_begun_while_something_is_under_way(kind: Governed) -> None:
    """HP-W3: ConflictException in Creating, Updating and Deleting, from Update and Delete."""
    one = kind.create()
    for begin, version in ((lambda: None, 1), (lambda: kind.update(one), 2), (lambda: kind.delete(one), 2)):
        begin()
        state = kind.status(one)
        assert state.endswith("ing")
        for request in ({"verb": "update", "TargetVersion": version}, {"verb": "delete"}):
            code, message = refusal(kind, **request, **kind.named(one))
            assert (code, state in message) == (CONFLICT, True)
        kind.world.advance(SETTLED)
    for request in ({"verb": "update", "TargetVersion": 2}, {"verb": "delete"}):
        assert refusal(kind, **request, **kind.named(one))[0] == NOT_FOUND, "it is Deleted"


@pytest.mark.parametrize("target", [0, 2, -1, 2**31 - 1])
def test_the_target_version_is_the_current_one(kind: Governed, target: int) -> None:
    one = kind.create()
    kind.world.advance(SETTLED)
    code, message = refusal(kind, verb="update", **kind.named(one), TargetVersion=target)
    assert (code, "current version" in message) == (CONFLICT, True)
    assert kind.status(one) == "Created"


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


def test_one_scheduler_config_a_cluster(configs: Governed) -> None:
    """HP-W3: the second is a ConflictException, until the first is Deleted; another cluster has its own."""
    one = configs.create()
    code, message = refusal(configs, verb="create", **configs.request("two"))
    assert (code, one in message) == (CONFLICT, True)
    elsewhere = cluster(configs.world, "other")
    configs.create("two", ClusterArn=elsewhere)
    configs.world.advance(SETTLED)
    configs.delete(one)
    assert refusal(configs, verb="create", **configs.request("two"))[0] == CONFLICT
    configs.world.advance(SETTLED)
    again = configs.create()
    assert again != one
    assert len(configs.listed(ClusterArn=configs.cluster_arn)) == 2


def test_one_quota_a_name_and_a_team(quotas: Governed) -> None:
    """HP-W3: ConflictException at creation, and for a team at an update; another cluster has names of its own."""
    quotas.create("one")
    two = quotas.create("two")
    for request in (quotas.request("one", ComputeQuotaTarget={"TeamName": "x"}), quotas.request("One") | team("two")):
        assert refusal(quotas, verb="create", **request)[0] == CONFLICT
    quotas.world.advance(SETTLED)
    code, message = refusal(quotas, verb="update", **quotas.named(two), TargetVersion=1, **team("one"))
    assert (code, "Team 'one'" in message) == (CONFLICT, True)
    quotas.update(two, 1, **team("two"))
    quotas.create("one", ClusterArn=cluster(quotas.world, "other"))


def team(name: str) -> dict[str, object]:
    return {"ComputeQuotaTarget": {"TeamName": name, "FairShareWeight": 7}}


@pytest.mark.parametrize(
    ("shape", "many", "size"),
    [
        (
            "ComputeQuota",
            "Number of compute quotas per Region",
            "Maximum number of instance types per compute quota",
        ),
        (
            "ClusterSchedulerConfig",
            "Number of cluster scheduler configs per Region",
            "Maximum number of priority classes per cluster scheduler config",
        ),
    ],
)
def test_quotas_of_the_account(fast: TestWorld, shape: str, many: str, size: str) -> None:
    """CT-4, HP-W3: ResourceLimitExceeded at creation and update."""
    kind = Governed(fast, shape, cluster(fast))
    elsewhere = cluster(fast, "other")
    one = kind.create()
    fast.advance(SETTLED)
    fast.control("POST", "quotas", json={"name": many, "value": 1})
    code, message = refusal(kind, verb="create", **kind.request("two") | {"ClusterArn": elsewhere})
    assert (code, f"service limit '{many}' is 1 " in message) == (LIMIT, True)
    kind.delete(one)
    fast.advance(SETTLED)
    two = kind.create("two", ClusterArn=elsewhere)
    fast.advance(SETTLED)
    fast.control("POST", "quotas", json={"name": size, "value": 0})
    code, message = refusal(kind, verb="update", **kind.named(two), TargetVersion=1)
    assert (code, f"service limit '{size}' is 0 " in message) == (LIMIT, True)


def test_what_is_not_there(kind: Governed) -> None:
    """HP-W3, HP-W6: an unknown id, another account's, another region's, and the other kind's id."""
    one = kind.create()
    (other,) = (Governed(kind.world, shape, "") for shape in SHAPES if shape != kind.shape)
    for who, client, name in (
        (kind, kind.world.sagemaker, "abcdefghij12"),
        (kind, kind.world.client(account="444455556666"), one),
        (kind, kind.world.client(region="eu-west-1"), one),
        (other, kind.world.sagemaker, one),
    ):
        for request in ({"verb": "describe"}, {"verb": "update", "TargetVersion": 1}, {"verb": "delete"}):
            code, message = refusal(who, client=client, **request, **who.named(name))
            assert (code, name in message) == (NOT_FOUND, True)
    assert kind("list", client=kind.world.client(account="444455556666"))[f"{kind.shape}Summaries"] == []


def test_clusters_that_take_none(kind: Governed) -> None:
    """HP-W3: unknown, another account's, on Slurm, or on its way out."""
    world = kind.world
    slurm_arn = world.sagemaker.create_cluster(**slurm(workers(1), name="slurm"))["ClusterArn"]
    foreign = world.client(account="444455556666").create_cluster(**eks(group("g", 1)))["ClusterArn"]
    for arn, told in (
        (slurm_arn, "EKS"),
        (foreign, "not found"),
        (kind.cluster_arn[:-12] + "abcdefghij12", "not found"),
    ):
        code, message = refusal(kind, verb="create", **kind.request(ClusterArn=arn))
        assert (code, told in message) == (INVALID, True)
    one = kind.create()
    world.advance(SETTLED)
    world.sagemaker.delete_cluster(ClusterName="demo")
    for request in (kind.request("two") | {"verb": "create"}, {"verb": "update", "TargetVersion": 1} | kind.named(one)):
        code, message = refusal(kind, **request)
        assert (code, "Deleting" in message) == (CONFLICT, True)
    kind.delete(one)


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


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ({"InstanceType": "ml.p5.48xlarge"}, "no amount"),
        ({"InstanceType": "ml.c5.xlarge", "Accelerators": 1}, "has none"),
        ({"InstanceType": "ml.p5.48xlarge", "Accelerators": 10_000_000}, "Give less"),
        ({"InstanceType": "ml.p5.48xlarge", "VCpu": 1e7}, "Give less"),
        ({"InstanceType": "ml.p5.48xlarge", "VCpu": 1e300}, "less than or equal to 10000000"),
        ({"InstanceType": "ml.p5.1xlarge", "Count": 1}, "enum value set"),
    ],
)
def test_amounts_that_cannot_be(quotas: Governed, amount: dict[str, object], told: str) -> None:
    """HP-W3: at creation and update, and nothing is begun."""
    config = {"ComputeQuotaResources": [amount]}
    one = quotas.create()
    quotas.world.advance(SETTLED)
    for request in (
        {"verb": "create", **quotas.request("two", ComputeQuotaConfig=config)},
        {"verb": "update", "TargetVersion": 1, "ComputeQuotaConfig": config, **quotas.named(one)},
    ):
        code, message = refusal(quotas, **request)
        assert (code, told in message) == (INVALID, True), message
    assert quotas.status(one) == "Created"
    assert len(quotas.listed()) == 1
