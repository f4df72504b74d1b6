"""Records of requests that a cluster works on for a while: scalings and deep health checks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.core import ids
from app.core.cluster import Cluster, Group
from app.core.times import WorldTime

SCALING, HEALTH_CHECK = "Scaling", "DeepHealthCheck"
IN_PROGRESS, SUPERSEDED, DONE = "InProgress", "Superseded", "Done"
REMEMBERED = timedelta(days=14)
"""For so long AWS lists an operation."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One request's record. `details` are per group: the counts of a scaling with their status, or the checks asked."""

    number: int
    operation_id: str
    kind: str
    created_at: WorldTime
    done_at: WorldTime | None
    superseded_at: WorldTime | None
    details: Sequence[Mapping[str, Any]]

    @property
    def open(self) -> bool:
        return self.done_at is None and self.superseded_at is None


def status(operation: Operation) -> str:
    """The value of `ClusterOperationStatus`."""
    if operation.open:
        return IN_PROGRESS
    return DONE if operation.done_at is not None else SUPERSEDED


def rescaled(before: Mapping[str, Group], after: Mapping[str, Group]) -> list[dict[str, Any]]:
    """The details of a scaling: each group whose wanted counts are others than they were, or that is to go."""
    return [_scaling(before.get(name), group) for name, group in after.items() if _differs(before.get(name), group)]


def _differs(old: Group | None, new: Group) -> bool:
    if old is None:
        return True
    if new.delete_requested_at is not None:
        return old.delete_requested_at is None
    return (old.target, old.minimum) != (new.target, new.minimum)


def _scaling(old: Group | None, new: Group) -> dict[str, Any]:
    leaving = new.delete_requested_at is not None
    return {
        "group": new.name,
        "status": IN_PROGRESS,
        "original": {"current": old.current, "target": old.target, "min": old.minimum} if old else _NOTHING,
        "desired": {"target": 0, "min": 0} if leaving else {"target": new.target, "min": new.minimum},
    }


_NOTHING = {"current": 0, "target": 0, "min": 0}


def begin(
    cluster: Cluster, seed: int, number: int, kind: str, details: Sequence[Mapping[str, Any]], at: WorldTime
) -> Operation:
    """The record of a request that begins."""
    name = ids.operation_id(seed, cluster.cluster_id, number)
    return Operation(number, name, kind, at, None, None, details)


def settle(operations: Iterable[Operation], groups: Iterable[str], outcome: str, at: WorldTime) -> list[Operation]:
    """The open scalings that change when the work on these groups ends as `outcome`. A scaling of several groups ends
    with the last of them: superseded if any was, since it never got
    there whole."""
    ended = frozenset(groups)
    changed = [_settled(one, ended, outcome, at) for one in operations if one.open and one.kind == SCALING]
    return [one for one in changed if one is not None]


def _settled(operation: Operation, ended: frozenset[str], outcome: str, at: WorldTime) -> Operation | None:
    hit = [detail["group"] in ended and detail["status"] == IN_PROGRESS for detail in operation.details]
    if not any(hit):
        return None
    details = [{**d, "status": outcome} if h else d for d, h in zip(operation.details, hit, strict=True)]
    statuses = {detail["status"] for detail in details}
    if IN_PROGRESS in statuses:
        return replace(operation, details=details)
    if SUPERSEDED in statuses:
        return replace(operation, details=details, superseded_at=at)
    return replace(operation, details=details, done_at=at)


def finished(before: Mapping[str, Group], after: Mapping[str, Group]) -> list[str]:
    """The groups at which a pass has brought about what was wanted, or which it has removed."""
    removed = [name for name in before if name not in after]
    return removed + [name for name, group in after.items() if group.settled and _was_busy(before.get(name), group)]


def _was_busy(old: Group | None, new: Group) -> bool:
    return old is None or not old.settled or old.operation != new.operation
