"""Why a node leaves Running, as the record of the workloads on it says (FS-4)."""

from collections.abc import Mapping

from app.core.cluster import Cluster, Group
from app.core.scheduling.decisions import Code

_BY_STAGE: Mapping[str, Code] = {
    "reboot-running": Code.REBOOTED,
    "replace-running": Code.REPLACED,
    "patch-running": Code.SOFTWARE_UPDATE,
    "examine": Code.HEALTH_CHECK,
    "fell-ill": Code.NODE_FAILED,
}


def reason(stage: str, cluster: Cluster, group: Group | None) -> Code:
    """The code of a stage that led out of Running: what the cluster's owner did, or that the node broke."""
    if stage == "stop-running":
        going = cluster.delete_requested_at is not None or group is None or group.delete_requested_at is not None
        return Code.DELETED if going else Code.SCALED_DOWN
    return _BY_STAGE.get(stage, Code.NODE_GONE)
