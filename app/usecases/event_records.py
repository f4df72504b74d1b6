"""A cluster event as AWS records it: for the operations that list events, and for the outside (HP-26, HP-28)."""

from collections.abc import Mapping
from typing import Any, Protocol

from app import catalog
from app.core import ids
from app.core.cluster_events import CLUSTER, GROUP, KINDS, Event, description

_LIFECYCLE_STATE = {"script-started": "Started", "script-succeeded": "Succeeded", "script-failed": "Failed"}


class Named(Protocol):
    """A cluster, as far as its events name it."""

    @property
    def cluster_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arn(self) -> str: ...


def event_summary(cluster: Named, seq: int, event: Event, seed: int) -> dict[str, Any]:
    """A member of ListClusterEvents' Events."""
    kind = KINDS[event.kind]
    return {
        "EventId": ids.event_id(seed, cluster.cluster_id, seq),
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "InstanceGroupName": event.group,
        "InstanceId": event.instance_id,
        "ResourceType": kind.resource,
        "EventTime": event.at,
        "Description": description(event, cluster.name, cluster.cluster_id),
        "EventLevel": kind.level,
    }


def event_details(cluster: Named, seq: int, event: Event, seed: int) -> dict[str, Any]:
    """The EventDetails of DescribeClusterEvent."""
    told = metadata(event, seed)
    details = {"EventMetadata": told} if told else None
    return {**event_summary(cluster, seq, event, seed), "EventDetails": details}


def metadata(event: Event, seed: int) -> dict[str, Any]:
    """The one member of `EventMetadata` that says more of the event; empty where there is nothing to say."""
    resource, params = KINDS[event.kind].resource, event.params
    if resource == CLUSTER:
        return {"Cluster": {"FailureMessage": params["failure"]}} if "failure" in params else {}
    if resource == GROUP:
        return _group_metadata(params)
    facts = {
        "CustomerEni": ids.network_interface_id(seed, event.instance_id or "") if event.kind == "eni-created" else None,
        "CapacityReservation": {"Arn": params["reservation_arn"]} if "reservation_arn" in params else None,
        "FailureMessage": params.get("failure"),
        "LcsExecutionState": _LIFECYCLE_STATE.get(event.kind),
        "NodeLogicalId": event.logical_id,
    }
    return {"Instance": facts}


def _group_metadata(params: Mapping[str, Any]) -> dict[str, Any]:
    if "subnet" in params:
        zones = {zone.name: zone.id for zone in catalog.zones(params["zone"][:-1])}
        network = {"SubnetId": params["subnet"], "SecurityGroupIds": params["security_groups"]}
        return {"InstanceGroup": {**network, "AvailabilityZoneId": zones.get(params["zone"])}}
    if "ami" in params:
        return {"InstanceGroup": {"AmiOverride": params["ami"]}}
    counts = {"InstanceCount": params["current"], "TargetCount": params["target"], "MinCount": params["min"]}
    return {"InstanceGroupScaling": {**counts, "FailureMessage": params.get("failure")}}
