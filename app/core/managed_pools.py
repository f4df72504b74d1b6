"""What a job with a budget demands of a managed pool, the GPUs that a project's quota leaves to budgets (FS-20)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.core.errors import Invalid
from app.core.job import MANAGED, STANDARD
from app.core.job_labels import BUDGET
from app.core.machines import METRIC

ROOM = "quota"
"""A managed pool's only host: its machines come from anywhere in the region, so nothing is fragmented."""
_OF_GPUS = "_gpus"
_SHORT = METRIC.rpartition("/")[2]

Uses = Mapping[str, int]
"""How much of each quota metric one replica uses."""


class Demand(NamedTuple):
    """A gang of replicas with so many GPUs each, of those of a quota metric."""

    metric: str
    gpus: int
    replicas: int


def fleet_of(metric: str) -> str:
    """The name of the managed pool of a quota metric: `pool:custom_model_training_nvidia_h100_gpus`."""
    return MANAGED + metric.removeprefix(METRIC.removesuffix(_SHORT))


def metric_of(fleet: str) -> str:
    """The quota metric of a managed pool."""
    return METRIC.removesuffix(_SHORT) + fleet.removeprefix(MANAGED)


def demanded(replicas: Iterable[tuple[Uses, int]], strategy: str, limits: Uses) -> Demand | None:
    """What so many replicas of each use demand together; None without GPUs, whose work no budget divides (chosen).

    Invalid for what no managed pool can give: the pool is a quota, and that of one metric.
    """
    some = list(replicas)
    found = sorted({metric for uses, _ in some for metric in uses if metric.endswith(_OF_GPUS)})
    if not found:
        return None
    if strategy != STANDARD:
        raise Invalid(
            f"Label {BUDGET} has the scheduler divide the project's quota, and scheduling strategy {strategy} buys "
            "machines by rules of its own. Leave one of the two out."
        )
    if len(found) > 1:
        raise Invalid(
            f"Label {BUDGET} is charged for GPUs of one quota, and the job's machines use {' and '.join(found)}. Use "
            "one model of GPU, or leave the label out."
        )
    [metric] = found
    if metric not in limits:
        raise Invalid(
            f"Label {BUDGET} asks for a share of the project's GPUs in this region, and their quota, {metric}, is not "
            f"limited: there is nothing to share. Set it (`windtunnel quota set`), or leave the label out."
        )
    others = sorted({other for uses, _ in some for other in uses if other != metric and other in limits})
    if others:
        raise Invalid(
            f"Label {BUDGET} has the scheduler divide the quota {metric}, and it cannot wait for {' and '.join(others)}"
            " besides. Clear that quota, use machines that need none of it, or leave the label out."
        )
    return Demand(metric, *_gang([(uses[metric], count) for uses, count in some if uses.get(metric)]))


def _gang(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    """GPUs of each replica, and how many replicas; of replicas of several sizes each GPU counts as one, which in a
    pool without nodes comes to the same."""
    if len({gpus for gpus, _ in sizes}) == 1:
        return sizes[0][0], sum(count for _, count in sizes)
    return 1, sum(gpus * count for gpus, count in sizes)


def size(metric: str, limits: Uses, used: Uses) -> int:
    """GPUs of the pool: those of the quota that unmanaged jobs leave."""
    return max(0, limits.get(metric, 0) - used.get(metric, 0))
