"""Rows for tests of the store, written through the store."""

from typing import Any

from app.core.cluster import Cluster
from app.core.instance import Instance
from app.core.job import Job
from app.core.log_lines import Line
from app.core.metering import Interval
from app.core.pipeline import Pipeline
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.tuning import Tuning
from app.store import creation, fleets, instances, jobs, ledger, logs, pipelines, replicas, tuning, wakes
from app.store.db import Tx
from app.store.ledger import Rate
from app.store.placements import Place
from tests.core.builders import GPU, T0, at, cluster, in_service, node
from tests.core.test_tuning import made
from tests.core.test_tuning import tuning as tuning_job
from tests.core.work import job, replica

CLUSTER_ID = "abcdefghij12"
ANNOUNCED = ("SageMaker HyperPod Cluster State Change", {"ClusterStatus": "Creating"})
RATES = {GPU: Rate(98_320_000, "a test")}


async def add_cluster(tx: Tx, scope: Scope, cluster_id: str = CLUSTER_ID, due: WorldTime = T0, **facts: Any) -> Cluster:
    """A living cluster with one group, due at a moment; its name is its id unless given."""
    one = cluster(
        **({"account": scope.account, "region": scope.region, "cluster_id": cluster_id, "name": cluster_id} | facts)
    )
    assert await creation.create(tx, scope.world, one, [in_service(0)], [], {}, due, ANNOUNCED)
    return one


async def add_nodes(tx: Tx, scope: Scope, *nodes: Instance, due: WorldTime | None = None) -> None:
    await instances.insert(tx, scope, CLUSTER_ID, nodes, [due] * len(nodes))


async def add_job(tx: Tx, scope: Scope, due: WorldTime | None = None) -> Job:
    """A job with a worker, a line of its log, and a fleet that is to be looked at at 5 s."""
    one = job(account=scope.account, region=scope.region, number=await fleets.number_job(tx, scope))
    await jobs.insert(tx, scope.world, one, due)
    await replicas.insert(tx, scope, one.job_id, [replica()])
    await logs.append(tx, [logs.Written(scope, one.job_id, 1, Line(T0, "service", "INFO", "Job is preparing."))])
    await wakes.leave(tx, scope, wakes.FLEET, "", at(5))
    return one


async def add_tuning(tx: Tx, scope: Scope, due: WorldTime = T0) -> Tuning:
    """A tuning job with a trial that has ended, and a pipeline over it."""
    one = tuning_job(account=scope.account, region=scope.region)
    await tuning.insert(tx, scope.world, one, due)
    await tuning.save_trials(tx, scope, one.tuning_id, [made("S")])
    await pipelines.insert(
        tx, scope.world, Pipeline(scope.account, scope.region, "p", 1, "p", {}, {}, None, T0, tuning_id=one.tuning_id)
    )
    return one


def nodes(count: int, **facts: Any) -> list[Instance]:
    """So many nodes of `workers`, numbered from 1."""
    return [node(**({"ordinal": n, "logical_id": f"n-{n}"} | facts)) for n in range(1, count + 1)]


def interval(
    number: int, start: WorldTime, end: WorldTime | None = None, previous: WorldTime | None = None
) -> Interval:
    return Interval("n-1", number, f"i-{number}", "workers", GPU, start, end, previous)


async def open_one(tx: Tx, scope: Scope, number: int, start: WorldTime, previous: WorldTime | None = None) -> None:
    await ledger.insert(tx, scope, CLUSTER_ID, [interval(number, start, previous=previous)], RATES)


async def close_one(tx: Tx, scope: Scope, number: int, end: WorldTime) -> None:
    await ledger.close(tx, scope, CLUSTER_ID, [interval(number, T0, end)])


def placed(
    node: str = "n-1", replica: str = "workerpool0-0", job: str = "1", gpus: int = 2, billing: int = 2, number: int = 1
) -> Place:
    """A job's replica on a node, whose interval of that number must be there."""
    return Place("123456789012", "us-central1", job, replica, number, node, billing, gpus, f"job {job}", None)
