"""The platform's module against a world of its own: what would take hours and GPUs takes a second."""

from typing import Any

import pytest
from platform_module import Platform, PlatformFailed, ensure, heal, is_ready, nodes


@pytest.fixture
def platform(world: Any, sagemaker: Any) -> Platform:
    """Four workers that are ready."""
    made = Platform("research", workers=4)
    ensure(sagemaker, made)
    world.advance_until(lambda: is_ready(sagemaker, "research"), limit="1h")
    return made


def test_what_is_there_is_not_made_again(platform: Platform, world: Any, sagemaker: Any) -> None:
    before = nodes(sagemaker, "research")
    ensure(sagemaker, platform)
    world.advance("1h")
    assert nodes(sagemaker, "research") == before
    assert len(sagemaker.list_clusters()["ClusterSummaries"]) == 1


@pytest.mark.parametrize("workers", [1, 6])
def test_it_scales(platform: Platform, world: Any, sagemaker: Any, workers: int) -> None:
    ensure(sagemaker, Platform("research", workers=workers))
    world.advance("10m")
    assert is_ready(sagemaker, "research")
    assert len(nodes(sagemaker, "research")) == workers


def test_a_script_that_fails_once_is_run_again(world: Any, sagemaker: Any) -> None:
    with world.fault("script-failed", group="workers", times=1) as fault:
        ensure(sagemaker, Platform("research", workers=2))
        world.advance_until(lambda: is_ready(sagemaker, "research"), limit="1h")
        assert fault.hits == 1


def test_a_controller_that_fails_is_told(world: Any, sagemaker: Any) -> None:
    world.fault("script-failed", group="controller")
    ensure(sagemaker, Platform("research", workers=2))
    with pytest.raises(PlatformFailed, match="lifecycle"):
        world.advance_until(lambda: is_ready(sagemaker, "research"), limit="1h")


def test_a_broken_node_is_replaced(platform: Platform, world: Any, sagemaker: Any) -> None:
    sick = min(nodes(sagemaker, "research"))
    with world.fault("node-hardware", node=sick, times=1):
        world.advance_until(lambda: "Failure" in nodes(sagemaker, "research").values(), limit="1h")
    assert heal(sagemaker, "research") == [sick]
    world.advance_until(lambda: sick not in nodes(sagemaker, "research"), limit="1h")
    world.advance_until(lambda: is_ready(sagemaker, "research"), limit="1h")
    assert set(nodes(sagemaker, "research").values()) == {"Running"}
    assert heal(sagemaker, "research") == []
