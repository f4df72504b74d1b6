"""The cluster events that follow from one fired stage of a node (HP-26, HP-27)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.cluster import Cluster, Group
from app.core.cluster_events import Event
from app.core.health import Health, action
from app.core.instance import Instance
from app.core.lifecycle import Fired
from app.core.node import DEGRADED, Node
from app.core.software import ROLLING_BACK, turns_back
from app.core.times import WorldTime

DELETED_WHILE_PROVISIONING = "instance provisioning could not be complete because a deletion request was received"
_PROVISIONING = (Node.LAUNCHING, Node.BOOTING, Node.CONFIGURING)


@dataclass(slots=True)
class Told:
    """What is told of a cluster's nodes: events in AWS's catalogue, and the health monitoring's words."""

    cluster: Cluster
    groups: Mapping[str, Group]
    events: list[Event] = field(default_factory=list)
    health: list[Health] = field(default_factory=list)

    def tell(self, kind: str, at: WorldTime, node: Instance, **params: object) -> None:
        self.events.append(Event(kind, at, node.group, node.instance_id, node.logical_id, params))

    def narrate(self, before: Instance, node: Instance, fired: Fired) -> None:
        """The events of one fired stage."""
        at = fired.at
        if fired.stage == DEGRADED:
            self._illness(node, fired)
            return
        if fired.source is Node.BOOTING and fired.target not in (Node.FAILED, Node.TERMINATING):
            self.tell("provisioned", at, node)
        match fired.target:
            case Node.PATCHING:
                self.tell("root-volume-started", at, node)
            case Node.UNPATCHED:
                self._unpatched(node, at)
            case Node.CONFIGURING | Node.RECONFIGURING:
                self.tell("script-started", at, node)
            case Node.TERMINATING | Node.VACATING:
                if fired.source in _PROVISIONING:
                    self.tell("creation-failed", at, node, failure=DELETED_WHILE_PROVISIONING)
                self.tell("terminating", at, node)
            case Node.GONE:
                self._end(before, node, at)
            case Node.REQUESTED:
                self._network_released(before, at)
            case Node.FAILED:
                self._failure(before, node, fired)
            case Node.STUCK:
                self.tell("termination-failed", at, node, failure=node.message)
            case Node.REBOOTING:
                self.tell("reboot-started", at, node)
            case Node.ILL:
                self._illness(node, fired)
        if fired.source in (Node.CONFIGURING, Node.RECONFIGURING) and fired.target in (Node.RUNNING, Node.CHECKING):
            self.tell("script-succeeded", at, node)
        if fired.target is Node.RUNNING:
            self._running(before, node, fired)

    def _running(self, before: Instance, node: Instance, fired: Fired) -> None:
        if fired.source in (Node.PATCHING, Node.RECONFIGURING):
            self.tell("rolled-back" if self._is_back(node) else "patched", fired.at, node)
            return
        if fired.source is Node.REBOOTING:
            self.tell("instance-completed", fired.at, node, operation="reboot")
        elif before.replaced_at is not None:
            self.tell("replacement-completed", fired.at, node, operation="creation")
        elif fired.source is not Node.EXAMINED:
            self.tell("instance-completed", fired.at, node, operation="creation")
        if before.fault is not None or fired.source is Node.EXAMINED:
            self._word(node, fired.at, "Healthy", "The node passed its checks.", "None")

    def _unpatched(self, node: Instance, at: WorldTime) -> None:
        self.tell("script-failed", at, node, failure=node.message)
        if node.retry_at is None and not self._is_back(node) and turns_back(self.groups[node.group]):
            self.tell("node-update-failed", at, node, failure=node.message)

    def _is_back(self, node: Instance) -> bool:
        """HP-30: the node is on the image to which its group returns."""
        group = self.groups[node.group]
        return group.update_status == ROLLING_BACK and node.image == group.image

    def _illness(self, node: Instance, fired: Fired) -> None:
        if fired.source is Node.REBOOTING:
            self.tell("instance-failed", fired.at, node, operation="reboot", failure=node.message)
        cure = action(node.fault or "") if self.cluster.recovers else "None"
        self._word(node, fired.at, "Unhealthy", node.message or "", cure)

    def _word(self, node: Instance, at: WorldTime, status: str, reason: str, cure: str) -> None:
        self.health.append(Health(at, node.group, node.instance_id or "", node.logical_id, status, reason, cure))

    def _network_released(self, node: Instance, at: WorldTime) -> None:
        if self.groups[node.group].own_network:
            self.tell("eni-deleted", at, node)

    def _end(self, before: Instance, node: Instance, at: WorldTime) -> None:
        if before.status is Node.TERMINATING:
            self._network_released(node, at)
            self.tell("instance-completed", at, node, operation="deletion")
        elif before.attempt and before.status not in (Node.REQUESTED, Node.DETACHING):
            failure = before.message if before.echo_at is not None else DELETED_WHILE_PROVISIONING
            self.tell("creation-failed", at, node, failure=failure)

    def _failure(self, before: Instance, node: Instance, fired: Fired) -> None:
        if fired.stage == "failure-recorded":
            self.tell("creation-failed", fired.at, node, failure=node.message)
            if node.replaced_at is not None and node.instance_id is not None:
                self.tell("replacement-failed", fired.at, node, operation="creation", failure=node.message)
            if node.instance_id is not None and self.groups[node.group].own_network:
                self.tell("unused-eni-deleted", fired.at, node)
        elif fired.source is Node.CONFIGURING:
            self.tell("script-failed", fired.at, node, failure=node.message)
        else:
            self.tell("provision-failed", fired.at, node, failure=node.message)
