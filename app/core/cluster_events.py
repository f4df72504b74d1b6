"""The catalogue of cluster events: what each says, on what, and how serious it is (HP-26).

Texts follow AWS's cluster events reference. `{cluster}`, `{group}` and `{instance}` are filled from the event, the
other fields from its parameters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.times import WorldTime

CLUSTER, GROUP, INSTANCE = "Cluster", "InstanceGroup", "Instance"


@dataclass(frozen=True, slots=True)
class EventKind:
    """A row of the catalogue."""

    resource: str
    level: str
    text: str


KINDS: Mapping[str, EventKind] = {
    "cluster-started": EventKind(CLUSTER, "Info", "Cluster {cluster} {operation} started successfully"),
    "cluster-completed": EventKind(CLUSTER, "Info", "Cluster {cluster} {operation} completed successfully"),
    "cluster-failed": EventKind(CLUSTER, "Error", "Cluster {cluster} {operation} failed"),
    "cluster-not-ready": EventKind(
        CLUSTER,
        "Error",
        "Cluster creation failed: controller and login nodes did not become ready within the expected time",
    ),
    "munge-key": EventKind(CLUSTER, "Info", "Successfully created and stored munge key"),
    "slurm-reconfigured": EventKind(
        CLUSTER, "Info", "Slurm was reconfigured successfully. Slurm config updated to match desired state"
    ),
    "group-started": EventKind(
        GROUP, "Info", "InstanceGroup {group} {operation} started successfully in Cluster {cluster}"
    ),
    "group-completed": EventKind(
        GROUP, "Info", "Instance Group {group} {operation} in Cluster {cluster} completed successfully"
    ),
    "subnet-found": EventKind(
        GROUP,
        "Info",
        "Found Subnet {subnet} in AZ {zone} with SecurityGroupIds {security_groups} for IG {group} "
        "in Cluster {cluster}",
    ),
    "platform-network": EventKind(
        GROUP,
        "Info",
        "Using HyperPod Platform provided network configuration for IG {group} in Cluster {cluster}",
    ),
    "network-determined": EventKind(
        GROUP,
        "Info",
        "Instance Group network configuration successfully determined for IG {group} in Cluster {cluster}",
    ),
    "ami-found": EventKind(GROUP, "Info", "Found Custom AMI Override {ami} for IG {group} in Cluster {cluster}"),
    "minimum-reached": EventKind(
        GROUP, "Info", "Minimum capacity of {minimum} instances reached for IG {group} in Cluster {cluster}"
    ),
    "rollback-initiated": EventKind(
        GROUP,
        "Warn",
        "Minimum capacity of {minimum} instances was not reached within 3 hours for IG {group} in Cluster {cluster}. "
        "Rollback initiated",
    ),
    "instance-started": EventKind(
        INSTANCE, "Info", "Instance {operation} started successfully in Cluster {cluster} and IG {group}"
    ),
    "no-reservation": EventKind(
        INSTANCE,
        "Info",
        "No CapacityReservation found for Cluster {cluster} and IG {group}, using on-demand pool",
    ),
    "reservation-found": EventKind(
        INSTANCE,
        "Info",
        "Found CapacityReservation ID {reservation} for Cluster {cluster} and IG {group}, using reserved capacity",
    ),
    "eni-created": EventKind(
        INSTANCE, "Info", "Successfully created Customer ENI for instance in Cluster {cluster} and IG {group}"
    ),
    "provisioned": EventKind(
        INSTANCE,
        "Info",
        "EC2 Instance {instance} successfully provisioned in Cluster {cluster} and IG {group}",
    ),
    "provision-failed": EventKind(
        INSTANCE, "Error", "Failed to provision EC2 Instance in Cluster {cluster} and IG {group}"
    ),
    "creation-failed": EventKind(
        INSTANCE, "Error", "Instance creation in Cluster {cluster} and InstanceGroup {group} failed"
    ),
    "script-started": EventKind(
        INSTANCE, "Info", "Instance lifecycle script execution for EC2 Instance {instance} has Started"
    ),
    "script-succeeded": EventKind(
        INSTANCE, "Info", "Instance lifecycle script execution for EC2 Instance {instance} has Succeeded"
    ),
    "script-failed": EventKind(
        INSTANCE,
        "Error",
        "Instance lifecycle script execution for EC2 Instance {instance} has Failed. To view lifecycle script logs, "
        "visit log group /aws/sagemaker/Clusters/{cluster}/{cluster_id} and log stream "
        "LifecycleConfig/{group}/{instance}",
    ),
    "unused-eni-deleted": EventKind(
        INSTANCE,
        "Info",
        "Successfully deleted unused Customer ENIs for EC2 Instance {instance} in Cluster {cluster} and IG {group}",
    ),
    "terminating": EventKind(
        INSTANCE,
        "Info",
        "Termination of EC2 Instance {instance} is currently in progress in Cluster {cluster} and IG {group}",
    ),
    "termination-failed": EventKind(
        INSTANCE, "Error", "Failed to terminate EC2 Instance {instance} in Cluster {cluster} and IG {group}"
    ),
    "reboot-started": EventKind(
        INSTANCE,
        "Info",
        "Reboot of EC2 Instance {instance} is currently in progress on Cluster {cluster} and IG {group}",
    ),
    "instance-failed": EventKind(
        INSTANCE, "Error", "Instance {operation} {instance} in Cluster {cluster} and IG {group} failed"
    ),
    "replacement-started": EventKind(
        INSTANCE,
        "Info",
        "Instance {instance} is starting as part of instance replacement in Cluster {cluster} and IG {group}",
    ),
    "replacement-completed": EventKind(
        INSTANCE,
        "Info",
        "Instance {instance} {operation} completed successfully as part of instance replacement in Cluster {cluster} "
        "and IG {group}",
    ),
    "replacement-failed": EventKind(
        INSTANCE,
        "Error",
        "Instance {instance} {operation} failed as part of instance replacement in Cluster {cluster} and IG {group}",
    ),
    "eni-deleted": EventKind(
        INSTANCE,
        "Info",
        "Customer ENI successfully deleted for EC2 Instance {instance} in Cluster {cluster} and IG {group}",
    ),
    "patching-scheduled": EventKind(
        GROUP,
        "Info",
        "InstanceGroup {group} in Cluster {cluster} has been scheduled for UpdateClusterSoftware to latest.",
    ),
    "patching-schedule-failed": EventKind(
        GROUP, "Error", "Failed to schedule UpdateClusterSoftware for IG {group} in Cluster {cluster}."
    ),
    "patching-started": EventKind(
        GROUP, "Info", "UpdateClusterSoftware initiated for IG {group} in Cluster {cluster} using {strategy} strategy."
    ),
    "batch-selected": EventKind(GROUP, "Info", "Next update batch selected for IG {group} in Cluster {cluster}."),
    "failed-queued": EventKind(
        GROUP, "Warn", "Failed instances in IG {group} in Cluster {cluster} queued for node replacement."
    ),
    "patching-completed": EventKind(
        GROUP, "Info", "UpdateClusterSoftware completed successfully for IG {group} in Cluster {cluster}."
    ),
    "patching-failed": EventKind(
        GROUP, "Error", "Failed to complete UpdateClusterSoftware for IG {group} in Cluster {cluster}."
    ),
    "patching-rollback": EventKind(
        GROUP, "Warn", "UpdateClusterSoftware failed for IG {group} in Cluster {cluster}. Initiating rollback."
    ),
    "bake-started": EventKind(
        GROUP,
        "Info",
        "Baking period started for IG {group} in Cluster {cluster}. Monitoring alarms {alarms} for {seconds} seconds.",
    ),
    "bake-completed": EventKind(
        GROUP,
        "Info",
        "Baking period completed for IG {group} in Cluster {cluster}. Monitored alarms {alarms}.",
    ),
    "bake-failed": EventKind(
        GROUP,
        "Error",
        "Baking period failed for IG {group} in Cluster {cluster}. Alarms {alarms} entered ALARM state. Initiating "
        "auto-rollback.",
    ),
    "root-volume-started": EventKind(
        INSTANCE, "Info", "Root volume replacement started for Instance {instance} in IG {group}."
    ),
    "patched": EventKind(INSTANCE, "Info", "Instance {instance} in IG {group} updated successfully."),
    "node-update-failed": EventKind(
        INSTANCE, "Error", "Instance {instance} in IG {group} failed to update. Rollback initiated."
    ),
    "rolled-back": EventKind(
        INSTANCE, "Info", "Instance {instance} in IG {group} rolled back successfully to previous AMI."
    ),
    "instance-completed": EventKind(
        INSTANCE,
        "Info",
        "Instance {operation} {instance} in Cluster {cluster} and IG {group} completed successfully",
    ),
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a cluster. `params` hold the catalogue's other fields and the metadata."""

    kind: str
    at: WorldTime
    group: str | None = None
    instance_id: str | None = None
    logical_id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def description(event: Event, cluster: str, cluster_id: str) -> str:
    """The event's text in AWS's words."""
    shown = {name: _listed(value) for name, value in event.params.items()}
    return KINDS[event.kind].text.format(
        cluster=cluster, cluster_id=cluster_id, group=event.group, instance=event.instance_id, **shown
    )


def _listed(value: Any) -> Any:
    """A list as AWS writes one: bracketed, with commas (the form in this text is not published)."""
    return f"[{', '.join(value)}]" if isinstance(value, list | tuple) else value
