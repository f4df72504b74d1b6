"""BatchAddClusterNodes' ClientToken: one effect, whoever asks how often."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.kit import TestWorld, eks, group

ROUNDS = 50
AT_ONCE = 64


@pytest.fixture
def settled(world: TestWorld) -> TestWorld:
    world.sagemaker.create_cluster(**eks(group("a", 1), group("b", 1)))
    world.advance(60)
    return world


def add(world: TestWorld, token: str | None, count: int = 1, name: str = "a") -> dict[str, Any]:
    more = {} if token is None else {"ClientToken": token}
    items = [{"InstanceGroupName": name, "IncrementTargetCountBy": count}]
    answer = world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=items, **more)
    return {key: answer[key] for key in ("Successful", "Failed")}


def test_sixty_four_at_once(settled: TestWorld) -> None:
    """RL-8, HP-31: 64 equal requests at once, fifty times: one effect and 64 equal answers each time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for round_ in range(1, ROUNDS + 1):
            answers = list(pool.map(lambda token: add(settled, token), [f"round-{round_}"] * AT_ONCE))
            assert all(answer == answers[0] for answer in answers)
            assert len(answers[0]["Successful"]) == 1
            assert settled.group("a")["TargetCount"] == 1 + round_
    settled.advance(60)
    assert settled.group("a")["CurrentCount"] == 1 + ROUNDS


def test_other_parameters(settled: TestWorld) -> None:
    """RL-8, HP-31: the same token with one changed field is refused, never a silent success."""
    add(settled, "once")
    for changed in ({"count": 2}, {"name": "b"}):
        with pytest.raises(ClientError) as refused:
            add(settled, "once", **changed)
        error = refused.value.response["Error"]
        assert error["Code"] == "ValidationException"
        assert "Use a new token" in error["Message"]
    assert settled.group("a")["TargetCount"] == 2
    assert settled.group("b")["TargetCount"] == 1


def test_the_latest_status_for_eight_hours(settled: TestWorld) -> None:
    """HP-31: the same ids with their present status, NotFound for a deleted one; after 8 hours the token is new."""
    first = add(settled, "day", 2)
    ids = [one["NodeLogicalId"] for one in first["Successful"]]
    assert [one["Status"] for one in first["Successful"]] == ["Pending", "Pending"]
    settled.advance(60)
    settled.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeLogicalIds=ids[:1])
    settled.advance(60)
    again = add(settled, "day", 2)
    assert [(one["NodeLogicalId"], one["Status"]) for one in again["Successful"]] == [
        (ids[0], "NotFound"),
        (ids[1], "Running"),
    ]
    assert settled.group("a")["TargetCount"] == 2
    settled.advance(hours=8)
    later = add(settled, "day", 2)
    assert not {one["NodeLogicalId"] for one in later["Successful"]} & set(ids)
    assert settled.group("a")["TargetCount"] == 4


def test_a_token_belongs_to_its_account(settled: TestWorld) -> None:
    """HP-W6, HP-31: the same word of another account is another token."""
    other = settled.client(account="444455556666")
    other.create_cluster(**eks(group("a", 1)))
    settled.advance(60)
    items = [{"InstanceGroupName": "a", "IncrementTargetCountBy": 1}]
    theirs = other.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=items, ClientToken="shared")
    mine = add(settled, "shared")
    assert mine["Successful"] != theirs["Successful"]
    assert other.describe_cluster(ClusterName="demo")["InstanceGroups"][0]["TargetCount"] == 2


def test_a_refused_request_spends_no_token(settled: TestWorld) -> None:
    """HP-31: what had no effect may be sent again."""
    with pytest.raises(ClientError):
        add(settled, "big", 51)
    assert len(add(settled, "big", 1)["Successful"]) == 1
