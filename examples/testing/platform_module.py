"""A platform team's module: one HyperPod cluster for training, with boto3 and nothing else."""

from dataclasses import dataclass
from typing import Any

WORKERS = "workers"


class PlatformFailed(Exception):
    """The cluster cannot be used; the text is the service's."""


@dataclass(frozen=True)
class Platform:
    """What the team wants."""

    name: str
    workers: int
    instance_type: str = "ml.p5.48xlarge"
    minimum: int = 0
    role: str = "arn:aws:iam::111122223333:role/hyperpod"
    scripts: str = "s3://amzn-s3-demo-bucket/lifecycle"

    def groups(self) -> list[dict[str, Any]]:
        """The instance groups of a request."""
        script = {"LifeCycleConfig": {"SourceS3Uri": self.scripts, "OnCreate": "on_create.sh"}}
        common = {"ExecutionRole": self.role, **script}
        return [
            {
                "InstanceGroupName": "controller",
                "InstanceType": "ml.c5.xlarge",
                "InstanceCount": 1,
                "SlurmConfig": {"NodeType": "Controller"},
                **common,
            },
            {
                "InstanceGroupName": WORKERS,
                "InstanceType": self.instance_type,
                "InstanceCount": self.workers,
                "MinInstanceCount": self.minimum,
                "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
                **common,
            },
        ]


def ensure(sagemaker: Any, wanted: Platform) -> None:
    """Make the cluster, or bring it to what is wanted; it is on its way when this returns."""
    try:
        sagemaker.describe_cluster(ClusterName=wanted.name)
    except sagemaker.exceptions.ResourceNotFound:
        sagemaker.create_cluster(
            ClusterName=wanted.name,
            NodeProvisioningMode="Continuous",
            NodeRecovery="None",  # `heal` decides
            InstanceGroups=wanted.groups(),
        )
        return
    sagemaker.update_cluster(ClusterName=wanted.name, InstanceGroups=wanted.groups())


def is_ready(sagemaker: Any, name: str) -> bool:
    """Every group has all its nodes. Raises PlatformFailed."""
    cluster = sagemaker.describe_cluster(ClusterName=name)
    if cluster["ClusterStatus"] == "Failed":
        raise PlatformFailed(cluster.get("FailureMessage", "no reason was given"))
    counts = [(group["CurrentCount"], group["TargetCount"]) for group in cluster["InstanceGroups"]]
    return cluster["ClusterStatus"] == "InService" and all(current == target for current, target in counts)


def nodes(sagemaker: Any, name: str) -> dict[str, str]:
    """The status of each worker, by instance id."""
    pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=name, InstanceGroupNameContains=WORKERS)
    found = (node for page in pages for node in page["ClusterNodeSummaries"])
    return {node["InstanceId"]: node["InstanceStatus"]["Status"] for node in found}


def heal(sagemaker: Any, name: str) -> list[str]:
    """Replace the workers that have failed; their instance ids."""
    broken = sorted(node for node, status in nodes(sagemaker, name).items() if status == "Failure")
    if broken:
        sagemaker.batch_replace_cluster_nodes(ClusterName=name, NodeIds=broken)
    return broken
