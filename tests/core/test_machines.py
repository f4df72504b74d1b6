"""VX-22: which machines, accelerators and strategies go together, and the quotas that they use."""

from dataclasses import replace

import pytest

from app.core.errors import Invalid
from app.core.machines import Accelerator, Machine, Place, check_machine, gpus, metrics, usable_memory_gb

T4 = Accelerator("NVIDIA_TESLA_T4", "t4", "nvidia_t4_gpus", flex_start=False)
H100 = Accelerator("NVIDIA_H100_80GB", "h100-80gb", "nvidia_h100_gpus", flex_start=True)
TPU = Accelerator("TPU_V3", None, "tpu_v3", flex_start=False)
N1 = Machine("n1-standard-4", 4, 15, "cpus", None, 0, {T4.name: (T4, (1, 2, 4))}, on_demand=True, reservation=False)
A3 = Machine("a3-highgpu-8g", 208, 1872, None, H100, 8, {}, on_demand=True, reservation=False)
SMALL_A3 = Machine("a3-highgpu-1g", 26, 234, None, H100, 1, {}, on_demand=False, reservation=False)
CLOUD_TPU = Machine("cloud-tpu", 96, 335, None, None, 0, {TPU.name: (TPU, (8, 32))}, on_demand=True, reservation=False)
IOWA = Place("us-central1", training=True, accelerators=frozenset({T4.name, H100.name, TPU.name}))
DELHI = Place("asia-south2", training=True, accelerators=frozenset({H100.name}))
METRIC = "aiplatform.googleapis.com/custom_model_training_"


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "strategy"),
    [
        (N1, None, 0, "STANDARD"),
        (N1, "ACCELERATOR_TYPE_UNSPECIFIED", 0, "SPOT"),
        (N1, T4.name, 4, "STANDARD"),
        (A3, H100.name, 8, "FLEX_START"),
        (A3, None, 0, "STANDARD"),
        (SMALL_A3, H100.name, 1, "SPOT"),
        (SMALL_A3, H100.name, 1, "FLEX_START"),
        (CLOUD_TPU, TPU.name, 8, "SPOT"),
        (CLOUD_TPU, TPU.name, 32, "STANDARD"),
    ],
)
def test_what_goes_together_is_taken(machine: Machine, accelerator: str | None, count: int, strategy: str) -> None:
    """VX-22: also built-in accelerators that the machine spec leaves out."""
    check_machine(machine, accelerator, count, strategy, IOWA)


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "strategy", "why"),
    [
        (N1, T4.name, 3, "STANDARD", r"^3 accelerators of type .* machine type \"n1-standard-4\"\. Use 1, 2, 4\.$"),
        (N1, T4.name, 0, "STANDARD", "^0 accelerators"),
        (N1, T4.name, -1, "STANDARD", "^-1 accelerators"),
        (N1, None, 1, "STANDARD", "acceleratorCount needs machineSpec.acceleratorType"),
        (N1, H100.name, 1, "STANDARD", r'^Accelerator "NVIDIA_H100_80GB" is not supported for machine type "n1'),
        (N1, "NVIDIA_X", 1, "STANDARD", "It takes NVIDIA_TESLA_T4"),
        (replace(N1, attachable={}), T4.name, 1, "STANDARD", "It takes no accelerators"),
        (A3, H100.name, 4, "STANDARD", "It has 8"),
        (A3, T4.name, 8, "STANDARD", "It takes NVIDIA_H100_80GB"),
        (SMALL_A3, H100.name, 1, "STANDARD", "not supported on demand. Set scheduling.strategy to SPOT or FLEX_START"),
        (N1, None, 0, "FLEX_START", "with no accelerator is not supported by FLEX_START, which takes NVIDIA L4"),
        (N1, T4.name, 1, "FLEX_START", "with NVIDIA_TESLA_T4 is not supported by FLEX_START"),
        (CLOUD_TPU, TPU.name, 32, "SPOT", "does not take TPU pods"),
        (CLOUD_TPU, None, 0, "STANDARD", r"^Machine type cloud-tpu needs machineSpec.acceleratorType. Use TPU_V3\.$"),
        (replace(A3, reservation=True), None, 0, "STANDARD", "not supported without a reservation"),
    ],
)  # fmt: skip
def test_what_does_not_is_refused_with_what_to_do(
    machine: Machine, accelerator: str | None, count: int, strategy: str, why: str
) -> None:
    """VX-22: each wrong combination has its reason and a way out."""
    with pytest.raises(Invalid, match=why):
        check_machine(machine, accelerator, count, strategy, IOWA)


def test_a_region_has_what_it_has() -> None:
    """VX-22: an accelerator that is not there, a region without training, and one that nothing is known of."""
    with pytest.raises(Invalid, match=r"not supported in asia-south2\. Accelerators there: NVIDIA_H100_80GB\."):
        check_machine(N1, T4.name, 1, "STANDARD", DELHI)
    check_machine(N1, None, 0, "STANDARD", DELHI)
    with pytest.raises(Invalid, match="not available in asia-south2"):
        check_machine(N1, None, 0, "STANDARD", replace(DELHI, training=False))
    check_machine(N1, T4.name, 1, "STANDARD", replace(DELHI, accelerators=None))


def test_a_reservation_opens_what_is_not_sold_otherwise() -> None:
    """VX-22: types that are in reservations only, or not on demand."""
    check_machine(replace(A3, reservation=True), H100.name, 8, "STANDARD", IOWA, reserved=True)
    check_machine(SMALL_A3, H100.name, 1, "STANDARD", IOWA, reserved=True)


def test_metrics_of_one_replica() -> None:
    """VX-22: N1 counts vCPUs and GPUs, other types the GPUs alone; SPOT and FLEX_START use the preemptible quotas."""
    assert metrics(N1, None, 0, "STANDARD") == {METRIC + "cpus": 4}
    assert metrics(N1, T4.name, 2, "STANDARD") == {METRIC + "cpus": 4, METRIC + "nvidia_t4_gpus": 2}
    assert metrics(N1, T4.name, 2, "SPOT") == {
        METRIC + "preemptible_cpus": 4,
        METRIC + "preemptible_nvidia_t4_gpus": 2,
    }
    assert metrics(A3, None, 0, "STANDARD") == {METRIC + "nvidia_h100_gpus": 8}
    assert metrics(A3, H100.name, 8, "FLEX_START") == {METRIC + "preemptible_nvidia_h100_gpus": 8}
    assert metrics(CLOUD_TPU, TPU.name, 32, "STANDARD") == {METRIC + "tpu_v3": 32}
    with pytest.raises(Invalid):
        metrics(N1, H100.name, 1, "STANDARD")


def test_gpus_of_one_replica() -> None:
    """VX-24: in the words of HyperPod's nodes; TPUs are none."""
    assert gpus(A3, None, 0) == ("h100-80gb", 8)
    assert gpus(N1, T4.name, 2) == ("t4", 2)
    assert gpus(N1, None, 0) is None
    assert gpus(CLOUD_TPU, TPU.name, 8) is None


def test_the_system_takes_its_part_of_the_memory() -> None:
    """VX-11: up to 40 % on the smallest types, little on large ones."""
    assert usable_memory_gb(N1) == pytest.approx(9)
    assert usable_memory_gb(replace(N1, memory_gb=16)) == pytest.approx(9.6)
    assert usable_memory_gb(A3) == pytest.approx(1872 - 6.4 - 37.12)
    sizes = [usable_memory_gb(replace(N1, memory_gb=gb)) for gb in (4, 8, 15, 16, 17, 64, 1872)]
    assert sizes == sorted(sizes)
