"""What part of a bill line each workload has had, by GPU-time; the rest was idle. The parts sum to the line (VX-24)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from app.core.metering import charge, overlap_ms
from app.core.times import WorldTime

Key = tuple[str, ...]
IDLE: Key = ()
"""The key of what nobody used: GPUs that nobody held, and nodes without any."""


@dataclass(frozen=True, slots=True)
class Use:
    """A workload holds `gpus` of a node; `ended_at` None: it still does."""

    key: Key
    gpus: int
    started_at: WorldTime
    ended_at: WorldTime | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A billed interval of a node with `gpus` GPUs in all, and who used them. Uses lie within the interval."""

    gpus: int
    micro_usd_per_hour: int
    started_at: WorldTime
    ended_at: WorldTime | None
    uses: Sequence[Use]


@dataclass(frozen=True, slots=True)
class Part:
    """`micro_usd` is what the line grew by it, in the order of the keys; what is idle comes last."""

    key: Key
    gpu_milliseconds: int
    micro_usd: int


def split(stretches: Sequence[Stretch], since: WorldTime | None, until: WorldTime) -> list[Part]:
    """The parts of the line that these intervals make within [since, until)."""
    gpu_ms: dict[Key, int] = {}
    weights: dict[Key, Fraction] = {}
    whole = present = 0
    for stretch in stretches:
        milliseconds = overlap_ms(stretch.started_at, stretch.ended_at, since, until)
        whole += milliseconds * stretch.micro_usd_per_hour
        present += milliseconds * stretch.gpus
        for use in stretch.uses:
            used = use.gpus * overlap_ms(use.started_at, use.ended_at, since, until)
            gpu_ms[use.key] = gpu_ms.get(use.key, 0) + used
            share = Fraction(used * stretch.micro_usd_per_hour, max(stretch.gpus, 1))
            weights[use.key] = weights.get(use.key, Fraction(0)) + share
    parts, weighted, charged = [], Fraction(0), 0
    for key in sorted(weights):
        weighted += weights[key]
        parts.append(Part(key, gpu_ms[key], charge(weighted) - charged))
        charged = charge(weighted)
    return [*parts, Part(IDLE, present - sum(gpu_ms.values()), charge(whole) - charged)]
