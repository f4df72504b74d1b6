"""The catalogue's rows as values. Each says how well it is known, where it comes from and of what day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

Evidence = Literal[
    "published",  # the vendor prints it
    "published-other-region",  # the vendor prints it, but for another region than the one asked for
    "recorded",  # one account saw it; other accounts may see something else
    "general-knowledge",  # believed right, not confirmed in print
    "placeholder",  # made by a rule of ours; nobody's figure
    "user",  # set by the user's price file
]


@dataclass(frozen=True, slots=True)
class Gpu:
    """An accelerator, GPU or Trainium: `memory_mib` as a device reports, `memory_gb` as its name says."""

    name: str
    vendor: str
    product: str
    memory_gb: int
    memory_mib: int
    aliases: tuple[str, ...]
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A type's hardware: `accelerators` of the model `gpu` (None for none), at most `efa` EFA interfaces."""

    name: str
    arch: str
    vcpu: int
    memory_mib: int
    gpu: Gpu | None
    accelerators: int
    efa: int
    evidence: Evidence
    source: str
    date: date

    @property
    def accelerator_memory_mib(self) -> int:
        """Memory of all accelerators together, MiB."""
        return self.accelerators * self.gpu.memory_mib if self.gpu else 0


@dataclass(frozen=True, slots=True)
class Price:
    """On-demand price of one instance, integer micro-dollars (USD/1,000,000) per hour."""

    micro_usd_per_hour: int
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone: `us-west-2a` and `usw2-az1`."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class Region:
    """A region. `hyperpod`: AWS lists it for HyperPod; `usage_prefix` begins the usage types of its bills."""

    name: str
    hyperpod: bool
    usage_prefix: str
    zones: tuple[Zone, ...]
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class Quota:
    """An account quota of one region: `limit` is our default, None for unlimited; `recorded` a real one.

    `key` is our name, `name` and `code` those of Service Quotas (`code` None: unknown). `applied`: "maximum"
    bounds each thing, "total" the sum over all clusters.
    """

    key: str
    name: str
    code: str | None
    unit: str
    applied: Literal["maximum", "total"]
    limit: int | None
    recorded: int | None
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class UltraServer:
    """An UltraServer: so many instances of one type."""

    name: str
    instance_type: str
    instances: int
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class Fee:
    """Upfront fee of one instance in a training plan, integer micro-dollars for 24 hours."""

    micro_usd_per_day: int
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator of Vertex AI by its enum's name and number.

    `gpu` is its model, None for what HyperPod has not; `quota` ends the name of its quota.
    """

    name: str
    number: int
    gpu: Gpu | None
    quota: str
    flex_start: bool
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class MachineType:
    """A machine type of Vertex AI custom training, memory in GB as Compute Engine prints it.

    `accelerators` of the kind `accelerator` are built in; `attachable` may be added, each in one of the given numbers.
    `cpu_quota` ends the name of the quota that counts its vCPUs, None if the accelerators alone are counted.
    """

    name: str
    family: str
    vcpus: int
    memory_gb: float
    accelerator: str | None
    accelerators: int
    attachable: Mapping[str, tuple[int, ...]]
    cpu_quota: str | None
    on_demand: bool
    reservation: bool
    evidence: Evidence
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class VertexRegion:
    """A region of Vertex AI: `accelerators` are those for training, None where that is not known."""

    name: str
    place: str
    zones: tuple[str, ...]
    training: bool
    accelerators: frozenset[str] | None
    evidence: Evidence
    source: str
    date: date
