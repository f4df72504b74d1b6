"""A software update of an instance group: batches, rests, alarms, and the way back (HP-30).

A node that is told to update does the rest by its table. Here is decided which nodes are told, and when; asked again
at the same instant it decides nothing more.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from app.core.cluster import SOFTWARE, Cluster, Group, cluster_status, group_status, is_open
from app.core.cluster_events import Event
from app.core.errors import Conflict, Invalid
from app.core.node import Node
from app.core.releases import Releases, is_custom
from app.core.times import WorldTime, after

PENDING, IN_PROGRESS, SUCCEEDED, FAILED = "Pending", "InProgress", "Succeeded", "Failed"
ROLLING_BACK, ROLLED_BACK = "RollbackInProgress", "RollbackComplete"
_PERCENT = "CAPACITY_PERCENTAGE"
STRATEGY = "PatchingStrategy"
"""What an automatic patch has in `update_config` besides the DeploymentConfig."""
_ONWARD = ("WhenIdle", "WhenAllIdle")
"""The strategies of automatic patches that never turn back: automatic rollback is not supported, says the page."""
_COMING = frozenset(
    (Node.LAUNCHING, Node.BOOTING, Node.CONFIGURING, Node.CHECKING, Node.REBOOTING, Node.EXAMINED, Node.ATTACHING)
)
"""States that a node leaves by itself: who is in one is waited for."""


@dataclass(frozen=True, slots=True)
class Member:
    """What an update needs to know of a node that is not told to stop."""

    logical_id: str
    ordinal: int
    status: Node
    instance_type: str
    image: str | None
    told: bool
    """`patch_at` is set: its turn has come."""
    retried: bool
    """`retry_at` is set: its script will run again."""


@dataclass(slots=True)
class Step:
    """What an instant decides for one group: who is updated now, to which image, and whose instances are given up."""

    group: Group
    at: WorldTime
    chosen: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def tell(self, kind: str, **params: object) -> None:
        group = self.group
        counts = {"current": group.current, "target": group.target, "min": group.minimum}
        self.events.append(Event(kind, self.at, group.name, params=counts | params))

    def become(self, **facts: object) -> None:
        self.group = replace(self.group, **facts)  # type: ignore[arg-type]


def begin(
    cluster: Cluster,
    groups: Mapping[str, Group],
    asked: Mapping[str, str | None],
    image_id: str | None,
    config: Mapping[str, Any] | None,
    releases: Releases,
) -> dict[str, Group]:
    """UpdateClusterSoftware: the groups that `asked` names, each with its release or None; without any, all."""
    unknown = sorted(set(asked) - set(groups))
    if unknown:
        raise Invalid(
            f"InstanceGroups names no group of cluster {cluster.name}: {', '.join(unknown)}. "
            "DescribeCluster lists its groups."
        )
    check_deployment(config or {})
    staying = {name: None for name, group in groups.items() if group.delete_requested_at is None}
    changed = {}
    for name, version in (asked or staying).items():
        group = groups[name]
        check_group_may_patch(cluster, group)
        changed[name] = schedule(group, _wanted(group, image_id, version, releases), config)
    return changed


def check_may_patch(cluster: Cluster) -> None:
    """HP-19: while the cluster is created, changed, deleted or has failed, its software stays as it is."""
    status = cluster_status(cluster)
    if status != "InService":
        raise Conflict(
            f"Cluster {cluster.name} is in {status} state. Its software can be updated when it is InService."
        )


def check_group_may_patch(cluster: Cluster, group: Group) -> None:
    """HP-19: a group whose MinCount is awaited, or whose software is being updated, takes no update."""
    if not is_open(cluster, group):
        raise Conflict(
            f"Instance group '{group.name}' of cluster {cluster.name} is in {group_status(cluster, group)} state. "
            "Update its software when it is InService."
        )


def check_deployment(config: Mapping[str, Any]) -> None:
    """A percentage of a DeploymentConfig is one."""
    for member, size in config.get("RollingUpdatePolicy", {}).items():
        if size["Type"] == _PERCENT and size["Value"] > 100:
            raise Invalid(f"{member}: {size['Value']} is no percentage of the group. Give a Value from 1 to 100.")


def _wanted(group: Group, image_id: str | None, version: str | None, releases: Releases) -> str:
    if is_custom(group.image) and image_id is None:
        raise Invalid(
            f"Instance group '{group.name}' uses a custom AMI. Give ImageId: the new AMI, or 'default' for the latest "
            "system image; or name the groups to update in InstanceGroups."
        )
    return releases.image(image_id, version, releases.newest)


def schedule(group: Group, image: str, config: Mapping[str, Any] | None) -> Group:
    """The group with an update to the image, which begins at the next instant."""
    return replace(
        group,
        image=image,
        former_image=group.image,
        update_status=PENDING,
        update_config=dict(config or {}),
        batch_at=None,
        rest_until=None,
    )


def next_deadlines(group: Group) -> list[WorldTime | None]:
    """When the group's update, or its next automatic patch, needs looking at, its nodes left aside."""
    if group.delete_requested_at is not None:
        return []
    return [group.rest_until if group.under_update else None, group.next_patch_at]


def watched(group: Group) -> list[str]:
    """The alarms that roll the update back."""
    if group.update_status not in (PENDING, IN_PROGRESS):
        return []
    return [one["AlarmName"] for one in (group.update_config or {}).get("AutoRollbackConfiguration", ())]


