"""Where a node of a cluster stands, and the table that moves it."""

from enum import StrEnum

from app.core.lifecycle import Stage, table


class Node(StrEnum):
    """Where a node stands; `vendor_status` gives AWS's word."""

    REQUESTED = "Requested"
    FAILED = "Failed"
    LAUNCHING = "Launching"
    BOOTING = "Booting"
    CONFIGURING = "Configuring"
    CHECKING = "Checking"
    RUNNING = "Running"
    ILL = "Ill"
    REBOOTING = "Rebooting"
    EXAMINED = "Examined"
    PATCHING = "Patching"
    RECONFIGURING = "Reconfiguring"
    UNPATCHED = "Unpatched"
    VACATING = "Vacating"
    DETACHING = "Detaching"
    ATTACHING = "Attaching"
    TERMINATING = "Terminating"
    STUCK = "Stuck"
    GONE = "Gone"


_VENDOR = {
    Node.REQUESTED: "Pending",
    Node.FAILED: "Failure",
    Node.LAUNCHING: "Pending",
    Node.BOOTING: "Pending",
    Node.CONFIGURING: "Pending",
    Node.CHECKING: "DeepHealthCheckInProgress",
    Node.RUNNING: "Running",
    Node.ILL: "Failure",
    Node.REBOOTING: "Pending",
    Node.EXAMINED: "DeepHealthCheckInProgress",
    Node.PATCHING: "SystemUpdating",
    Node.RECONFIGURING: "SystemUpdating",
    Node.UNPATCHED: "Failure",
    Node.VACATING: "ShuttingDown",
    Node.DETACHING: "DetachInProgress",
    Node.ATTACHING: "AttachInProgress",
    Node.TERMINATING: "ShuttingDown",
    Node.STUCK: "Failure",
    Node.GONE: "NotFound",
}


def vendor_status(node: Node) -> str:
    """The value of `ClusterInstanceStatus`."""
    return _VENDOR[node]


PATCHED = (Node.PATCHING, Node.RECONFIGURING)
_UP = (Node.RUNNING, Node.ILL, Node.REBOOTING, Node.EXAMINED, *PATCHED, Node.UNPATCHED)
_STOPPABLE = (Node.LAUNCHING, Node.BOOTING, Node.CONFIGURING, Node.CHECKING, *_UP, Node.VACATING, Node.ATTACHING)
_WITHDRAWABLE = (Node.REQUESTED, Node.FAILED)
_STOP = ("since", "terminate_at")
DEGRADED = "degraded"
"""The stage of a node that does not work as it should, and goes on (FS-11)."""
DETACH = Stage("detach", Node.RUNNING, Node.DETACHING, ("since", "move_at"), clears=("move_at",))
"""Fired by the request that moves the node, together with what it changes elsewhere; so there is no stop from
Detaching: the node is as good as gone."""

