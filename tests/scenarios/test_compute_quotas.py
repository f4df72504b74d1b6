"""Compute quotas split a cluster's GPUs between teams (FS-17), as boto3 makes them and jobs feel them."""

import pytest
from botocore.exceptions import ClientError
from google.api_core import exceptions

from tests.fleets import gpu_group, gpus, queue, state, submit
from tests.kit import TestWorld, eks


@pytest.fixture
def governed(world: TestWorld) -> TestWorld:
    """Two nodes of eight GPUs: team `blue` has eight of them, team `red` eight; both lend, and blue may borrow."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    quota(world, "blue", 1, {"Strategy": "LendAndBorrow", "BorrowLimit": 100})
    quota(world, "red", 1, {"Strategy": "Lend"})
    world.advance(minutes=5)
    return world


def quota(world: TestWorld, team: str, nodes: int, sharing: dict[str, object]) -> None:
    world.sagemaker.create_compute_quota(
        Name=f"{team}-quota",
        ClusterArn=world.describe()["ClusterArn"],
        ComputeQuotaConfig={
            "ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": nodes}],
            "ResourceSharingConfig": sharing,
        },
        ComputeQuotaTarget={"TeamName": team, "FairShareWeight": 10},
    )


def test_a_team_borrows_what_another_leaves_and_gives_it_back(governed: TestWorld) -> None:
    """FS-17: within its quota a team evicts who borrows there, at once; above it nobody is protected."""
    first = submit(governed, gpus(1, 8, RUN_SECONDS="6000"), name="first", budget="blue")
    governed.advance(seconds=1)
    second = submit(governed, gpus(1, 8, RUN_SECONDS="6000"), name="second", budget="blue")
    third = submit(governed, gpus(1, 8, RUN_SECONDS="6000"), name="third", budget="blue")
    governed.advance(seconds=20)
    assert [state(governed, job) for job in (first, second, third)] == ["RUNNING", "RUNNING", "QUEUED"]
    mine = submit(governed, gpus(1, 8, RUN_SECONDS="600"), name="mine", budget="red")
    governed.advance(seconds=90)
    assert [state(governed, job) for job in (first, second, mine)] == ["RUNNING", "QUEUED", "RUNNING"]
    governed.advance(minutes=15)
    assert state(governed, mine) == "SUCCEEDED"
    assert sorted(state(governed, job) for job in (first, second, third)) == ["QUEUED", "RUNNING", "RUNNING"]


def test_who_may_not_borrow_waits_and_is_told(governed: TestWorld) -> None:
    """FS-17: red lends, and never uses more than its quota."""
    submit(governed, gpus(1, 8, RUN_SECONDS="6000"), name="one", budget="red")
    submit(governed, gpus(1, 8), name="two", budget="red")
    [(name, reason)] = queue(governed)
    assert name == "two"
    assert "borrow" in reason


def test_a_budget_is_a_team_there_and_the_two_do_not_mix(governed: TestWorld) -> None:
    """FS-17: a fleet has quotas or the world's tree."""
    governed.control("POST", "budgets", json={"name": "vision", "weight": 1})
    with pytest.raises(exceptions.BadRequest, match="vision"):
        submit(governed, gpus(1, 8), budget="vision")
    assert state(governed, submit(governed, gpus(1, 8), budget="blue")) == "PENDING"
    governed.sagemaker.create_cluster(**eks(gpu_group(1), name="free"))
    governed.advance(minutes=10)
    submit(governed, gpus(1, 8), cluster="free", budget="vision")
    with pytest.raises(ClientError, match="tree of budgets"):
        governed.sagemaker.create_compute_quota(
            Name="late",
            ClusterArn=governed.describe("free")["ClusterArn"],
            ComputeQuotaConfig={"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": 1}]},
            ComputeQuotaTarget={"TeamName": "late"},
        )
