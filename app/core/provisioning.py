"""What a cluster decides once all that was due at an instant is done: desired against actual, MinCount, rollback."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.core import software
from app.core.cluster import CONTROLLER, LOGIN, SOFTWARE, Cluster, Group
from app.core.cluster_events import Event
from app.core.launching import Batch
from app.core.times import WorldTime

NOT_READY_IN_TIME = (
    "Cluster creation failed: controller and login nodes did not become ready within the expected time. "
    "Check the cluster events for the reason, then delete this cluster and create it again."
)
CORRECTION = "Correct the cause, then delete this cluster and create it again."


@dataclass(slots=True)
class Decision:
    """What to do next. `plan` and `surplus` say how many nodes a group gains and loses."""

    cluster: Cluster
    groups: dict[str, Group]
    at: WorldTime
    plan: dict[str, int] = field(default_factory=dict)
    surplus: dict[str, int] = field(default_factory=dict)
    stop_all: bool = False
    stop_groups: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    gone: bool = False
    rolled_back: set[str] = field(default_factory=set)
    """The groups whose surplus is a rollback's, which asks for nothing but HP-18."""
    events: list[Event] = field(default_factory=list)

    def tell(self, kind: str, group: Group | None = None, **params: object) -> None:
        if group is not None:
            params |= {"current": group.current, "target": group.target, "min": group.minimum}
        self.events.append(Event(kind, self.at, group.name if group else None, params=params))

    def change(self, group: Group, **facts: object) -> Group:
        changed = replace(group, **facts)  # type: ignore[arg-type]
        self.groups[group.name] = changed
        return changed

    def become(self, **facts: object) -> None:
        self.cluster = replace(self.cluster, **facts)  # type: ignore[arg-type]


def decide(made: Decision, batch: Batch) -> None:
    """Add the decisions of one instant. Idempotent: asked again at the same instant it decides nothing more."""
    made.plan, made.surplus = {}, {}
    if made.cluster.delete_requested_at is not None:
        _delete_cluster(made)
    elif made.cluster.failed_at is None:
        _delete_groups(made)
        if _open(made):
            (_continuous if made.cluster.continuous else _classic)(made, batch)


def next_deadline(cluster: Cluster, groups: Mapping[str, Group]) -> WorldTime | None:
    """When the cluster itself next needs looking at, its nodes left aside."""
    if cluster.delete_requested_at is not None or cluster.failed_at is not None:
        return None
    times = [None if cluster.opened_at else cluster.opens_at, cluster.creation_deadline]
    times += [time for group in groups.values() for time in software.next_deadlines(group)]
    times += [group.min_deadline for group in groups.values() if not _cluster_rules(cluster, group)]
    return min((time for time in times if time is not None), default=None)


def _cluster_rules(cluster: Cluster, group: Group) -> bool:
    return cluster.creation_deadline is not None and group.gates_creation


def _delete_cluster(made: Decision) -> None:
    if made.cluster.deletion_begun_at is None:
        made.become(deletion_begun_at=made.at)
        made.stop_all = True
        for group in list(made.groups.values()):
            made.change(group, slots=0)
    if not any(group.rows for group in made.groups.values()):
        made.gone = True


def _delete_groups(made: Decision) -> None:
    for group in list(made.groups.values()):
        if group.delete_requested_at is None:
            continue
        if group.deletion_begun_at is None:
            group = made.change(group, deletion_begun_at=made.at, slots=0, target=0, minimum=0, min_since=None)
            made.stop_groups.append(group.name)
        if group.rows == 0:
            made.tell("group-completed", group, operation="deletion")
            made.removed.append(group.name)
            made.become(past_ordinals={**made.cluster.past_ordinals, group.name: group.next_ordinal})
            del made.groups[group.name]


def _open(made: Decision) -> bool:
    """The cluster's own set-up is done; from now on its groups launch."""
    if made.cluster.opened_at is None:
        if made.at < made.cluster.opens_at:
            return False
        made.become(opened_at=made.at)
        made.events += [event for group in made.groups.values() for event in network_events(group, made.at)]
    return True


def network_events(group: Group, at: WorldTime) -> list[Event]:
    """The events of a new group's network and image."""
    counts = {"current": group.current, "target": group.target, "min": group.minimum}
    told = [
        ("subnet-found", {"subnet": subnet, "zone": zone, "security_groups": group.spec["security_groups"]})
        for subnet, zone in group.spec["subnets"]
    ]
    told += [] if told else [("platform-network", {})]
    told.append(("network-determined", {}))
    image = group.spec["request"].get("ImageId")
    if image not in (None, "default"):
        told.append(("ami-found", {"ami": image}))
    return [Event(kind, at, group.name, params=params | counts) for kind, params in told]


def _continuous(made: Decision, batch: Batch) -> None:
    if made.cluster.controller_first:
        _slurm_readiness(made, batch)
    elif made.cluster.in_service_at is None:
        _in_service(made)
    if made.cluster.failed_at is not None:
        return
    for group in list(made.groups.values()):
        if group.delete_requested_at is None:
            _continuous_group(made, group)
    _complete_update(made)


