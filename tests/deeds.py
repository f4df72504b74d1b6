"""All that a client can do to a world, drawn from a seed: for tests that ask whether anything at all goes wrong.

What a deed does depends on the draw and on what the world answers, so that equal worlds get equal requests.
"""

import random
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from tests.kit import TestWorld, eks, group, slurm, workers
from tests.plans import P5, search

G5 = "ml.g5.xlarge"
EKS = ("demo-0", "demo-1")
SLURM = "slurm"
CLUSTERS = (*EKS, SLURM)
ALARM = "loss"
EVERYWHERE = {
    "OverrideVpcConfig": {
        "SecurityGroupIds": ["sg-12345678"],
        "Subnets": [f"subnet-0000000{number}" for number in range(8)],
    }
}
"""Subnets in every zone, so that one lies where a training plan's machines are."""
EFFECTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("launch-transient", {}),
    ("launch-unhealthy", {}),
    ("script-failed", {}),
    ("script-failed", {"operation": "UpdateClusterSoftware"}),
    ("script-hang", {}),
    ("boot-slow", {"seconds": 100}),
    ("node-hardware", {"code": "Xid-74"}),
    ("node-hardware", {"code": "Xid-73", "seconds": 40}),
    ("node-hardware", {"operation": "StartClusterHealthCheck"}),
    ("node-degraded", {"code": "Xid-74"}),
    ("reboot-failed", {}),
    ("terminate-failed", {}),
    ("internal-error", {"operation": "UpdateClusterExtension"}),
    ("internal-error", {"operation": "CreateComputeQuota"}),
    ("internal-error", {"operation": "BatchRebootClusterNodes"}),
    ("internal-error", {"operation": "ExtendTrainingPlan"}),
)


class Broken(AssertionError):
    """An answer that no request should get."""


