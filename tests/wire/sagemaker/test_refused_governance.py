"""Cluster scheduler configs and compute quotas through boto3: what is refused, and why."""

import pytest

from tests.governance import SETTLED, SHAPES, Governed, cluster
from tests.kit import TestWorld, eks, group, slurm, workers
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
def test_quotas_of_the_account(world: TestWorld, shape: str, many: str, size: str) -> None:
    """CT-4, HP-W3: ResourceLimitExceeded at creation and update."""
    kind = Governed(world, shape, cluster(world))
    elsewhere = cluster(world, "other")
    one = kind.create()
    world.advance(SETTLED)
    world.control("POST", "quotas", json={"name": many, "value": 1})
    code, message = refusal(kind, verb="create", **kind.request("two") | {"ClusterArn": elsewhere})
    assert (code, f"service limit '{many}' is 1 " in message) == (LIMIT, True)
    kind.delete(one)
    world.advance(SETTLED)
    two = kind.create("two", ClusterArn=elsewhere)
    world.advance(SETTLED)
    world.control("POST", "quotas", json={"name": size, "value": 0})
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
