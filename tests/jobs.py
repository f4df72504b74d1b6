"""Custom jobs as values, and a driver of jobs without any wire: through the use cases, on a frozen clock."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from app.core.job import Job, View, view
from app.core.scope import Scope
from app.store.db import Database
from app.usecases import clocks, jobs
from app.usecases.clocks import Goal
from app.usecases.jobs import JobIntent
from app.usecases.provisioning import Policy

PROJECT, LOCATION = "123456789012", "us-central1"


def pool(replicas: int = 1, machine: str = "n1-standard-4", **env: str) -> dict[str, Any]:
    """A worker pool of CPU machines whose container has these variables."""
    container: dict[str, Any] = {"imageUri": "gcr.io/p/train"}
    if env:
        container["env"] = [{"name": f"WINDTUNNEL_{name}", "value": value} for name, value in env.items()]
    return {"machineSpec": {"machineType": machine}, "replicaCount": str(replicas), "containerSpec": container}


def gpus(replicas: int = 1, **env: str) -> dict[str, Any]:
    """A worker pool of machines with eight H100 each."""
    made = pool(replicas, "a3-highgpu-8g", **env)
    made["machineSpec"] |= {"acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}
    return made


def spec(*pools: dict[str, Any], **scheduling: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"workerPoolSpecs": list(pools) or [pool()]}
    return made | ({"scheduling": scheduling} if scheduling else {})


class Driver:
    """One project in a world."""

    def __init__(self, db: Database, world: str, project: str = PROJECT, location: str = LOCATION) -> None:
        self.db, self.scope = db, Scope(world, project, location)

    async def create(self, wanted: Mapping[str, Any] | None = None, name: str = "train", **facts: Any) -> str:
        job = await self.db.run(jobs.create, self.scope, JobIntent(name, wanted or spec(), **facts))
        return job.job_id

    async def advance(self, seconds: float) -> Any:
        done = await clocks.advance(
            self.db, self.scope.world, Goal(by=timedelta(seconds=seconds)), Policy(), "test", 10.0
        )
        assert done.settled, done
        return done

    async def view(self, job_id: str) -> View:
        job, world = await self.db.run(jobs.get, self.scope, job_id)
        return view(job, world.now)

    async def job(self, job_id: str) -> Job:
        return (await self.db.run(jobs.get, self.scope, job_id))[0]

    async def state(self, job_id: str) -> str:
        return (await self.view(job_id)).state.removeprefix("JOB_STATE_")
