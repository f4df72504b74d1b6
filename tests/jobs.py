"""Custom jobs as values, and a driver of jobs without any wire: through the use cases, on a frozen clock."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx

from app.core.job import Job, View, view
from app.core.scope import Scope
from app.store.db import Database
from app.usecases import clocks, jobs
from app.usecases.clocks import Goal
from app.usecases.jobs import JobIntent
from app.usecases.provisioning import Policy
from tests.kit import TestWorld

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

    async def cancel(self, job_id: str) -> None:
        await self.db.run(jobs.cancel, self.scope, job_id)

    async def view(self, job_id: str) -> View:
        job, world = await self.db.run(jobs.get, self.scope, job_id)
        return view(job, world.now)

    async def job(self, job_id: str) -> Job:
        return (await self.db.run(jobs.get, self.scope, job_id))[0]

    async def state(self, job_id: str) -> str:
        return (await self.view(job_id)).state.removeprefix("JOB_STATE_")


class Jobs:
    """Custom jobs of a world over REST, as plain JSON."""

    def __init__(self, world: TestWorld, project: str = PROJECT, location: str = LOCATION) -> None:
        self.world, self.parent = world, f"projects/{project}/locations/{location}"

    def call(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        return self.world.http.request(method, f"{self.world.endpoint}/v1/{path}", **kwargs)

    def create(self, *pools: dict[str, Any], name: str = "train", labels: Any = None, **scheduling: Any) -> str:
        """The name of a new job of these pools."""
        body: dict[str, Any] = {"displayName": name, "jobSpec": spec(*pools, **scheduling)}
        if labels:
            body["labels"] = labels
        answer = self.call("POST", f"{self.parent}/customJobs", json=body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["name"])

    def get(self, job: str) -> dict[str, Any]:
        answer = self.call("GET", job)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def state(self, job: str) -> str:
        return str(self.get(job)["state"]).removeprefix("JOB_STATE_")

    def cancel(self, job: str) -> None:
        answer = self.call("POST", f"{job}:cancel", json={})
        assert answer.status_code == 200, answer.text

    def states(self, job: str, steps: int = 1000) -> list[str]:
        """Its states from one due instant of the world to the next, until nothing is due."""
        seen = [self.state(job)]
        for _ in range(steps):
            if self.world.control("GET", "clock")["next_due"] is None:
                return seen
            self.world.control("POST", "clock/advance", json={"next": True})
            if (told := self.state(job)) != seen[-1]:
                seen.append(told)
        raise AssertionError(f"it never ends: {seen[-5:]}")