class Deeds:
    """A client that does one thing after another; refusals are part of it, 5xx are not."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        self.world, self.draw = world, random.Random(seed)
        self.sagemaker = world.client()
        self.arns: dict[str, str] = {}
        self.tried: dict[str, int] = {}
        self.done: dict[str, int] = {}
        self.why: list[str] = []

    def begin(self) -> None:
        """Two EKS clusters, one on Slurm, and scarce machines."""
        self.world.capacity(P5, 12)
        self.world.capacity(G5, 9)
        for name in CLUSTERS:
            self.create(name)

    def do(self, verb: str) -> None:
        """Do it; refusals are counted."""
        self.tried[verb] = self.tried.get(verb, 0) + 1
        try:
            getattr(self, verb)(self.draw.choice(CLUSTERS))
            self.done[verb] = self.done.get(verb, 0) + 1
        except ClientError as refused:
            status = refused.response["ResponseMetadata"]["HTTPStatusCode"]
            if status >= 500:
                raise Broken(f"{verb}: {refused}") from refused
            self.why.append(f"{verb}: {refused}")

    def control(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self.world.http.request(method, f"{self.world.endpoint}/_windtunnel/{path}", json=body)
        if answer.status_code >= 500:
            raise Broken(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def nodes(self, name: str, most: int = 2, **which: Any) -> list[dict[str, Any]]:
        found = self.sagemaker.list_cluster_nodes(ClusterName=name, MaxResults=100, **which)["ClusterNodeSummaries"]
        return self.draw.sample(found, min(self.draw.randint(1, most), len(found)))

    def ids(self, name: str, **which: Any) -> list[str]:
        """Of some nodes; where there is none, of one that never was."""
        return [node["InstanceId"] for node in self.nodes(name, **which)] or ["i-0123456789abcdef0"]

    def arn(self, name: str) -> str:
        return str(self.sagemaker.describe_cluster(ClusterName=name)["ClusterArn"])

    def groups(self, name: str) -> list[dict[str, Any]]:
        """What the cluster's groups might be wanted to be."""
        gpus, small = self.draw.randrange(7), self.draw.randrange(5)
        if name == SLURM:
            kind = {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}}
            return [workers(gpus, "gpus"), group("small", small, InstanceType=G5, **kind)]
        minimum = {"MinInstanceCount": 1} if gpus and self.draw.random() < 0.2 else {}
        return [group("gpus", gpus, InstanceType=P5, **minimum), group("small", small, InstanceType=G5)]

    def create(self, name: str) -> None:
        wanted = self.groups(name)
        request = slurm(*wanted, name=name) if name == SLURM else eks(*wanted, name=name)
        self.sagemaker.create_cluster(**request)

    def scale(self, name: str) -> None:
        recovery = {"NodeRecovery": self.draw.choice(("Automatic", "None"))} if self.draw.random() < 0.2 else {}
        self.sagemaker.update_cluster(ClusterName=name, InstanceGroups=self.groups(name), **recovery)

    def add(self, name: str) -> None:
        items = [{"InstanceGroupName": "gpus", "IncrementTargetCountBy": self.draw.randint(1, 3)}]
        self.sagemaker.batch_add_cluster_nodes(ClusterName=name, NodesToAdd=items)

    def remove(self, name: str) -> None:
        self.sagemaker.batch_delete_cluster_nodes(ClusterName=name, NodeIds=self.ids(name))

    def delete(self, name: str) -> None:
        if self.draw.random() < 0.1:
            self.sagemaker.delete_cluster(ClusterName=name)
        else:
            self.create(name)

    def reboot(self, name: str) -> None:
        self.sagemaker.batch_reboot_cluster_nodes(ClusterName=name, NodeIds=self.ids(name))

    def replace(self, name: str) -> None:
        self.sagemaker.batch_replace_cluster_nodes(ClusterName=name, NodeIds=self.ids(name))

    def examine(self, name: str) -> None:
        checks = [{"InstanceGroupName": "gpus", "DeepHealthChecks": ["InstanceStress"]}]
        self.sagemaker.start_cluster_health_check(ClusterName=name, DeepHealthCheckConfigurations=checks)

    def patch(self, name: str) -> None:
        version = f"1.{self.draw.randint(2, 9)}.0"
        self.control("POST", "images", {"version": version})
        policy = {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": self.draw.randint(1, 3)}}
        config: dict[str, Any] = {"RollingUpdatePolicy": policy, "WaitIntervalInSeconds": self.draw.choice((0, 60))}
        config |= {"AutoRollbackConfiguration": [{"AlarmName": ALARM}]}
        how = {"DeploymentConfig": config} if self.draw.random() < 0.7 else {}
        self.sagemaker.update_cluster_software(ClusterName=name, **how)

    def alarm(self, _: str) -> None:
        self.control("POST", "alarms", {"name": ALARM, "state": self.draw.choice(("ALARM", "OK", "OK"))})

    def move(self, _: str) -> None:
        source, target = self.draw.choice((EKS, EKS, EKS[::-1], EKS[::-1], (EKS[0], EKS[0])))
        ends = {"SourceClusterArn": self.arn(source), "TargetClusterArn": self.arn(target)}
        names = ("gpus", "small") if source == target else self.draw.choice((("gpus", "gpus"), ("small", "small")))
        ends |= {"SourceInstanceGroupName": names[0], "TargetInstanceGroupName": names[1]}
        which = (
            {"InstanceCount": 1}
            if self.draw.random() < 0.5
            else {"NodeIds": self.ids(source, InstanceGroupNameContains=names[0])}
        )
        self.sagemaker.move_cluster_nodes(**ends, **which)

    def volume(self, _: str) -> None:
        name = self.draw.choice(EKS)
        what = {"ClusterArn": self.arn(name), "VolumeId": f"vol-0000000000000000{self.draw.randrange(4)}"}
        call = self.draw.choice((self.sagemaker.attach_cluster_node_volume, self.sagemaker.detach_cluster_node_volume))
        call(NodeId=self.ids(name)[0], **what)

    def interface(self, name: str) -> None:
        interface = f"eni-0000000000000000{self.draw.randrange(4)}"
        for node in self.nodes(name, 1):
            self.sagemaker.attach_cluster_node_network_interface(
                ClusterName=name, NodeId=node["InstanceId"], NetworkInterfaceId=interface
            )

    def extension(self, _: str) -> None:
        arn = self.arn(SLURM)
        for one in self.sagemaker.list_cluster_extensions(ClusterArn=arn)["Extensions"]:
            which = {"ClusterArn": arn, "ExtensionArn": one["ExtensionArn"]}
            if self.draw.random() < 0.5:
                self.sagemaker.delete_cluster_extension(**which)
            else:
                self.sagemaker.update_cluster_extension(**which, ExtensionVersion=f"1.{self.draw.randrange(3)}.0")
            return
        self.sagemaker.create_cluster_extension(ClusterArn=arn, ExtensionName="sagemaker-observability")

    def govern(self, _: str) -> None:
        found = self.sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]
        quotas = [{"InstanceType": P5, "Count": self.draw.randint(1, 9)}]
        if found and self.draw.random() < 0.7:
            one = self.draw.choice(found)
            if self.draw.random() < 0.4:
                self.sagemaker.delete_compute_quota(ComputeQuotaId=one["ComputeQuotaId"])
                return
            self.sagemaker.update_compute_quota(
                ComputeQuotaId=one["ComputeQuotaId"],
                TargetVersion=one["ComputeQuotaVersion"],
                ComputeQuotaConfig={"ComputeQuotaResources": quotas},
            )
            return
        team = f"team-{self.draw.randrange(3)}"
        self.sagemaker.create_compute_quota(
            Name=team,
            ClusterArn=self.arn(self.draw.choice(EKS)),
            ComputeQuotaConfig={"ComputeQuotaResources": quotas},
            ComputeQuotaTarget={"TeamName": team},
        )

    def buy(self, _: str) -> None:
        for offer in search(self.sagemaker, count=2, hours=self.draw.choice((11, 24)))[:1]:
            self.sagemaker.create_training_plan(
                TrainingPlanName=f"plan-{self.draw.randrange(3)}",
                TrainingPlanOfferingId=offer["TrainingPlanOfferingId"],
            )

    def extend(self, _: str) -> None:
        plans = self.sagemaker.list_training_plans(SortBy="StartTime")["TrainingPlanSummaries"]
        for one in self.draw.sample(plans, min(1, len(plans))):
            offers = self.sagemaker.search_training_plan_offerings(
                TrainingPlanArn=one["TrainingPlanArn"], DurationHours=24
            )
            for offer in offers.get("TrainingPlanExtensionOfferings", [])[:1]:
                self.sagemaker.extend_training_plan(
                    TrainingPlanExtensionOfferingId=offer["TrainingPlanExtensionOfferingId"]
                )

    def plan(self, name: str) -> None:
        """A group on a plan comes, or goes."""
        there = {
            one["InstanceGroupName"] for one in self.sagemaker.describe_cluster(ClusterName=name)["InstanceGroups"]
        }
        if "planned" in there and self.draw.random() < 0.3:
            self.sagemaker.update_cluster(ClusterName=name, InstanceGroupsToDelete=["planned"])
            return
        plans = self.sagemaker.list_training_plans(SortBy="StartTime")["TrainingPlanSummaries"]
        for one in self.draw.sample(plans, min(1, len(plans))):
            facts = {"TrainingPlanArn": one["TrainingPlanArn"], "InstanceType": P5} | (
                {} if name == SLURM else EVERYWHERE
            )
            count = self.draw.randint(1, 2)
            wanted = workers(count, "planned", **facts) if name == SLURM else group("planned", count, **facts)
            self.sagemaker.update_cluster(ClusterName=name, InstanceGroups=[wanted])

    def fault(self, _: str) -> None:
        effect, facts = self.draw.choice(EFFECTS)
        often = {"probability": round(0.2 + self.draw.random() / 2, 3), "times": self.draw.randint(1, 6)}
        self.control("POST", "faults", {"effect": effect, **often, **facts})

    def calm(self, _: str) -> None:
        self.control("DELETE", "faults")

    def capacity(self, _: str) -> None:
        self.control("POST", "capacity", {"instance_type": P5, "total": self.draw.randint(6, 14)})

    def price(self, _: str) -> None:
        self.control("POST", "prices", {"instance_type": P5, "micro_usd_per_hour": self.draw.randrange(10**8)})

    def lag(self, _: str) -> None:
        self.control("POST", "lag", {"seconds": self.draw.choice((0, 0, 30, 600))})

    def webhook(self, name: str) -> None:
        """To a port where nobody listens."""
        there = self.control("GET", "webhooks")["webhooks"]
        if there and self.draw.random() < 0.5:
            self.control("DELETE", f"webhooks/{self.draw.choice(there)['id']}")
        else:
            self.control("POST", "webhooks", {"url": "http://127.0.0.1:9/hook", "cluster": name})

    def snapshot(self, _: str) -> None:
        name = f"s-{self.draw.randrange(2)}"
        match self.draw.randrange(4):
            case 0 | 1:
                self.control("POST", "snapshots", {"name": name})
            case 2:
                self.control("POST", f"snapshots/{name}/restore")
            case 3:
                self.control("DELETE", f"snapshots/{name}")


VERBS = (
    *("scale", "add", "remove", "delete", "reboot", "replace", "examine", "patch", "patch", "alarm", "move", "move"),
    *("move", "volume", "interface", "extension", "govern", "buy", "extend", "plan", "plan", "fault", "fault", "calm"),
    *("capacity", "price", "lag"),
)
EVERYTHING = (*VERBS, "webhook", "snapshot")
