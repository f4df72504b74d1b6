"""Jobs on clusters as tests see them: through Google's client, on clusters made with boto3."""

import json
import random
from typing import Any

from tests.kit import TestWorld, custom_job, eks, group, worker_pool

PARENT = "projects/p1/locations/us-central1"
H100 = {"accelerator_type": "NVIDIA_H100_80GB"}


def gpu_group(count: int, name: str = "gpus", **facts: Any) -> dict[str, Any]:
    """A group of nodes with eight H100 each."""
    return group(name, count, InstanceType="ml.p5.48xlarge", **facts)


def gpus(replicas: int = 1, count: int = 8, **env: str) -> dict[str, Any]:
    """A pool of replicas with so many H100 each; variables of the simulated program by keyword."""
    pool = worker_pool(f"a3-highgpu-{count}g", replicas, accelerator_count=count, **H100)
    pool["container_spec"]["env"] = [{"name": f"WINDTUNNEL_{name}", "value": text} for name, text in env.items()]
    return pool


def submit(world: TestWorld, *pools: dict[str, Any], name: str = "train", **labels: str) -> str:
    """A job on the cluster `demo`, unless labels (`cluster`, `region`, `min_runtime` …) say otherwise; its name."""
    given = {f"windtunnel-{key.replace('_', '-')}": text for key, text in ({"cluster": "demo"} | labels).items()}
    made = world.vertex.create_custom_job(parent=PARENT, custom_job=custom_job(name, *pools, labels=given))
    if world.control("GET", "clock")["frozen"]:
        world.advance(0)  # the scheduler's pass at this instant
    return str(made.name)


def told(world: TestWorld, job: str) -> Any:
    return world.vertex.get_custom_job(name=job)


def state(world: TestWorld, job: str) -> str:
    """`RUNNING`."""
    return str(told(world, job).state.name.removeprefix("JOB_STATE_"))


def fleet(world: TestWorld) -> tuple[int, int, int]:
    """GPUs in all, of nodes that take work now, and taken."""
    [one] = world.control("GET", "fleets")["fleets"]
    return one["gpus"], one["ready"], one["taken"]


def queue(world: TestWorld) -> list[tuple[str, str]]:
    """Who waits, by display name, and why."""
    return [(one["job_name"], one["reason"]) for one in world.control("GET", "queue")["queue"]]


def held(world: TestWorld) -> dict[str, str]:
    """The node of each replica that is on one, by the job's name and the replica's."""
    rows = json.loads(world.export())["tables"]["placement"]
    return {f"{row['job_name']}/{row['replica']}": row["logical_id"] for row in rows if row["ended_at"] is None}


VERBS = (
    *("submit", "submit", "submit", "fault", "cancel", "scale", "reboot", "replace", "remove", "software"),
    *("degrade", "drain"),
)
"""What may be done to a cluster and to the jobs on it, a number from 0 to 1 deciding the rest."""


def do(world: TestWorld, verb: str, what: Any) -> None:
    demo, draw = {"ClusterName": "demo"}, random.Random(what)
    match verb:
        case "create":
            world.sagemaker.create_cluster(**eks(gpu_group(what)))
        case "submit":
            run, code = str(draw.choice((3, 30, 300))), str(draw.choice((0, 0, 0, 1, 139)))
            pools = [gpus(draw.randint(1, 3), draw.choice((1, 2, 4, 8)), RUN_SECONDS=run, EXIT_CODE=code)]
            submit(world, gpus(1, draw.choice((1, 2, 8)), RUN_SECONDS=run), *pools[: draw.randint(0, 1)])
        case "cancel":
            jobs = world.vertex.list_custom_jobs(parent=PARENT).custom_jobs
            if jobs:
                world.vertex.cancel_custom_job(name=draw.choice(jobs).name)
        case "fault":
            if what < 0.3:
                world.fault("worker-exit", code="transient", seconds=2, times=2)
            nodes = [node["NodeLogicalId"] for node in world.nodes(IncludeNodeLogicalIds=True)]
            world.fault("node-hardware", node=draw.choice(nodes), times=1)
        case "degrade":
            nodes = [node["NodeLogicalId"] for node in world.nodes(IncludeNodeLogicalIds=True)]
            world.fault("node-degraded", node=draw.choice(nodes), code=draw.choice(("Xid-73", "Xid-74")), times=1)
        case "drain":
            host = draw.choice(world.control("GET", "hosts")["hosts"])
            then = {"then": draw.choice(("reboot", "replace", "nothing"))}
            path = "resume" if host["marked"] else "drain"
            # It may have gone since; then it is refused.
            world.http.post(f"{world.endpoint}/_windtunnel/hosts/{host['node']}/{path}", json=then)
        case "scale":
            world.sagemaker.update_cluster(**demo, InstanceGroups=[gpu_group(draw.randint(1, 4))])
        case "software":
            world.control("POST", "images", json={"version": f"9.{int(what * 1e6)}.0"})
            world.sagemaker.update_cluster_software(**demo)
        case "delete":
            world.sagemaker.delete_cluster(**demo)
        case _:
            ids = [node["InstanceId"] for node in world.nodes() if node["InstanceStatus"]["Status"] == "Running"]
            operation = {"reboot": "batch_reboot", "replace": "batch_replace", "remove": "batch_delete"}[verb]
            getattr(world.sagemaker, f"{operation}_cluster_nodes")(**demo, NodeIds=[draw.choice(ids)])
