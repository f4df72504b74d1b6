"""What a job demands of a managed pool (FS-20)."""

import pytest

from app.core.errors import Invalid
from app.core.machines import METRIC
from app.core.managed_pools import Demand, demanded, fleet_of, metric_of, size

H100, L4, CPUS, TPU = (METRIC + name for name in ("nvidia_h100_gpus", "nvidia_l4_gpus", "cpus", "tpu_v5e"))


def test_replicas_of_one_size_are_a_gang_of_that_size() -> None:
    """FS-20: replicas without GPUs are no part of it."""
    uses = [({H100: 8}, 1), ({H100: 8}, 3), ({CPUS: 4}, 2)]
    assert demanded(uses, "STANDARD", {H100: 64}) == Demand(H100, 8, 4)


def test_of_replicas_of_several_sizes_each_gpu_counts() -> None:
    """FS-20: together they take exactly what the quota counts."""
    assert demanded([({H100: 8}, 2), ({H100: 1}, 3)], "STANDARD", {H100: 64}) == Demand(H100, 1, 19)


def test_without_gpus_nothing_is_shared() -> None:
    """FS-20."""
    assert demanded([({CPUS: 4}, 1), ({TPU: 4}, 1)], "SPOT", {}) is None


@pytest.mark.parametrize(
    ("uses", "limits", "told"),
    [
        ({H100: 8}, {}, "not limited"),
        ({H100: 8, L4: 1}, {H100: 8, L4: 8}, "one model of GPU"),
        ({H100: 8, CPUS: 96}, {H100: 8, CPUS: 96}, "cannot wait for"),
    ],
)
def test_what_no_pool_can_give_is_refused(uses: dict[str, int], limits: dict[str, int], told: str) -> None:
    """FS-20."""
    with pytest.raises(Invalid, match=told):
        demanded([(uses, 1)], "STANDARD", limits)


def test_the_pool_is_what_unmanaged_jobs_leave() -> None:
    """FS-20: nothing, where a lowered quota is smaller than what they have."""
    assert (size(H100, {H100: 16}, {H100: 6}), size(H100, {H100: 4}, {H100: 6})) == (10, 0)
    assert metric_of(fleet_of(H100)) == H100
