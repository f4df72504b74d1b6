"""What `windtunnel demo` plays: a rollback, a preemption and a bill, each a sequence of steps on one cluster."""

from collections.abc import Iterator
from typing import Any

from app.commands.output import dollars
from app.commands.stage import Stage, Step, aws, aws_groups

CLUSTER, GROUP, TYPE = "lab", "gpus", "ml.p5.48xlarge"
START, SEED = "2026-01-01T00:00:00Z", 7
HOUR = 3600
MACHINES, WORKERS, WANTED = 5, 4, 8
ROLLBACK, PREEMPTION, BILL = "A rollback", "A preemption", "The bill"
ACTS = (ROLLBACK, PREEMPTION, BILL)


def play(stage: Stage) -> Iterator[Step]:
    """Every step of the three acts, each after it was done. Raises Refused, Unreachable."""
    yield from _rollback(stage)
    yield from _preemption(stage)
    yield from _bill(stage)


def _group(count: int, minimum: int) -> dict[str, Any]:
    return {
        "InstanceGroupName": GROUP,
        "InstanceType": TYPE,
        "InstanceCount": count,
        "MinInstanceCount": minimum,
        "ExecutionRole": "arn:aws:iam::111122223333:role/hyperpod",
        "LifeCycleConfig": {"SourceS3Uri": "s3://lab/lifecycle", "OnCreate": "on_create.sh"},
    }


def _cluster() -> dict[str, Any]:
    return {
        "ClusterName": CLUSTER,
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:111122223333:cluster/{CLUSTER}"}},
        "VpcConfig": {"SecurityGroupIds": ["sg-12345678"], "Subnets": ["subnet-12345678"]},
        "InstanceGroups": [_group(WORKERS, 1)],
    }


def _rollback(stage: Stage) -> Iterator[Step]:
    stage.outside("POST", "worlds", {"name": stage.world, "frozen": True, "start": START, "seed": SEED})
    yield Step(
        ROLLBACK,
        "A world of its own. It is midnight, 1 January 2026, and its clock stands still until somebody moves it.",
        (
            f"windtunnel world create {stage.world} --frozen --start {START} --seed {SEED}",
            f'eval "$(windtunnel env --endpoint {stage.base} --world {stage.world})"',
        ),
    )
    stage.control("POST", "capacity", {"instance_type": TYPE, "total": MACHINES})
    stage.sagemaker("CreateCluster", **_cluster())
    stage.advance(600)
    yield Step(
        ROLLBACK,
        f"The region has {MACHINES} machines of eight H100 GPUs. A cluster takes {WORKERS}; ten minutes pass at once.",
        (
            f"windtunnel capacity set {TYPE} {MACHINES}",
            aws("CreateCluster", **_cluster()),
            "windtunnel clock advance 10m",
            aws_groups(CLUSTER),
        ),
        stage.groups(CLUSTER),
    )
    grown = {"ClusterName": CLUSTER, "InstanceGroups": [_group(WANTED, WANTED)]}
    stage.sagemaker("UpdateCluster", **grown)
    stage.advance(60)
    yield Step(
        ROLLBACK,
        f"Now {WANTED} nodes, all or none: MinInstanceCount is {WANTED}. There is one machine left.",
        (aws("UpdateCluster", **grown), "windtunnel clock advance 1m", aws_groups(CLUSTER)),
        stage.groups(CLUSTER),
        "One node came, three find no capacity and ask again and again.",
    )
    stage.advance(3 * HOUR)
    told = stage.sagemaker(
        "ListClusterEvents", ClusterName=CLUSTER, InstanceGroupName=GROUP, ResourceType="InstanceGroup", MaxResults=1
    )["Events"]
    yield Step(
        ROLLBACK,
        "Three hours later the minimum has not been reached, and the group goes back to what it was.",
        ("windtunnel clock advance 3h", aws_groups(CLUSTER)),
        stage.groups(CLUSTER),
        _quoted(told),
    )


def _quoted(events: list[dict[str, Any]]) -> str:
    return " ".join(f"{one['EventLevel']}: {one['Description']}." for one in events)


