"""Cluster scheduler configs and compute quotas: what was asked, and the status computed from facts.

Nothing has to run when a status changes: each operation says when it settles, and how (docs/fidelity.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from app.core import ids
from app.core.errors import Conflict
from app.core.faults import Rule
from app.core.times import WorldTime, after

KEPT = timedelta(hours=1)
"""For so long what is Deleted can still be seen (chosen): virtual time in every profile."""


class Kind(StrEnum):
    """The two kinds; the value is the resource type in the ARN."""

    CONFIG = "cluster-scheduler-config"
    QUOTA = "compute-quota"

    @property
    def words(self) -> str:
        return "cluster scheduler config" if self is Kind.CONFIG else "compute quota"

    @property
    def shape(self) -> str:
        """The word of the vendor's operations, as in `CreateComputeQuota`."""
        return "ClusterSchedulerConfig" if self is Kind.CONFIG else "ComputeQuota"


class Status(StrEnum):
    """SchedulerResourceStatus, as the vendor spells it."""

    CREATING = "Creating"
    CREATE_FAILED = "CreateFailed"
    CREATE_ROLLBACK_FAILED = "CreateRollbackFailed"
    CREATED = "Created"
    UPDATING = "Updating"
    UPDATE_FAILED = "UpdateFailed"
    UPDATE_ROLLBACK_FAILED = "UpdateRollbackFailed"
    UPDATED = "Updated"
    DELETING = "Deleting"
    DELETE_FAILED = "DeleteFailed"
    DELETE_ROLLBACK_FAILED = "DeleteRollbackFailed"
    DELETED = "Deleted"


@dataclass(frozen=True, slots=True)
class Endings:
    """How an operation of this name may end, and the participle that messages use."""

    operation: str
    gerund: str
    done: Status
    failed: Status
    rollback_failed: Status


ENDINGS: Mapping[Status, Endings] = {
    Status.CREATING: Endings("Create", "creating", Status.CREATED, Status.CREATE_FAILED, Status.CREATE_ROLLBACK_FAILED),
    Status.UPDATING: Endings("Update", "updating", Status.UPDATED, Status.UPDATE_FAILED, Status.UPDATE_ROLLBACK_FAILED),
    Status.DELETING: Endings("Delete", "deleting", Status.DELETED, Status.DELETE_FAILED, Status.DELETE_ROLLBACK_FAILED),
}
_NEVER_WAS = (Status.CREATE_FAILED, Status.CREATE_ROLLBACK_FAILED)
_NOT_IN_FORCE = (*_NEVER_WAS, Status.DELETED, Status.DELETE_ROLLBACK_FAILED)


@dataclass(frozen=True, slots=True)
class Resource:
    """A scheduler config or a compute quota, and the operation that it is in or was in last.

    `spec` is the request's copy in the vendor's members, with defaults filled in. `doing` is the operation's status
    until `settles_at`, `outcome` the one from then on. `stable_version` was in force when the operation began.
    `operations` counts the operations that have begun.
    """

    account: str
    region: str
    kind: Kind
    resource_id: str
    cluster_id: str
    name: str
    team: str | None
    created_at: WorldTime
    begun_at: WorldTime
    settles_at: WorldTime
    doing: Status = Status.CREATING
    outcome: Status = Status.CREATED
    failure: str | None = None
    vanishes_at: WorldTime | None = None
    version: int = 1
    stable_version: int | None = None
    operations: int = 1
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        return ids.resource_arn(self.region, self.account, f"{self.kind}/{self.resource_id}")

    @property
    def cluster_arn(self) -> str:
        return ids.cluster_arn(self.region, self.account, self.cluster_id)


def status(resource: Resource, now: WorldTime) -> Status:
    """The vendor's status at `now`."""
    return resource.doing if now < resource.settles_at else resource.outcome


def failure(resource: Resource, now: WorldTime) -> str | None:
    """Why the last operation failed, once it has."""
    return None if now < resource.settles_at else resource.failure


def in_force(resource: Resource, now: WorldTime) -> int | None:
    """The version that the cluster schedules by at `now`, None for none.

    A failed update leaves the version before it in force; what a failed roll-back leaves of a deletion is none.
    """
    if now < resource.settles_at:
        return resource.stable_version
    if resource.outcome in (Status.CREATED, Status.UPDATED):
        return resource.version
    return None if resource.outcome in _NOT_IN_FORCE else resource.stable_version


def is_deleted(resource: Resource, now: WorldTime) -> bool:
    """True when its name is free again, though it may still be seen."""
    return status(resource, now) is Status.DELETED


def check_may_update(resource: Resource, target_version: int, now: WorldTime) -> None:
    """Conflict in a transition, after a failed creation or half a deletion, and for any but the current version."""
    _check_settled(resource, "updated", now)
    state = status(resource, now)
    if state in _NOT_IN_FORCE:
        raise Conflict(f"{_named(resource)} cannot be updated: its status is {state}. Delete it, and create it again.")
    if target_version != resource.version:
        raise Conflict(
            f"TargetVersion {target_version} is not the current version of {_named(resource)}, which is "
            f"{resource.version}. Describe it, and update the version that you see."
        )


def check_may_delete(resource: Resource, now: WorldTime) -> None:
    """Conflict in a transition; everything that has settled may be deleted, also again."""
    _check_settled(resource, "deleted", now)


def _check_settled(resource: Resource, what: str, now: WorldTime) -> None:
    state = status(resource, now)
    if state is resource.doing:
        raise Conflict(
            f"{_named(resource)} cannot be {what}: its status is {state}. Wait until the operation under way has ended."
        )


def _named(resource: Resource) -> str:
    return f"{resource.kind.words.capitalize()} '{resource.resource_id}'"


def revised(
    resource: Resource, spec: Mapping[str, Any], team: str | None, now: WorldTime, delay: timedelta
) -> Resource:
    """The resource in an update that will succeed: a new version, in force once it has settled."""
    begun = _begun(resource, Status.UPDATING, now, delay)
    return replace(begun, version=resource.version + 1, spec=spec, team=team)


def ending(resource: Resource, now: WorldTime, delay: timedelta) -> Resource:
    """The resource in a deletion that will succeed."""
    begun = _begun(resource, Status.DELETING, now, delay)
    return replace(begun, vanishes_at=after(begun.settles_at, KEPT))


def _begun(resource: Resource, doing: Status, now: WorldTime, delay: timedelta) -> Resource:
    return replace(
        resource,
        doing=doing,
        outcome=ENDINGS[doing].done,
        failure=None,
        begun_at=now,
        settles_at=after(now, delay),
        stable_version=in_force(resource, now),
        operations=resource.operations + 1,
    )


def failing(resource: Resource, rule: Rule) -> Resource:
    """The same operation, but it fails: its roll-back too when the rule's code says so (CT-3)."""
    endings = ENDINGS[resource.doing]
    rolled_back = rule.code != endings.rollback_failed
    undone = "It was rolled back." if rolled_back else "It could not be rolled back."
    told = rule.message or (
        f"Internal error while {endings.gerund} the {resource.kind.words}. {undone} (Fault rule {rule.rule_id}.)"
    )
    outcome = endings.failed if rolled_back else endings.rollback_failed
    return replace(resource, outcome=outcome, failure=told[:1024], vanishes_at=None)
