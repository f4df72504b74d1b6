"""All that clients can do to the jobs of a world's pools, drawn from a seed."""

import random
from typing import Any

from tests.deeds import Broken
from tests.jobs import LOCATION, PROJECT, Jobs, gpus, pool
from tests.kit import TestWorld

H100, N1 = "a3-highgpu-8g", "n1-standard-4"
QUOTA = "aiplatform.googleapis.com/custom_model_training_{}nvidia_h100_gpus"
HOME = {"project": PROJECT, "region": LOCATION}
EFFECTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("worker-exit", {}),
    ("worker-exit", {"code": "139", "seconds": 4}),
    ("worker-exit", {"code": "transient", "seconds": 7}),
    ("worker-exit", {"code": "0", "seconds": 3}),
    ("worker-oom", {"seconds": 20}),
    ("vm-maintenance", {"seconds": 11}),
    ("spot-preemption", {"seconds": 6}),
    ("stockout", {}),
    ("internal-error", {"operation": "CreateCustomJob"}),
    ("internal-error", {"operation": "CreateCustomJob", "seconds": 9}),
)
VERBS = (
    *("create",) * 6,
    *("cancel",) * 2,
    "delete",
    *("fault",) * 3,
    "calm",
    "capacity",
    "capacity",
    "quota",
    "price",
)


class JobDeeds:
    """A client that does one thing after another; refusals are part of it, 5xx are not."""

    def __init__(self, world: TestWorld, seed: int) -> None:
        self.world, self.draw, self.jobs = world, random.Random(seed), Jobs(world)
        self.tried = 0
        self.done = 0

    def do(self, verb: str) -> None:
        self.tried += 1
        getattr(self, verb)()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self._told(self.jobs.call(method, path, json=body))

    def control(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.world.http.request(method, f"{self.world.endpoint}/_windtunnel/{path}", json=body)
        return self._told(answer)

    def _told(self, answer: Any) -> Any:
        if answer.status_code >= 500:
            raise Broken(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}")
        self.done += answer.is_success
        return answer.json()

    def pools(self) -> list[dict[str, Any]]:
        """What a job might be made of."""
        env = {"RUN_SECONDS": str(self.draw.choice((0, 1, 30, 30, 90, 4000)))}
        if self.draw.random() < 0.3:
            env["CHECKPOINT_SECONDS"] = "7"
        if self.draw.random() < 0.2:
            env["EXIT_CODE"] = str(self.draw.choice((1, 11, 137)))
        first = self.draw.choice((pool, gpus))(1, **env)
        rest = [self.draw.choice((pool, gpus))(self.draw.randint(1, 3)) for _ in range(self.draw.randrange(3))]
        return [first, *rest]

    def create(self) -> None:
        strategy = self.draw.choice(("STANDARD", "STANDARD", "SPOT", "FLEX_START"))
        pools = [gpus(), gpus(self.draw.randint(1, 2))] if strategy == "FLEX_START" else self.pools()
        scheduling: dict[str, Any] = {"strategy": strategy, "timeout": self.draw.choice(("60s", "3600s", "604800s"))}
        scheduling |= {"disableRetries": True} if self.draw.random() < 0.15 else {}
        scheduling |= {"restartJobOnWorkerRestart": True} if self.draw.random() < 0.2 else {}
        scheduling |= {"maxWaitDuration": "1800s"} if strategy == "FLEX_START" else {}
        spec = {"workerPoolSpecs": pools, "scheduling": scheduling}
        body = {"displayName": f"job-{self.draw.randrange(4)}", "jobSpec": spec}
        self.call("POST", f"{self.jobs.parent}/customJobs", body)

    def some(self) -> str:
        """A job; where there is none, one that never was."""
        found = self.call("GET", f"{self.jobs.parent}/customJobs").get("customJobs", [])
        return str(self.draw.choice(found)["name"]) if found else f"{self.jobs.parent}/customJobs/1"

    def cancel(self) -> None:
        self.call("POST", f"{self.some()}:cancel", {})

    def delete(self) -> None:
        self.call("DELETE", self.some())

    def fault(self) -> None:
        effect, facts = self.draw.choice(EFFECTS)
        often = {"probability": round(0.2 + self.draw.random() / 2, 3), "times": self.draw.randint(1, 6)}
        self.control("POST", "faults", {"effect": effect, **often, **facts})

    def calm(self) -> None:
        self.control("DELETE", "faults")

    def capacity(self) -> None:
        body = {"instance_type": self.draw.choice((H100, H100, N1)), "region": LOCATION}
        self.control("POST", "capacity", body | {"total": self.draw.choice((None, *range(7)))})

    def quota(self) -> None:
        name = QUOTA.format(self.draw.choice(("", "preemptible_")))
        value = self.draw.choice((None, 8, 16, 24, 64))
        self.control("POST", "quotas", {"name": name, "value": value, **HOME})

    def lift_quotas(self) -> None:
        for kind in ("", "preemptible_"):
            self.control("POST", "quotas", {"name": QUOTA.format(kind), "value": None, **HOME})

    def price(self) -> None:
        self.control("POST", "prices", {"instance_type": H100, "micro_usd_per_hour": self.draw.randrange(10**8)})