def _preemption(stage: Stage) -> Iterator[Step]:
    for name in ("research", "product"):
        stage.control("POST", "budgets", {"name": name, "weight": 1})
    big = {"name": "pretrain", "budget": "research", "gpus": 8, "replicas": WORKERS, "min_runtime_seconds": 2 * HOUR}
    stage.control("POST", "workloads", big | {"runtime_seconds": 12 * HOUR, "checkpoint_seconds": HOUR // 2})
    stage.advance(HOUR)
    yield Step(
        PREEMPTION,
        "Two budgets with equal claims. Research trains on all 32 GPUs; its first two hours are protected.",
        (
            "windtunnel budget create research --weight 1",
            "windtunnel budget create product --weight 1",
            f"windtunnel workload submit pretrain --budget research --gpus 8 --replicas {WORKERS} "
            "--min-runtime 2h --runtime 12h --checkpoint 30m",
            "windtunnel clock advance 1h",
            "windtunnel workload list",
        ),
        _workloads(stage),
    )
    small = {"name": "launch", "budget": "product", "gpus": 8, "min_runtime_seconds": HOUR, "runtime_seconds": HOUR}
    stage.control("POST", "workloads", small)
    stage.advance(1)
    waits = stage.control("GET", "workloads/launch/why")
    yield Step(
        PREEMPTION,
        "Product asks for one node. Nothing is free, and protected work is not touched.",
        (
            "windtunnel workload submit launch --budget product --gpus 8 --min-runtime 1h --runtime 1h",
            "windtunnel clock advance 1s",
            "windtunnel why launch",
        ),
        (_picked(waits, "reason", "wanted", "free", "blocker", "earliest"),),
        f"{waits['unblocks']} It can start at {waits['earliest']}." if waits["earliest"] else waits["unblocks"],
    )
    stage.advance(HOUR)
    [evicted] = stage.control("GET", "decisions", params={"kind": "preempt"})["decisions"]
    yield Step(
        PREEMPTION,
        "The protection ends. Product has had less of its claim, so the gang of research must go, as a whole.",
        ("windtunnel clock advance 1h", "windtunnel decisions --kind preempt"),
        (_decision(evicted),),
        "It has a minute to save its work.",
    )
    stage.advance(60)
    yield Step(
        PREEMPTION,
        "A minute later product runs; research queues again with its first submit time.",
        ("windtunnel clock advance 1m", "windtunnel workload list"),
        _workloads(stage),
        f"Saved in checkpoints and not lost: {_saved(stage)} of work.",
    )
    stage.advance(2 * HOUR)
    yield Step(
        PREEMPTION,
        "Two hours on: product is done, and research has its nodes back.",
        ("windtunnel clock advance 2h", "windtunnel workload list"),
        _workloads(stage),
    )


def _workloads(stage: Stage) -> tuple[dict[str, Any], ...]:
    found = stage.control("GET", "workloads")["workloads"]
    rows = [_picked(one, "workload", "budget", "status", "protected_until", "attempt") for one in found]
    return tuple(row | {"gpus": one["replicas"] * one["gpus"]} for row, one in zip(rows, found, strict=True))


def _picked(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: answer[name] for name in names if answer.get(name) is not None}


def _decision(one: dict[str, Any]) -> dict[str, Any]:
    ratios = " against ".join(f"{each['budget']} {each['decimal']}" for each in one["ratios"] or ())
    return {
        "at": one["at"],
        "code": one["code"],
        "for": one["workload"],
        "who must go": ", ".join(victim["workload"] for victim in one["victims"]),
        "share had of claim": ratios,
    }


def _saved(stage: Stage) -> str:
    seconds = int(stage.control("GET", "workloads/pretrain")["done_seconds"])
    return f"{seconds // HOUR} h {seconds % HOUR // 60} min"


def _bill(stage: Stage) -> Iterator[Step]:
    lines = stage.control("GET", "bills")["lines"]
    [lost] = [line for line in lines if line["ended"]]
    yield Step(
        BILL,
        "Every node, from the start of its lifecycle script to the start of its termination, to the second.",
        ("windtunnel bill",),
        tuple(_line(line) for line in lines),
        f"{lost['instance_id']} is the node of the rollback: {_hours(lost)} hours for nothing, "
        f"{dollars(lost['micro_usd'])} USD.",
    )
    whole = stage.control("GET", "bills", params={"by": "budget"})
    [line] = whole["lines"]
    yield Step(
        BILL,
        "The same money by budget: each workload's share of the nodes by GPU-time, and what stood idle.",
        ("windtunnel bill --by budget",),
        tuple(
            {
                "budget": "idle" if part["idle"] else part["budget"] or "no budget",
                "gpu hours": f"{part['gpu_milliseconds'] / 3_600_000:.3f}",
                "usd": dollars(part["micro_usd"]),
            }
            for part in line["workloads"]
        ),
        f"Together {dollars(whole['total_micro_usd'])} USD as of {whole['as_of']}; the parts add up to it exactly.",
        {"total_micro_usd": whole["total_micro_usd"]},
    )


def _line(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "instance": line["instance_id"],
        "began": line["started"],
        "ended": line["ended"] or "runs",
        "time": _hours(line),
        "usd per hour": dollars(line["micro_usd_per_hour"]),
        "usd": dollars(line["micro_usd"]),
    }


def _hours(line: dict[str, Any]) -> str:
    seconds = line["milliseconds"] // 1000
    return f"{seconds // HOUR}:{seconds % HOUR // 60:02d}:{seconds % 60:02d}"
