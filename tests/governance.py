"""What tests of task governance share: a cluster, requests, and one way to speak to both kinds."""

import re
from dataclasses import dataclass
from typing import Any

from tests.kit import TestWorld, eks, group

PRIORITIES = [{"Name": "train", "Weight": 80}, {"Name": "serve", "Weight": 100}]


@dataclass
class Governed:
    """One kind of resource on the EKS cluster `demo` of a world whose profile needs some time for everything."""

    world: TestWorld
    shape: str
    cluster_arn: str

    def request(self, name: str = "one", **facts: Any) -> dict[str, Any]:
        request: dict[str, Any] = {"Name": name, "ClusterArn": self.cluster_arn}
        if self.shape == "ClusterSchedulerConfig":
            return request | {"SchedulerConfig": {"PriorityClasses": PRIORITIES}} | facts
        resources = [{"InstanceType": "ml.p5.48xlarge", "Count": 2}]
        return (
            request
            | {"ComputeQuotaConfig": {"ComputeQuotaResources": resources}, "ComputeQuotaTarget": {"TeamName": name}}
            | facts
        )

    def __call__(self, verb: str, *, client: Any = None, **request: Any) -> dict[str, Any]:
        word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.shape).lower()
        answer = getattr(client or self.world.sagemaker, f"{verb}_{word}{'s' if verb == 'list' else ''}")(**request)
        return {key: value for key, value in answer.items() if key != "ResponseMetadata"}

    def create(self, name: str = "one", **facts: Any) -> str:
        made = self("create", **self.request(name, **facts))
        assert made[f"{self.shape}Arn"].rpartition("/")[2] == made[f"{self.shape}Id"]
        return str(made[f"{self.shape}Id"])

    def arn(self, resource_id: str) -> str:
        return str(self.describe(resource_id)[f"{self.shape}Arn"])

    def named(self, resource_id: str) -> dict[str, str]:
        return {f"{self.shape}Id": resource_id}

    def describe(self, resource_id: str, version: int | None = None) -> dict[str, Any]:
        which = {} if version is None else {f"{self.shape}Version": version}
        return self("describe", **self.named(resource_id), **which)

    def status(self, resource_id: str) -> str:
        return str(self.describe(resource_id)["Status"])

    def update(self, resource_id: str, target: int = 1, **facts: Any) -> int:
        answer = self("update", **self.named(resource_id), TargetVersion=target, **facts)
        return int(answer[f"{self.shape}Version"])

    def delete(self, resource_id: str) -> None:
        assert self("delete", **self.named(resource_id)) == {}

    def listed(self, **question: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self("list", **question)[f"{self.shape}Summaries"]
        return found

    def names(self, **question: Any) -> list[str]:
        return [one["Name"] for one in self.listed(**question)]

    def fail(self, verb: str, code: str | None = None, **facts: Any) -> str:
        """A rule by which the next operation of this verb fails."""
        more = {} if code is None else {"code": code}
        return self.world.fault("internal-error", operation=f"{verb}{self.shape}", times=1, **more, **facts)


def cluster(world: TestWorld, name: str = "demo") -> str:
    """An EKS cluster in service; its ARN."""
    arn = str(world.sagemaker.create_cluster(**eks(group("workers", 1), name=name))["ClusterArn"])
    world.advance(60)
    return arn


SHAPES = ("ClusterSchedulerConfig", "ComputeQuota")
SETTLED = 2
"""Seconds that an operation takes in the profile `fast`."""
