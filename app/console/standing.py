"""How clusters, groups and nodes stand, as words, colours, letters and shapes: the same on every page."""

from app.core.node import Node

_NODES: dict[Node, tuple[str, str]] = {
    Node.REQUESTED: ("wait", "P"),
    Node.LAUNCHING: ("wait", "L"),
    Node.BOOTING: ("wait", "B"),
    Node.CONFIGURING: ("wait", "C"),
    Node.ATTACHING: ("wait", "A"),
    Node.RUNNING: ("ok", "R"),
    Node.CHECKING: ("busy", "H"),
    Node.EXAMINED: ("busy", "E"),
    Node.REBOOTING: ("busy", "O"),
    Node.PATCHING: ("busy", "U"),
    Node.RECONFIGURING: ("busy", "U"),
    Node.VACATING: ("warn", "V"),
    Node.DETACHING: ("warn", "D"),
    Node.TERMINATING: ("warn", "T"),
    Node.GONE: ("warn", "G"),
    Node.FAILED: ("bad", "F"),
    Node.ILL: ("bad", "I"),
    Node.UNPATCHED: ("bad", "X"),
    Node.STUCK: ("bad", "S"),
}
_STATUSES = {
    "InService": "ok",
    "Creating": "wait",
    "Updating": "busy",
    "SystemUpdating": "busy",
    "Deleting": "warn",
    "RollingBack": "warn",
    "Degraded": "warn",
    "Failed": "bad",
}
LEVELS = {"Info": "plain", "Warn": "warn", "Error": "bad"}
MEANINGS = {
    "ok": "runs",
    "wait": "on its way",
    "busy": "checked, rebooted or updated",
    "warn": "on its way out",
    "bad": "failed or unhealthy",
}


def kind_of(node: Node) -> str:
    """The colour and shape of a node."""
    return _NODES[node][0]


def letter_of(node: Node) -> str:
    """The letter of a node."""
    return _NODES[node][1]


def kind_of_status(status: str) -> str:
    """The colour of a cluster's or a group's status."""
    return _STATUSES.get(status, "")
