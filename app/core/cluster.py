"""A cluster and its instance groups: what is wanted, what is, and the statuses computed from facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

from app.core import ids
from app.core.instance import Instance
from app.core.naming import Naming, naming_of
from app.core.node import Node
from app.core.times import WorldTime, after
from app.core.timings import MIN_COUNT_TIMEOUT

CONTROLLER, LOGIN = "Controller", "Login"
FIRST_RELEASE = "1.0.0"
SOFTWARE = "software update"
"""The operation of a classic cluster whose software is being updated."""
UNDER_UPDATE = frozenset(("Pending", "InProgress", "RollbackInProgress"))


@dataclass(frozen=True, slots=True)
class Cluster:
    """A HyperPod cluster. `spec` is the request's copy of what no rule reads; facts are timestamps.

    `operation` is what the cluster is busy with (`creation`, `update`, `deletion`), None when it is done.
    """

    account: str
    region: str
    cluster_id: str
    name: str
    continuous: bool
    orchestrator: str
    created_at: WorldTime
    opens_at: WorldTime
    opened_at: WorldTime | None = None
    controller_ready_at: WorldTime | None = None
    in_service_at: WorldTime | None = None
    failed_at: WorldTime | None = None
    failure_message: str | None = None
    rolling_back_at: WorldTime | None = None
    delete_requested_at: WorldTime | None = None
    deletion_begun_at: WorldTime | None = None
    operation: str | None = "creation"
    event_seq: int = 0
    eks_arn: str | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)
    past_ordinals: Mapping[str, int] = field(default_factory=dict)
    """Where the numbering of a removed group's nodes goes on if its name comes again: no logical id has two lives."""
    hosts: bool = False
    """Jobs have been sent to its nodes (VX-24)."""

    @property
    def arn(self) -> str:
        return ids.cluster_arn(self.region, self.account, self.cluster_id)

    @property
    def recovers(self) -> bool:
        """HP-29: unhealthy nodes are rebooted or replaced by themselves. AWS's default is Automatic."""
        return self.spec.get("NodeRecovery", "Automatic") == "Automatic"  # type: ignore[no-any-return]

    @property
    def naming(self) -> Naming:
        return naming_of(self.cluster_id, self.name)

    @property
    def controller_first(self) -> bool:
        """HP-4: on Slurm with continuous provisioning the other groups wait for the controller."""
        return self.continuous and self.orchestrator == "slurm"

    @property
    def creation_deadline(self) -> WorldTime | None:
        """HP-8: until then controller and login must be up, or creation fails."""
        if self.controller_first and self.in_service_at is None:
            return after(self.created_at, MIN_COUNT_TIMEOUT)
        return None


@dataclass(frozen=True, slots=True)
class Group:
    """An instance group. `rows` counts its nodes, `slots` those not told to stop, `current` those that run, `ill` those
    of them that are marked unhealthy.

    `image` is what new nodes start on: a release (`1.2.0`) or a custom AMI; `former_image` is what the others run
    during a software update. `batch_at` says since when a batch is being updated, `rest_until` when the next may be.
    `min_since` is set while MinCount is waited for; `stable_target` and `stable_min` are what a rollback returns to.
    """

    name: str
    position: int
    instance_types: tuple[str, ...]
    node_type: str | None
    target: int
    minimum: int
    created_at: WorldTime
    has_script: bool
    deep_check: bool
    zones: tuple[str, ...]
    own_network: bool
    in_service_at: WorldTime | None = None
    min_since: WorldTime | None = None
    stable_target: int = 0
    stable_min: int = 0
    rows: int = 0
    slots: int = 0
    current: int = 0
    ill: int = 0
    next_ordinal: int = 1
    operation: str | None = "creation"
    delete_requested_at: WorldTime | None = None
    deletion_begun_at: WorldTime | None = None
    training_plan: str | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)
    image: str = FIRST_RELEASE
    former_image: str | None = None
    update_status: str | None = None
    update_config: Mapping[str, Any] | None = None
    batch_at: WorldTime | None = None
    rest_until: WorldTime | None = None
    schedule_since: WorldTime | None = None
    """Occurrences of ScheduledUpdateConfig count after this moment: when it was given, or the last one that was met."""
    patch_found_at: WorldTime | None = None
    """Since when a patch of the group's release waits to be applied automatically, at `next_patch_at`."""
    next_patch_at: WorldTime | None = None

    @property
    def under_update(self) -> bool:
        """HP-30: a software update of the group is scheduled, under way, or being rolled back."""
        return self.update_status in UNDER_UPDATE

    @property
    def settled(self) -> bool:
        """True when what is equals what is wanted."""
        return self.current == self.slots == self.rows == self.target

    @property
    def gates_creation(self) -> bool:
        """HP-8: during creation the cluster's own deadline rules over controller and login groups."""
        return self.node_type in (CONTROLLER, LOGIN)

    @property
    def min_deadline(self) -> WorldTime | None:
        """HP-17: when the wait for MinCount ends in a rollback."""
        return None if self.min_since is None else after(self.min_since, MIN_COUNT_TIMEOUT)