def _slurm_readiness(made: Decision, batch: Batch) -> None:
    """HP-4, HP-5, HP-8, HP-9."""
    cluster = made.cluster
    wanted = [group for group in made.groups.values() if group.target > 0]
    up = {kind: [g.current for g in wanted if g.node_type == kind] for kind in (CONTROLLER, LOGIN)}
    if cluster.controller_ready_at is None and any(up[CONTROLLER]):
        made.become(controller_ready_at=made.at)
        made.tell("munge-key")
    if cluster.in_service_at is not None:
        return
    if batch.controller_failure is not None and cluster.controller_ready_at is None:
        _fail(made, f"{batch.controller_failure.rstrip('.')}. {CORRECTION}", "cluster-failed")
    elif any(up[CONTROLLER]) and (not up[LOGIN] or any(up[LOGIN])):
        _in_service(made)
        made.tell("slurm-reconfigured")
    elif cluster.creation_deadline is not None and made.at >= cluster.creation_deadline:
        _fail(made, NOT_READY_IN_TIME, "cluster-not-ready")


def _in_service(made: Decision) -> None:
    made.become(in_service_at=made.at, operation=None)
    made.tell("cluster-completed", operation="creation")


def _fail(made: Decision, message: str, kind: str) -> None:
    made.become(failed_at=made.at, failure_message=message, operation=None)
    made.tell(kind, operation="creation", failure=message)


def _continuous_group(made: Decision, group: Group) -> None:
    group = _await_minimum(made, group)
    held = made.cluster.controller_first and made.cluster.controller_ready_at is None
    _scale(made, group, held and group.node_type != CONTROLLER)


def _await_minimum(made: Decision, group: Group) -> Group:
    """HP-15, HP-17, HP-20: MinCount is met, or its time is over, or the group goes on waiting."""
    waiting = group.min_since is not None or group.in_service_at is None
    if waiting and group.current >= group.minimum:
        if group.minimum:
            made.tell("minimum-reached", group, minimum=group.minimum)
        return made.change(group, min_since=None, in_service_at=group.in_service_at or made.at)
    deadline = group.min_deadline
    if deadline is None or made.at < deadline or _cluster_rules(made.cluster, group):
        return group
    made.tell("rollback-initiated", group, minimum=group.minimum)
    made.rolled_back.add(group.name)
    return made.change(
        group,
        target=group.stable_target,
        minimum=group.stable_min,
        min_since=None,
        in_service_at=group.in_service_at or made.at,
        operation=None,
    )


def _scale(made: Decision, group: Group, held: bool) -> None:
    """Desired against actual: new places for what is missing, victims for what is too many."""
    if group.slots < group.target and not held:
        made.plan[group.name] = group.target - group.slots
    elif group.slots > group.target:
        made.surplus[group.name] = group.slots - group.target
    elif group.settled and group.operation is not None:
        made.tell("group-completed", group, operation=group.operation)
        made.change(group, operation=None)


def _complete_update(made: Decision) -> None:
    if made.cluster.operation == "update" and not any(_busy(group) for group in made.groups.values()):
        made.become(operation=None)
        made.tell("cluster-completed", operation="update")


def _busy(group: Group) -> bool:
    return group.operation is not None or group.delete_requested_at is not None


def _classic(made: Decision, batch: Batch) -> None:
    """HP-40: all or nothing."""
    if made.cluster.operation == SOFTWARE:
        return  # its nodes and groups are as many as they were (HP-30)
    if batch.failure is not None and made.cluster.operation is not None and made.cluster.rolling_back_at is None:
        _roll_back(made, batch.failure)
    if made.cluster.rolling_back_at is not None and made.cluster.operation == "creation":
        if not any(group.rows for group in made.groups.values()):
            made.become(rolling_back_at=None, failed_at=made.at, operation=None)
        return
    for group in list(made.groups.values()):
        if group.delete_requested_at is None:
            _scale(made, group, held=False)
    if made.cluster.operation is not None and not any(_busy(group) for group in made.groups.values()):
        _settle_classic(made)


def _settle_classic(made: Decision) -> None:
    for group in list(made.groups.values()):
        made.change(
            group,
            in_service_at=group.in_service_at or made.at,
            stable_target=group.target,
            stable_min=group.minimum,
        )
    made.become(in_service_at=made.cluster.in_service_at or made.at, rolling_back_at=None, operation=None)


def _roll_back(made: Decision, reason: str) -> None:
    made.become(rolling_back_at=made.at, failure_message=reason)
    if made.cluster.operation == "creation":
        made.stop_all = True
        for group in list(made.groups.values()):
            made.change(group, slots=0)
        return
    for group in list(made.groups.values()):
        if group.in_service_at is None:
            made.change(group, delete_requested_at=made.at)
        elif group.delete_requested_at is None:
            made.change(group, target=group.stable_target, operation="update")
            made.rolled_back.add(group.name)
    _delete_groups(made)