def roll(group: Group, members: Sequence[Member], alarmed: Collection[str], recovers: bool, at: WorldTime) -> Step:
    """Decide what the instant asks for, when all else that was due at it is done."""
    step = Step(group, at)
    if group.update_status == PENDING:
        step.become(update_status=IN_PROGRESS)
        step.tell("patching-started", strategy=_strategy(group))
    if step.group.update_status == IN_PROGRESS:
        _watch(step, members, alarmed)
    if any(_busy(one) for one in members):
        return step
    _rest(step, members)
    if step.group.rest_until is not None:
        return step
    open_to = [one for one in members if _may_begin(one, step.group.image)]
    if open_to:
        _choose(step, open_to, len(members))
    elif not any(one.status in _COMING and one.image != step.group.image for one in members):
        _end(step, members, recovers)
    return step


def turns_back(group: Group) -> bool:
    """True when a node that cannot be updated takes the whole group back."""
    return _strategy(group) not in _ONWARD


def _strategy(group: Group) -> str:
    strategy: str | None = (group.update_config or {}).get(STRATEGY)
    return strategy or ("Rolling" if _policy(group) else "AllAtOnce")


def _policy(group: Group) -> Mapping[str, Any]:
    policy: Mapping[str, Any] = (group.update_config or {}).get("RollingUpdatePolicy", {})
    return policy


def _busy(one: Member) -> bool:
    return one.told or one.retried or one.status in (Node.PATCHING, Node.RECONFIGURING)


def _given_up(one: Member, image: str) -> bool:
    """Every try of its script on this image has failed."""
    return one.status is Node.UNPATCHED and not one.told and not one.retried and one.image == image


def _may_begin(one: Member, image: str) -> bool:
    return one.status in (Node.RUNNING, Node.UNPATCHED) and one.image != image


def _watch(step: Step, members: Sequence[Member], alarmed: Collection[str]) -> None:
    """An alarm, or a node that could not be updated, turns the update round."""
    group = step.group
    names = [name for name in watched(group) if name in alarmed]
    failed = turns_back(group) and any(_given_up(one, group.image) for one in members)
    if not names and not failed:
        return
    if names and group.rest_until is not None:
        step.tell("bake-failed", alarms=names)
    step.tell("patching-rollback")
    step.become(
        update_status=ROLLING_BACK,
        image=group.former_image or group.image,
        former_image=group.image,
        batch_at=None,
        rest_until=None,
    )


def _rest(step: Step, members: Sequence[Member]) -> None:
    """Between two batches, and before the end if alarms are watched, the update waits."""
    group = step.group
    alarms = watched(group)
    if group.rest_until is not None and step.at >= group.rest_until:
        if alarms:
            step.tell("bake-completed", alarms=alarms)
        step.become(rest_until=None)
    elif group.batch_at is not None:
        wait = timedelta(seconds=(group.update_config or {}).get("WaitIntervalInSeconds", 0))
        more = any(_may_begin(one, group.image) for one in members)
        step.become(batch_at=None)
        if wait and (alarms or more):
            step.become(rest_until=after(step.at, wait))
            if alarms:
                step.tell("bake-started", alarms=alarms, seconds=int(wait.total_seconds()))


def _choose(step: Step, open_to: Sequence[Member], size: int) -> None:
    policy = _policy(step.group)
    most = policy.get("MaximumBatchSize")
    if step.group.update_status == ROLLING_BACK:
        most = policy.get("RollbackMaximumBatchSize", most)
    step.chosen = batch(open_to, _limit(most, size))
    if most is not None:
        step.tell("batch-selected")
    step.become(batch_at=step.at)


def _limit(most: Mapping[str, Any] | None, size: int) -> int:
    if most is None:
        return size
    value: int = most["Value"]
    return max(1, size * value // 100) if most["Type"] == _PERCENT else value


def batch(open_to: Sequence[Member], limit: int) -> list[str]:
    """The next nodes, of a flexible group as many of each type as its share, the largest remainders first."""
    by_type = Counter(one.instance_type for one in open_to)
    total, limit = len(open_to), min(limit, len(open_to))
    share = {kind: count * limit // total for kind, count in by_type.items()}
    order = sorted(by_type, key=lambda kind: (-(by_type[kind] * limit % total), kind))
    for kind in order[: limit - sum(share.values())]:
        share[kind] += 1
    chosen = []
    for one in sorted(open_to, key=lambda one: one.ordinal):
        if share[one.instance_type]:
            share[one.instance_type] -= 1
            chosen.append(one.logical_id)
    return chosen


def _end(step: Step, members: Sequence[Member], recovers: bool) -> None:
    given_up = [one.logical_id for one in members if _given_up(one, step.group.image)]
    status = ROLLED_BACK if step.group.update_status == ROLLING_BACK else SUCCEEDED
    if given_up:
        status, step.given_up = FAILED, given_up
        if recovers:
            step.tell("failed-queued")
        step.tell("patching-failed")
    elif status == SUCCEEDED:
        step.tell("patching-completed")
    step.become(update_status=status, former_image=None, update_config=None, batch_at=None, rest_until=None)


def settle(cluster: Cluster, groups: Mapping[str, Group]) -> Cluster:
    """A classic cluster is InService again when the update of its last group has ended."""
    if cluster.operation != SOFTWARE or any(group.under_update for group in groups.values()):
        return cluster
    return replace(cluster, operation=None)