class ClusterFacts(Protocol):
    """What a cluster's status is computed from."""

    @property
    def continuous(self) -> bool: ...
    @property
    def operation(self) -> str | None: ...
    @property
    def in_service_at(self) -> WorldTime | None: ...
    @property
    def failed_at(self) -> WorldTime | None: ...
    @property
    def rolling_back_at(self) -> WorldTime | None: ...
    @property
    def delete_requested_at(self) -> WorldTime | None: ...


class GroupFacts(Protocol):
    """What a group's status is computed from, beside its cluster's facts."""

    @property
    def operation(self) -> str | None: ...
    @property
    def in_service_at(self) -> WorldTime | None: ...
    @property
    def min_since(self) -> WorldTime | None: ...
    @property
    def update_status(self) -> str | None: ...
    @property
    def ill(self) -> int: ...
    @property
    def delete_requested_at(self) -> WorldTime | None: ...


def cluster_status(cluster: ClusterFacts) -> str:
    """The value of `ClusterStatus`, from facts alone (HP-5, HP-7, HP-9, HP-40)."""
    if cluster.delete_requested_at is not None:
        return "Deleting"
    if cluster.failed_at is not None:
        return "Failed"
    if cluster.rolling_back_at is not None:
        return "RollingBack"
    if cluster.in_service_at is None:
        return "Creating"
    if not cluster.continuous and cluster.operation is not None:
        return "SystemUpdating" if cluster.operation == SOFTWARE else "Updating"
    return "InService"


def group_status(cluster: ClusterFacts, group: GroupFacts) -> str:
    """The value of `InstanceGroupStatus`, from facts alone (HP-15, HP-17, HP-18)."""
    if group.delete_requested_at is not None or cluster.delete_requested_at is not None:
        return "Deleting"
    if group.in_service_at is None:
        return "Failed" if cluster.failed_at is not None else "Creating"
    if group.min_since is not None:
        return "Updating"
    if not cluster.continuous and cluster.operation == "update" and group.operation is not None:
        return "Updating"
    if group.update_status in UNDER_UPDATE:
        return "SystemUpdating"
    return "Degraded" if group.ill else "InService"


def is_open(cluster: Cluster, group: Group) -> bool:
    """HP-19: nodes of the group may be added, deleted, rebooted, replaced and examined."""
    return group_status(cluster, group) in ("InService", "Degraded")


def new_node(cluster: Cluster, group: Group, ordinal: int, at: WorldTime, seed: int) -> Instance:
    """A place in the group that waits for its first launch."""
    return Instance(
        group=group.name,
        ordinal=ordinal,
        logical_id=cluster.naming.logical_id(seed, cluster.cluster_id, group.name, group.position, ordinal),
        instance_type=group.instance_types[0],
        created_at=at,
        listed_at=at,
        status=Node.REQUESTED,
        since=at,
        launch_after=at,
    )


_UNHEALTHY, _NOT_READY, _READY = range(3)
_HEALTH = dict.fromkeys((Node.FAILED, Node.ILL, Node.UNPATCHED), _UNHEALTHY) | {Node.RUNNING: _READY}


class Work(IntEnum):
    """The worthiest work on a node: the less it is worth, the sooner the node may go (VX-24, FS-4)."""

    NONE = 0
    UNFUNDED = 1
    EXPIRED = 2
    PROTECTED = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the choice of victims needs to know of a node."""

    logical_id: str
    status: Node
    launched_at: WorldTime | None
    work: Work = Work.NONE


def victims(candidates: Iterable[Candidate], count: int) -> list[str]:
    """HP-18: the unhealthy first, then those not yet ready, then the most recently provisioned; ties by logical id.

    A node that was never provisioned counts as the most recent, since stopping it loses nothing. Of those that are
    ready the idle ones go first, then by the work on them: unfunded, no longer protected, protected (VX-24).
    """

    def rank(node: Candidate) -> tuple[int, Work, float, str]:
        health = _HEALTH.get(node.status, _NOT_READY)
        newest_first = float("-inf") if node.launched_at is None else -node.launched_at.timestamp()
        return health, node.work, newest_first, node.logical_id

    return [node.logical_id for node in sorted(candidates, key=rank)[:count]]
