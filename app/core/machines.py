"""Which machines, accelerators and strategies go together on Vertex AI, and which quotas they use (VX-22).

The data comes in as arguments; the catalogue has it, `app/usecases/machines.py` hands it over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.core.errors import Invalid

STANDARD, SPOT, FLEX_START = "STANDARD", "SPOT", "FLEX_START"
METRIC = "aiplatform.googleapis.com/custom_model_training_"
PREEMPTIBLE = "preemptible_"
"""FLEX_START uses the preemptible quotas too, though its machines are not taken away."""
UNSPECIFIED = "ACCELERATOR_TYPE_UNSPECIFIED"
TPU_OF_ONE_HOST = 8
"""A Cloud TPU with more chips is a pod."""

_SMALL_GB = 16
_PART_OF_SMALL = 0.4
_PART_ABOVE = 0.02


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator: `gpu` is the model that HyperPod's nodes can have too, `quota` the end of its quota's name."""

    name: str
    gpu: str | None
    quota: str
    flex_start: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine type. `attachable` accelerators come in one of the given numbers; built-in ones are all there."""

    name: str
    vcpus: int
    memory_gb: float
    cpu_quota: str | None
    built_in: Accelerator | None
    built_in_count: int
    attachable: Mapping[str, tuple[Accelerator, tuple[int, ...]]]
    on_demand: bool
    reservation: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A region: `accelerators` are those that training offers there, None if that is not known."""

    name: str
    training: bool
    accelerators: frozenset[str] | None


def check_machine(
    machine: Machine, accelerator: str | None, count: int, strategy: str, place: Place, *, reserved: bool = False
) -> None:
    """Refuse (Invalid) what the service would not run; `reserved`: the machine spec names a reservation.

    Of a machine with built-in accelerators the accelerator may be left out (chosen): then it is what the machine has.
    """
    if not place.training:
        raise Invalid(f"Custom training is not available in {place.name}. Use another location.")
    found, number = _fitted(machine, accelerator, count)
    if found is not None and place.accelerators is not None and found.name not in place.accelerators:
        raise Invalid(
            f"Machine type {machine.name} with {found.name} is not supported in {place.name}. "
            f"Accelerators there: {_listed(sorted(place.accelerators))}."
        )
    if machine.reservation and not reserved:
        raise Invalid(
            f"Machine type {machine.name} is not supported without a reservation. "
            "Set machineSpec.reservationAffinity to a specific reservation."
        )
    _check_strategy(machine, found, number, strategy, reserved=reserved)


def _check_strategy(machine: Machine, found: Accelerator | None, number: int, strategy: str, *, reserved: bool) -> None:
    if strategy == FLEX_START and (found is None or not found.flex_start):
        raise Invalid(
            f"Machine type {machine.name} with {found.name if found else 'no accelerator'} is not supported by "
            "FLEX_START, which takes NVIDIA L4, A100, H100, H200 and B200. Use the strategy STANDARD or SPOT."
        )
    if strategy == STANDARD and not machine.on_demand and not reserved:
        raise Invalid(
            f"Machine type {machine.name} is not supported on demand. Set scheduling.strategy to SPOT or FLEX_START."
        )
    if strategy == SPOT and found is not None and found.quota.startswith("tpu") and number > TPU_OF_ONE_HOST:
        raise Invalid(
            f"SPOT does not take TPU pods, and {number} of {found.name} are one. Use at most {TPU_OF_ONE_HOST}."
        )


def metrics(machine: Machine, accelerator: str | None, count: int, strategy: str) -> dict[str, int]:
    """How much of which quota one replica uses; Invalid if the accelerator does not fit the machine."""
    found, number = _fitted(machine, accelerator, count)
    begin = METRIC + (PREEMPTIBLE if strategy in (SPOT, FLEX_START) else "")
    used = {}
    if machine.cpu_quota is not None:
        used[begin + machine.cpu_quota] = machine.vcpus
    if found is not None:
        used[begin + found.quota] = number
    return used


def gpus(machine: Machine, accelerator: str | None, count: int) -> tuple[str, int] | None:
    """The model and number of GPUs of one replica, as HyperPod's nodes have them; None without any."""
    found, number = _fitted(machine, accelerator, count)
    return (found.gpu, number) if found is not None and found.gpu is not None else None


def usable_memory_gb(machine: Machine) -> float:
    """What is left to the program: the system takes 40 % of the first 16 GB and 2 % of the rest (VX-11; chosen).

    Of the smallest types it takes up to 40 %, as the service's page says, of an a3-highgpu-8g some 2 %.
    """
    small = min(machine.memory_gb, _SMALL_GB)
    return machine.memory_gb - small * _PART_OF_SMALL - (machine.memory_gb - small) * _PART_ABOVE


def _fitted(machine: Machine, accelerator: str | None, count: int) -> tuple[Accelerator | None, int]:
    """The accelerator that a replica has, and how many; Invalid if it does not go with the machine."""
    wanted = None if accelerator in (None, "", UNSPECIFIED) else accelerator
    if wanted is None and count:
        raise Invalid("machineSpec.acceleratorCount needs machineSpec.acceleratorType. Set both or none.")
    if machine.built_in is not None:
        return _built_in(machine, machine.built_in, wanted, count)
    if wanted is None and machine.cpu_quota is None:
        raise Invalid(
            f"Machine type {machine.name} needs machineSpec.acceleratorType. Use {_listed(sorted(machine.attachable))}."
        )
    if wanted is None:
        return None, 0
    if wanted not in machine.attachable:
        raise _refused(machine, wanted, sorted(machine.attachable))
    found, counts = machine.attachable[wanted]
    if count not in counts:
        raise Invalid(
            f'{count} accelerators of type "{wanted}" are not supported for machine type "{machine.name}". '
            f"Use {_listed(map(str, counts))}."
        )
    return found, count


def _built_in(machine: Machine, built_in: Accelerator, wanted: str | None, count: int) -> tuple[Accelerator, int]:
    if wanted is not None and wanted != built_in.name:
        raise _refused(machine, wanted, [built_in.name])
    if wanted is not None and count != machine.built_in_count:
        raise Invalid(
            f'{count} accelerators of type "{wanted}" are not supported for machine type "{machine.name}". '
            f"It has {machine.built_in_count}."
        )
    return built_in, machine.built_in_count


def _refused(machine: Machine, wanted: str, allowed: list[str]) -> Invalid:
    return Invalid(
        f'Accelerator "{wanted}" is not supported for machine type "{machine.name}". '
        + (f"It takes {_listed(allowed)}." if allowed else "It takes no accelerators: use another machine type.")
    )


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
