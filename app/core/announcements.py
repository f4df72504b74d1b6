"""What the outside is told of a cluster, in the words of EventBridge (HP-28).

Times inside a detail are epoch milliseconds; the envelope's own is ISO 8601 without a fraction.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from app.core.chance import digest
from app.core.cluster import Cluster, Group, cluster_status, group_status
from app.core.health import Health
from app.core.ids import cluster_arn, uuid_of
from app.core.times import WorldTime, to_iso, to_millis

SOURCE = "aws.sagemaker"
CLUSTER_EVENT = "SageMaker HyperPod Cluster Event"
STATE_CHANGE = "SageMaker HyperPod Cluster State Change"
NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
OWN_SOURCE = "windtunnel.scheduler"
SESSION_WARNING = "Windtunnel Session Warning"
PREEMPTION = "Windtunnel Workload Preemption"
HOST_DRAINED = "Windtunnel Host Drained"
OWN_TYPES = (SESSION_WARNING, PREEMPTION, HOST_DRAINED)
"""What AWS does not send: the scheduler's own."""
DETAIL_TYPES = (CLUSTER_EVENT, STATE_CHANGE, NODE_HEALTH, *OWN_TYPES)
UNION = ("Cluster", "InstanceGroup", "InstanceGroupScaling", "Instance", "InstanceMonitor", "InstanceHealth")
"""The keys of `EventMetadata` as EventBridge delivers it: two more than the model has."""
_SHOWN = (
    "ExecutionRole",
    "InstanceStorageConfigs",
    "InstanceType",
    "LifeCycleConfig",
    "OnStartDeepHealthChecks",
    "OverrideVpcConfig",
    "ThreadsPerCore",
    "TrainingPlanArn",
)

Message = tuple[str, Mapping[str, Any]]
"""A detail type and its detail."""


def state_change(cluster: Cluster, groups: Iterable[Group]) -> Message:
    """The cluster's new status, with its configuration, as AWS's sample has it."""
    spec = cluster.spec
    detail: dict[str, Any] = {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster_status(cluster),
        "CreationTime": to_millis(cluster.created_at),
        "FailureMessage": cluster.failure_message or "",
        "InstanceGroups": [_group(cluster, group) for group in groups],
    }
    kept = {key: spec[key] for key in ("NodeRecovery", "Orchestrator", "VpcConfig") if key in spec}
    return STATE_CHANGE, detail | kept


def _group(cluster: Cluster, group: Group) -> dict[str, Any]:
    request: Mapping[str, Any] = group.spec.get("request", {})
    return {
        "InstanceGroupName": group.name,
        "Status": group_status(cluster, group),
        "CurrentCount": group.current,
        "TargetCount": group.target,
    } | {key: request[key] for key in _SHOWN if key in request}


def node_health(cluster: Cluster, told: Health) -> Message:
    """The health monitoring's word on a node of the cluster."""
    return NODE_HEALTH, {
        "ClusterName": cluster.name,
        "ClusterArn": cluster.arn,
        "InstanceId": told.instance_id,
        "Tags": {},
        "HealthSummary": {
            "HealthStatus": told.status,
            "HealthStatusReason": told.reason,
            "RepairAction": told.action,
            "Recommendation": _recommendation(told),
        },
    }


def _recommendation(told: Health) -> str:
    """AWS's words where nothing is repaired; its words for a node that is are not published."""
    if told.status == "Unhealthy" and told.action == "None":
        return "Please Replace the Faulty Node."
    return "None"


def envelope(
    envelope_id: str, detail_type: str, at: WorldTime, arn: str, detail: Mapping[str, Any], source: str = ""
) -> dict[str, Any]:
    """What EventBridge puts around a detail about the resource `arn`; the source is AWS's, or ours of our types."""
    _, _, _, region, account, _ = arn.split(":", 5)
    return {
        "version": "0",
        "id": envelope_id,
        "detail-type": detail_type,
        "source": source or (OWN_SOURCE if detail_type in OWN_TYPES else SOURCE),
        "account": account,
        "time": to_iso(at)[:-5] + "Z",
        "region": region,
        "resources": [arn],
        "detail": detail,
    }


def envelope_id(seed: int, account: str, region: str, cluster_id: str, seq: str) -> str:
    """The envelope's own UUID, which is never the EventId. `seq` numbers what it tells within its cluster."""
    return uuid_of(digest(seed, f"{account}/{region}/{cluster_id}/{seq}", "envelope-id", 16))


def arn_of(account: str, region: str, cluster_id: str) -> str:
    """The cluster's ARN."""
    return cluster_arn(region, account, cluster_id)
