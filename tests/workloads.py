"""Workloads as tests see them: by the control API, on a cluster `demo` with budgets."""

from typing import Any

from tests.fleets import gpu_group
from tests.kit import TestWorld, eks

MINUTE, HOUR = 60, 3600


def fleet(world: TestWorld, nodes: int = 1, **budgets: int) -> TestWorld:
    """A cluster `demo` in service with so many nodes of eight H100, and budgets with their weights."""
    world.sagemaker.create_cluster(**eks(gpu_group(nodes)))
    for name, weight in budgets.items():
        world.control("POST", "budgets", json={"name": name, "weight": weight})
    world.advance(minutes=10)
    return world


def submit(world: TestWorld, name: str, gpus: int = 8, **facts: Any) -> dict[str, Any]:
    """Submitted, and seen by the scheduler's pass at this instant."""
    made = world.control("POST", "workloads", json={"name": name, "gpus": gpus} | facts)
    world.advance(0)
    return made  # type: ignore[no-any-return]


def funded(world: TestWorld, name: str, budget: str, hours: float = 1, gpus: int = 8, **facts: Any) -> dict[str, Any]:
    """Work that its budget pays for, protected for so many hours."""
    return submit(world, name, gpus, budget=budget, min_runtime_seconds=int(hours * HOUR), **facts)


def told(world: TestWorld, name: str, **params: str) -> dict[str, Any]:
    found: dict[str, Any] = world.control("GET", f"workloads/{name}", params=params)
    return found


def why(world: TestWorld, name: str) -> dict[str, Any]:
    found: dict[str, Any] = world.control("GET", f"workloads/{name}/why")
    return found


def statuses(world: TestWorld) -> dict[str, str]:
    rows = world.control("GET", "workloads")["workloads"]
    return {row["workload"]: row["status"] for row in rows}


def decided(world: TestWorld, **params: Any) -> list[tuple[str, str, str | None]]:
    rows = world.control("GET", "decisions", params={"cluster": "demo", "limit": 1000} | params)["decisions"]
    return [(row["kind"], row["code"], row["workload"]) for row in rows]


def refused(world: TestWorld, method: str, path: str, **kwargs: Any) -> tuple[int, str]:
    """The status and the words of a refusal."""
    answer = world.http.request(method, f"{world.endpoint}/_windtunnel/{path}", **kwargs)
    assert answer.is_error, answer.text
    return answer.status_code, answer.json()["error"]["message"]
