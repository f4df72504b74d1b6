"""Lists of scheduler configs and compute quotas: every filter, sort and page."""

import itertools

import pytest

from tests.governance import SETTLED, SHAPES, Governed, cluster
from tests.kit import Running, TestWorld
from tests.wire.sagemaker.refused import INVALID, refusal


@pytest.fixture(params=SHAPES)
def many(service: Running, request: pytest.FixtureRequest) -> Governed:
    """Five on five clusters, one in each of five states; made two seconds apart."""
    world = service.world(profile="fast")
    kind = Governed(world, request.param, "")
    made = {}
    for name in ("delta", "alpha", "echo", "bravo", "charlie"):
        if name == "bravo":
            kind.fail("Create")
        kind.cluster_arn = cluster(world, f"c-{name}")
        made[name] = kind.create(name)
        world.advance(SETTLED)
    kind.delete(made["alpha"])
    world.advance(SETTLED)
    kind.update(made["echo"], 1)
    kind.delete(made["charlie"])
    return kind


STATES = {
    "delta": "Created",
    "alpha": "Deleted",
    "echo": "Updating",
    "bravo": "CreateFailed",
    "charlie": "Deleting",
}


def test_sorts(many: Governed) -> None:
    """HP-W7: without a word the newest first; by name and by computed status, both ways."""
    made = list(STATES)
    assert many.names() == made[::-1]
    assert many.names(SortBy="CreationTime", SortOrder="Ascending") == made
    assert many.names(SortBy="Name", SortOrder="Ascending") == sorted(made)
    assert many.names(SortBy="Name") == sorted(made, reverse=True)
    by_status = sorted(made, key=lambda name: STATES[name])
    assert many.names(SortBy="Status", SortOrder="Ascending") == by_status
    assert many.names(SortBy="Status", SortOrder="Descending") == by_status[::-1]
    assert {one["Name"]: one["Status"] for one in many.listed()} == STATES
    if many.shape == "ComputeQuota":
        arns = [one["ClusterArn"] for one in many.listed(SortBy="ClusterArn", SortOrder="Ascending")]
        assert arns == sorted(arns)


def test_filters(many: Governed) -> None:
    """HP-W7: each filter, and all together; wildcards are letters."""
    for name, state in STATES.items():
        assert many.names(Status=state) == [name]
    assert many.names(Status="Updated") == []
    assert sorted(many.names(NameContains="l")) == ["alpha", "charlie", "delta"]
    assert many.names(NameContains="L") == []
    newest = many.listed()[0]
    assert many.names(ClusterArn=newest["ClusterArn"]) == ["charlie"]
    assert many.names(ClusterArn=newest["ClusterArn"].replace("1111", "2222", 1)) == []
    moment = next(one["CreationTime"] for one in many.listed() if one["Name"] == "echo")
    assert many.names(CreatedAfter=moment) == ["charlie", "bravo"]
    assert many.names(CreatedBefore=moment) == ["alpha", "delta"]
    assert many.names(CreatedBefore=moment, NameContains="a", Status="Created") == ["delta"]


def test_pages(many: Governed) -> None:
    """HP-W7: pages of every size, sort and order give each once; a token is of its question alone."""
    sorts = ["Name", "CreationTime", "Status"] + (["ClusterArn"] if many.shape == "ComputeQuota" else [])
    for sort, order, size in itertools.product(sorts, ("Ascending", "Descending"), (1, 2, 5)):
        question = {"SortBy": sort, "SortOrder": order}
        seen, token = [], None
        while True:
            page = many("list", **question, MaxResults=size, **({"NextToken": token} if token else {}))
            seen += [one["Name"] for one in page[f"{many.shape}Summaries"]]
            token = page.get("NextToken")
            if token is None:
                break
        assert seen == many.names(**question)
    token = many("list", MaxResults=1)["NextToken"]
    for question in ({"NextToken": token, "SortBy": "Name"}, {"NextToken": "x"}, {"NextToken": token[:-2] + "AA"}):
        assert refusal(many, verb="list", **question)[0] == INVALID


def test_summaries_of_quotas(service: Running) -> None:
    """What a summary shows is what Describe shows."""
    world: TestWorld = service.world(profile="fast")
    quotas = Governed(world, "ComputeQuota", cluster(world))
    one = quotas.create(ActivationState="Disabled")
    (summary,) = quotas.listed()
    shown = quotas.describe(one)
    assert set(summary) >= {"ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "ComputeQuotaVersion"}
    assert {key: shown[key] for key in summary} == summary
