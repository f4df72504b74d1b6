"""What ails a node, what cures it, and what lies in wait for it in the state that it has just reached (HP-29).

The actions follow reports from the field: Xid 73 ends in a reboot, Xid 74 and what the health monitoring agent calls
`NvidiaErrorTerminate` in a replacement; what no report names is replaced (chosen).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from app.core.cluster import Cluster
from app.core.faults import Faults, Rule, Subject
from app.core.instance import Instance
from app.core.lifecycle import Fired
from app.core.node import DEGRADED, Node
from app.core.times import WorldTime, after, to_millis
from app.core.values import evolve

REBOOT, REPLACE = "Reboot", "Replace"
DEGRADES = "node-degraded"
BREAKS = ("node-hardware", DEGRADES)
"""Effects on a node that runs."""
DEEP_HEALTH_CHECK = "StartClusterHealthCheck"
"""What a rule gives as operation to strike deep health checks alone, those at an instance's start as well."""
SOFTWARE_UPDATE = "UpdateClusterSoftware"
"""What a rule gives as operation to strike the lifecycle scripts of software updates alone."""
USUAL_FAULT, FAILED_CHECK, FAILED_REBOOT = "NvidiaErrorTerminate", "InstanceStress", "RebootFailed"
ROLE_GONE = "AccessDenied"
_REBOOTED = frozenset(("Xid-73", "GpuCountMismatch"))

_TEXTS: Mapping[str, str] = {
    FAILED_CHECK: "Deep health check {} did not pass.",
    FAILED_REBOOT: "The instance did not come back after a reboot.",
}


@dataclass(frozen=True, slots=True)
class Health:
    """The health monitoring's word on a node: what EventBridge tells about it."""

    at: WorldTime
    group: str
    instance_id: str
    logical_id: str
    status: str
    reason: str
    action: str


def action(fault: str) -> str:
    """What cures the fault: `Reboot` or `Replace`."""
    return REBOOT if fault in _REBOOTED else REPLACE


def text(fault: str) -> str:
    """The node's message about its fault."""
    return _TEXTS.get(fault, "The health monitoring agent has found a hardware fault: {}.").format(fault)


def appoint_cure(node: Instance, at: WorldTime) -> Instance:
    """The ill node's reboot or replacement, due at `at`."""
    cure = action(node.fault or USUAL_FAULT)
    return evolve(node, reboot_at=at) if cure == REBOOT else evolve(node, replace_at=at)


def subject(cluster: Cluster, node: Instance, operation: str = "", turn: int = 0) -> Subject:
    """The node as fault rules see it."""
    return Subject(
        account=cluster.account,
        region=cluster.region,
        cluster=cluster.name,
        cluster_id=cluster.cluster_id,
        group=node.group,
        instance_type=node.instance_type,
        logical_id=node.logical_id,
        attempt=node.attempt,
        operation=operation,
        instance_id=node.instance_id or "",
        turn=turn,
    )


def break_down(node: Instance, rule: Rule, at: WorldTime) -> Instance:
    """The node with the hardware fault that the rule appoints; it is noticed a little later."""
    strikes = after(at, timedelta(seconds=rule.seconds or 0))
    if rule.effect == DEGRADES:
        return evolve(node, degraded_at=strikes, fault=rule.code or USUAL_FAULT)
    return evolve(node, hardware_fault_at=strikes, fault=rule.code or USUAL_FAULT)


def is_degraded(node: Instance) -> bool:
    """It runs with a fault that has been noticed."""
    return node.fault is not None and node.hardware_fault_at is None and node.degraded_at is None


def hazards(cluster: Cluster, node: Instance, fired: Fired, faults: Faults) -> Instance:
    """The node with the marks of what will befall it in its new state."""
    if fired.stage == DEGRADED:
        return _degraded(cluster, node, fired)
    if fired.target is fired.source:
        return node
    me = partial(subject, cluster, node, turn=to_millis(fired.at))
    match fired.target:
        case Node.RUNNING:
            rule = faults.strike_any(BREAKS, me(), fired.at)
            return node if rule is None else break_down(node, rule, fired.at)
        case Node.CONFIGURING if fired.source is Node.ATTACHING:
            struck = faults.strike("script-failed", me(), fired.at)
            return evolve(node, script_fault_at=fired.at if struck else None)
        case Node.CHECKING | Node.EXAMINED:
            rule = faults.strike("node-hardware", me(DEEP_HEALTH_CHECK), fired.at)
            return node if rule is None else evolve(node, check_fault_at=fired.at, fault=rule.code or FAILED_CHECK)
        case Node.REBOOTING:
            struck = faults.strike("reboot-failed", me(), fired.at)
            return evolve(node, reboot_fault_at=fired.at if struck else None)
        case Node.TERMINATING | Node.VACATING:
            rule = faults.strike("terminate-failed", me(), fired.at)
            return node if rule is None else evolve(node, terminate_fault_at=fired.at, fault=rule.code)
        case Node.RECONFIGURING:
            return _script_runs(node, fired, faults, me(SOFTWARE_UPDATE))
        case Node.ILL:
            return _fallen_ill(cluster, node, fired)
        case Node.STUCK:
            return evolve(node, message=_stuck(node))
    return node


def _script_runs(node: Instance, fired: Fired, faults: Faults, victim: Subject) -> Instance:
    """HP-30: the lifecycle script of a software update may fail or hang at each of its tries."""
    fates = ("script-hang", "script-failed")
    fate = next((effect for effect in fates if faults.strike(effect, victim, fired.at)), None)
    return evolve(
        node,
        script_returns_at=None if fate == "script-hang" else fired.at,
        script_fault_at=fired.at if fate == "script-failed" else None,
        script_hang_at=fired.at if fate == "script-hang" else None,
    )


def _fallen_ill(cluster: Cluster, node: Instance, fired: Fired) -> Instance:
    """HP-29: with NodeRecovery Automatic it is cured at once; otherwise it stays marked until somebody acts."""
    fault = FAILED_REBOOT if fired.stage == "reboot-failed" else node.fault or USUAL_FAULT
    ill = evolve(node, fault=fault, message=text(fault), hardware_fault_at=None, check_fault_at=None)
    return appoint_cure(ill, fired.at) if cluster.recovers else ill


def _degraded(cluster: Cluster, node: Instance, fired: Fired) -> Instance:
    """FS-11: where workloads run, its host is emptied first; elsewhere nothing need leave it (chosen)."""
    known = evolve(node, message=text(node.fault or USUAL_FAULT))
    return appoint_cure(known, fired.at) if cluster.recovers and not cluster.hosts else known


def _stuck(node: Instance) -> str:
    if node.fault == ROLE_GONE:
        return (
            "The execution role of the instance group does not have permission to perform "
            "ec2:DeleteNetworkInterface. Restore the role and its permissions; the termination is tried again."
        )
    return "The EC2 instance could not be terminated. The termination is tried again."
