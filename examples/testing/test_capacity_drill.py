"""A drill: four GPU nodes are wanted, three are needed, two exist."""

from datetime import timedelta
from typing import Any

import pytest
from platform_module import WORKERS, Platform, ensure

from windtunnel_testkit import StillWaiting

P5 = "ml.p5.48xlarge"


@pytest.fixture
def workers(world: Any, sagemaker: Any) -> Any:
    """The workers' group as it stands, of a cluster that was asked for while two nodes exist."""
    world.capacity(P5, 2)
    ensure(sagemaker, Platform("drill", workers=4, minimum=3))

    def group() -> dict[str, Any]:
        groups = sagemaker.describe_cluster(ClusterName="drill")["InstanceGroups"]
        return next(each for each in groups if each["InstanceGroupName"] == WORKERS)

    world.advance_until(lambda: group()["CurrentCount"] == 2, limit="10m")
    return group


def test_after_three_hours_it_is_rolled_back(workers: Any, world: Any) -> None:
    world.advance(hours=2, minutes=59)
    assert (workers()["CurrentCount"], workers()["TargetCount"]) == (2, 4)
    world.advance(minutes=10)
    assert (workers()["CurrentCount"], workers()["TargetCount"]) == (0, 0)
    assert any("roll" in moment.text.lower() for moment in world.timeline())


def test_capacity_in_time_saves_it(workers: Any, world: Any) -> None:
    world.capacity(P5, 3, at=world.now() + timedelta(hours=2))
    world.advance_until(lambda: workers()["Status"] == "InService", limit="3h", step="10m")
    world.advance("3h")
    assert (workers()["CurrentCount"], workers()["TargetCount"]) == (3, 4)


def test_who_waits_in_vain_is_told_why(workers: Any, world: Any) -> None:
    with pytest.raises(StillWaiting, match="workers 2 of 4"):
        world.advance_until(lambda: workers()["CurrentCount"] == 4, limit="1h")