STAGES = (
    *(Stage(f"stop-{source.lower()}", source, Node.TERMINATING, _STOP) for source in _STOPPABLE),
    *(Stage(f"withdraw-{source.lower()}", source, Node.GONE, _STOP) for source in _WITHDRAWABLE),
    Stage("failure-recorded", Node.FAILED, Node.FAILED, ("echo_at",), "second", clears=("echo_at",)),
    Stage("launch-failed", Node.LAUNCHING, Node.FAILED, ("since", "launch_fault_at"), "launch"),
    Stage("launched", Node.LAUNCHING, Node.BOOTING, delay="launch"),
    Stage("unhealthy", Node.BOOTING, Node.FAILED, ("since", "boot_after", "unhealthy_at"), "boot"),
    Stage("booted-to-script", Node.BOOTING, Node.CONFIGURING, ("since", "boot_after", "script_at"), "boot"),
    Stage("booted-to-check", Node.BOOTING, Node.CHECKING, ("since", "boot_after", "deep_check_at"), "boot"),
    Stage("booted", Node.BOOTING, Node.RUNNING, ("since", "boot_after"), "boot"),
    Stage("script-failed", Node.CONFIGURING, Node.FAILED, ("since", "script_fault_at"), "script"),
    Stage("script-timed-out", Node.CONFIGURING, Node.FAILED, ("since", "script_hang_at"), "script_timeout"),
    Stage(
        "configured-to-check",
        Node.CONFIGURING,
        Node.CHECKING,
        ("since", "script_returns_at", "deep_check_at"),
        "script",
    ),
    Stage("configured", Node.CONFIGURING, Node.RUNNING, ("since", "script_returns_at"), "script"),
    Stage("check-failed", Node.CHECKING, Node.FAILED, ("since", "check_fault_at"), "deep_check"),
    Stage("checked", Node.CHECKING, Node.RUNNING, delay="deep_check"),
    *(Stage(f"replace-{source.lower()}", source, Node.VACATING, ("since", "replace_at")) for source in _UP),
    *(
        Stage(f"reboot-{source.lower()}", source, Node.REBOOTING, ("since", "reboot_at"), clears=("reboot_at",))
        for source in (Node.RUNNING, Node.ILL, Node.UNPATCHED)
    ),
    *(
        Stage(name, source, Node.ILL, ("since", "hardware_fault_at"), "detect")
        for name, source in (("fell-ill", Node.RUNNING), *((f"fell-ill-{one.lower()}", one) for one in PATCHED))
    ),
    Stage(DEGRADED, Node.RUNNING, Node.RUNNING, ("since", "degraded_at"), "detect", clears=("degraded_at",)),
    *(
        Stage(f"patch-{one.lower()}", one, Node.PATCHING, ("since", "patch_at"), clears=("patch_at",))
        for one in (Node.RUNNING, Node.UNPATCHED)
    ),
    Stage("patched-to-script", Node.PATCHING, Node.RECONFIGURING, ("since", "script_at"), "patch"),
    Stage("patched", Node.PATCHING, Node.RUNNING, delay="patch"),
    Stage("patch-script-failed", Node.RECONFIGURING, Node.UNPATCHED, ("since", "script_fault_at"), "script"),
    Stage("patch-script-timed-out", Node.RECONFIGURING, Node.UNPATCHED, ("since", "script_hang_at"), "script_timeout"),
    Stage("reconfigured", Node.RECONFIGURING, Node.RUNNING, ("since", "script_returns_at"), "script"),
    Stage(
        "patch-retried", Node.UNPATCHED, Node.RECONFIGURING, ("since", "retry_at"), "patch_retry", clears=("retry_at",)
    ),
    DETACH,
    Stage("detached", Node.DETACHING, Node.GONE, delay="move_out"),
    Stage("attached-to-script", Node.ATTACHING, Node.CONFIGURING, ("since", "script_at"), "move_in"),
    Stage("attached-to-check", Node.ATTACHING, Node.CHECKING, ("since", "deep_check_at"), "move_in"),
    Stage("attached", Node.ATTACHING, Node.RUNNING, delay="move_in"),
    Stage("examine", Node.RUNNING, Node.EXAMINED, ("since", "examine_at"), clears=("examine_at",)),
    Stage("examination-failed", Node.EXAMINED, Node.ILL, ("since", "check_fault_at"), "deep_check"),
    Stage("examined", Node.EXAMINED, Node.RUNNING, delay="deep_check"),
    Stage("reboot-failed", Node.REBOOTING, Node.ILL, ("since", "reboot_fault_at"), "reboot"),
    Stage("rebooted", Node.REBOOTING, Node.RUNNING, delay="reboot"),
    Stage("vacating-failed", Node.VACATING, Node.STUCK, ("since", "terminate_fault_at"), "shutdown"),
    Stage("vacated", Node.VACATING, Node.REQUESTED, delay="shutdown", clears=("replace_at",)),
    Stage("termination-failed", Node.TERMINATING, Node.STUCK, ("since", "terminate_fault_at"), "shutdown"),
    Stage("terminated", Node.TERMINATING, Node.GONE, delay="shutdown"),
    Stage("termination-retried", Node.STUCK, Node.TERMINATING, _STOP, "stuck"),
    Stage("vacating-retried", Node.STUCK, Node.VACATING, ("since", "replace_at"), "stuck"),
)
TABLE = table(STAGES)

LAUNCHABLE = frozenset(_WITHDRAWABLE)
COUNTED = frozenset(_UP)
"""CurrentCount counts what has reached Running and has not begun to terminate (HP-6)."""
UNHEALTHY = frozenset((Node.ILL, Node.UNPATCHED))
"""An instance that is there and does not work as it should."""
BILLED = frozenset((Node.CONFIGURING, Node.CHECKING, *_UP, Node.DETACHING, Node.ATTACHING))
