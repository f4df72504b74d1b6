"""HP-1: what a new Slurm cluster is when it does not say, by the setting `slurm_default_mode`."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.settings import Settings
from tests.kit import TestWorld, classic, controller, eks, group, serving, slurm, workers
from tests.wire.sagemaker.refused import INVALID, refusal, without


@pytest.fixture(scope="module")
def continuous(dsn: str) -> Iterator[TestWorld]:
    """A world of a service whose new Slurm clusters are continuous by default."""
    with serving(Settings(database_url=dsn, frozen=True, slurm_default_mode="continuous")) as running:
        yield running.world()


def silent(request: dict[str, Any]) -> dict[str, Any]:
    return without(request, "NodeProvisioningMode")


def test_a_slurm_cluster_is_continuous_by_default(continuous: TestWorld) -> None:
    """HP-1: with SlurmConfig in its groups; it behaves and is told as one that asked for it."""
    continuous.sagemaker.create_cluster(**silent(slurm(workers(2), name="silent")))
    continuous.advance(minutes=1)
    assert continuous.describe("silent")["NodeProvisioningMode"] == "Continuous"
    assert continuous.events("silent")


@pytest.mark.parametrize("groups", [[group("plain")], [group("one"), group("two", 2)]])
def test_without_slurm_config_it_is_refused(continuous: TestWorld, groups: list[dict[str, Any]]) -> None:
    """HP-1, HP-10: in the text that was seen in the field."""
    code, message = refusal(continuous.sagemaker.create_cluster, **classic(*groups, name="plain"))
    assert code == INVALID
    assert message.startswith(
        "Cluster plain has no InstanceGroup with SlurmConfig which is required for Continuous Node Provisioning Mode"
    )


def test_an_eks_cluster_is_not_touched_by_it(continuous: TestWorld) -> None:
    """HP-1: the setting is of Slurm alone."""
    continuous.sagemaker.create_cluster(**silent(eks(group("g"), name="eks")))
    assert "NodeProvisioningMode" not in continuous.describe("eks")


def test_as_shipped_a_slurm_cluster_is_classic(world: TestWorld) -> None:
    """HP-1: the default of the setting, whether or not the groups have SlurmConfig."""
    for name, groups in (("plain", [group("g")]), ("configured", [controller(), workers(1)])):
        world.sagemaker.create_cluster(**classic(*groups, name=name))
        assert "NodeProvisioningMode" not in world.describe(name)
