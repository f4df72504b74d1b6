"""Values of the core with defaults that hold: a test names only what it is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.core.capacity import Pool
from app.core.cluster import Cluster, Group
from app.core.faults import Rule, Subject
from app.core.governance import Kind, Resource
from app.core.instance import Instance
from app.core.intent import ClusterIntent, GroupIntent, Network
from app.core.node import Node
from app.core.offerings import Block
from app.core.plans import Plan, reservations
from app.core.times import WorldTime
from app.core.timings import PROFILES

T0 = WorldTime(datetime(2026, 1, 1, tzinfo=UTC))
FAST, REALISTIC, INSTANT = PROFILES["fast"], PROFILES["realistic"], PROFILES["instant"]
SEED = 7
KNOWN = ("ml.p5.48xlarge", "ml.p4d.24xlarge", "ml.c5.xlarge", "ml.m5.xlarge")
GPU, CPU = "ml.p5.48xlarge", "ml.c5.xlarge"
ACCOUNT, REGION, ZONE = "111122223333", "us-west-2", "us-west-2a"
ROLE = "arn:aws:iam::111122223333:role/nodes"
SCRIPT = {"SourceS3Uri": "s3://amzn-s3-demo-bucket/lifecycle", "OnCreate": "on_create.sh"}
VPC = Network(("subnet-12345678",), ("sg-12345678",))


def at(seconds: float = 0, *, minutes: float = 0, hours: float = 0, millis: int = 0) -> WorldTime:
    """So long after the beginning."""
    return WorldTime(T0 + timedelta(seconds=seconds, minutes=minutes, hours=hours, milliseconds=millis))


def node(status: Node = Node.REQUESTED, **facts: Any) -> Instance:
    """A node of `workers` since the beginning; one that waits for its launch unless told otherwise."""
    waits = {"launch_after": T0} if status is Node.REQUESTED else {"instance_id": "i-0", "zone": ZONE, "attempt": 1}
    defaults: dict[str, Any] = {
        "group": "workers",
        "ordinal": 1,
        "logical_id": "n-1",
        "instance_type": GPU,
        "created_at": T0,
        "listed_at": T0,
        "since": T0,
    }
    return Instance(status=status, **(defaults | waits | facts))


def group(name: str = "workers", target: int = 1, **facts: Any) -> Group:
    """A group of p5 nodes with a lifecycle script, in one zone, new at the beginning."""
    request = {"InstanceType": GPU, "ExecutionRole": ROLE, "LifeCycleConfig": SCRIPT} | facts.pop("request", {})
    defaults: dict[str, Any] = {
        "position": 0,
        "instance_types": (GPU,),
        "node_type": None,
        "minimum": 0,
        "created_at": T0,
        "has_script": True,
        "deep_check": False,
        "zones": (ZONE,),
        "own_network": False,
        "spec": {"request": request, "subnets": [], "security_groups": []},
    }
    return Group(name=name, target=target, **(defaults | facts))


def controller(**facts: Any) -> Group:
    return group("controller", **({"node_type": "Controller", "instance_types": (CPU,), "minimum": 1} | facts))


def login(target: int = 1, **facts: Any) -> Group:
    return group("login", target, **({"node_type": "Login", "instance_types": (CPU,), "minimum": 1} | facts))


def workers(target: int = 2, **facts: Any) -> Group:
    return group("workers", target, **({"node_type": "Compute"} | facts))


def in_service(count: int, **facts: Any) -> Group:
    """A group of so many running nodes that wants no others, unless told otherwise."""
    counts = {"target": count, "rows": count, "slots": count, "current": count}
    return group(**(counts | {"in_service_at": T0, "operation": None} | facts))


def cluster(**facts: Any) -> Cluster:
    """A continuous EKS cluster, new at the beginning, that opens at once."""
    defaults: dict[str, Any] = {
        "account": ACCOUNT,
        "region": REGION,
        "cluster_id": "abcdefghij12",
        "name": "demo",
        "continuous": True,
        "orchestrator": "eks",
        "created_at": T0,
        "opens_at": T0,
    }
    return Cluster(**(defaults | facts))


def slurm(**facts: Any) -> Cluster:
    return cluster(**({"orchestrator": "slurm"} | facts))


def classic(**facts: Any) -> Cluster:
    return cluster(**({"orchestrator": "slurm", "continuous": False} | facts))


def living(**facts: Any) -> Cluster:
    """An EKS cluster in service."""
    return cluster(**({"opened_at": T0, "in_service_at": T0, "operation": None} | facts))


def pool(
    total: int, zone: str = "", instance_type: str = GPU, used: int = 0, freed_at: WorldTime | None = None
) -> Pool:
    """A pool of the whole region, or of a zone."""
    return Pool(REGION, zone, instance_type, total, used, freed_at)


def rule(effect: str = "launch-capacity", rule_id: str = "fault-1", **facts: Any) -> Rule:
    return Rule(rule_id, effect, **facts)


def subject(logical_id: str = "n-1", attempt: int = 1, **facts: Any) -> Subject:
    defaults: dict[str, Any] = {
        "account": ACCOUNT,
        "region": REGION,
        "cluster": "demo",
        "cluster_id": "abcdefghij12",
        "group": "workers",
        "instance_type": GPU,
    }
    return Subject(logical_id=logical_id, attempt=attempt, **(defaults | facts))


def asked(name: str = "workers", count: int = 1, minimum: int | None = None, **facts: Any) -> GroupIntent:
    """A group as a request asks for it; `request` adds members to its JSON."""
    request = {"InstanceType": GPU, "ExecutionRole": ROLE, "LifeCycleConfig": SCRIPT} | facts.pop("request", {})
    defaults: dict[str, Any] = {"instance_types": (GPU,), "single_type": True, "node_type": None, "network": None}
    return GroupIntent(name=name, count=count, minimum=minimum, request=request, **(defaults | facts))


def wanted(*groups: GroupIntent, **facts: Any) -> ClusterIntent:
    """A continuous EKS cluster as a request asks for it."""
    defaults: dict[str, Any] = {
        "name": "demo",
        "continuous": True,
        "orchestrator": "eks",
        "eks_arn": None,
        "slurm_strategy": None,
        "network": VPC,
    }
    return ClusterIntent(groups=groups, **(defaults | facts))


def compute_quota(name: str = "one", **facts: Any) -> Resource:
    """A compute quota of `demo` that is being created, for two seconds from the beginning."""
    defaults: dict[str, Any] = {
        "account": ACCOUNT,
        "region": REGION,
        "kind": Kind.QUOTA,
        "resource_id": name.rjust(12, "0"),
        "cluster_id": "abcdefghij12",
        "name": name,
        "team": name,
        "created_at": T0,
        "begun_at": T0,
        "settles_at": at(2),
        "spec": {"ComputeQuotaConfig": {}, "ComputeQuotaTarget": {"TeamName": name}, "ActivationState": "Enabled"},
    }
    return Resource(**(defaults | facts))


def training_plan(*blocks: Block, declined: bool = False, settles: float = 1, **facts: Any) -> Plan:
    """A plan of one block from hour 10 to 34, paid at hour `settles`."""
    blocks = blocks or (Block(at(hours=10), at(hours=34)),)
    whole = Plan(
        name="p",
        target="hyperpod-cluster",
        instance_type="ml.p5.48xlarge",
        total=4,
        ultra_type="",
        ultra_count=0,
        spares=0,
        zone="us-west-2a",
        created_at=T0,
        settles_at=at(hours=settles),
        declined_at=at(hours=settles) if declined else None,
        failure="no" if declined else None,
        fee=1,
        fee_evidence="recorded",
        starts_at=blocks[0].starts_at,
        ends_at=blocks[-1].ends_at,
        reserved=reservations(7, "1/r", "p", blocks),
    )
    return replace(whole, **facts)
