"""What a start does: the first world, its seed, and settings that an existing world takes over (CT-2, CT-11)."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from app.store import processes
from app.store.db import Database
from tests.kit import Running, TestWorld, login, serving, slurm, workers


def main(running: Running) -> TestWorld:
    world = TestWorld(running.base, "main")
    running.worlds.append(world)
    return world


def clock(base: str) -> dict[str, object]:
    told: dict[str, object] = httpx.get(f"{base}/_windtunnel/clock").json()
    return told


Write = Callable[[str, object], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(name: str, content: object) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return _write


def test_the_first_world_begins_with_the_seed_file_and_only_once(fresh: str, write: Write) -> None:
    """CT-2: `--seed FILE` at start; a second start goes on with what is there."""
    seed = {
        "clock": {"start": "2026-05-01T00:00:00Z", "frozen": True},
        "clusters": [slurm(login(), workers(1), name="seeded")],
    }
    settings = Settings(database_url=fresh, seed_file=write("seed.json", seed))
    for _ in range(2):
        with serving(settings) as running:
            assert clock(running.base)["now"] == "2026-05-01T00:00:00.000Z"
            clusters = main(running).sagemaker.list_clusters()["ClusterSummaries"]
            assert [each["ClusterName"] for each in clusters] == ["seeded"]
    with serving(settings) as running:
        main(running).sagemaker.delete_cluster(ClusterName="seeded")
        httpx.post(f"{running.base}/_windtunnel/clock/advance", json={"by": 600}).raise_for_status()
        httpx.post(f"{running.base}/_windtunnel/reset").raise_for_status()
        assert main(running).sagemaker.list_clusters()["ClusterSummaries"]


def test_a_seed_may_be_toml_with_its_own_instants(fresh: str, write: Write) -> None:
    """CT-2: TOML or JSON."""
    text = """
    [clock]
    start = 2026-05-01T00:00:00Z
    frozen = true
    [[capacity]]
    instance_type = "ml.p5.48xlarge"
    total = 4
    at = 2026-05-01T12:00:00Z
    """
    with serving(Settings(database_url=fresh, seed_file=write("seed.toml", text))) as running:
        told = httpx.get(f"{running.base}/_windtunnel/capacity").json()
        assert told["changes"][0]["at"] == "2026-05-01T12:00:00.000Z"


def test_an_existing_world_takes_what_was_asked_for_and_keeps_the_rest(fresh: str) -> None:
    """CT-1, CT-13: profile, rate and frozen of a later start hold; its time goes on."""
    with serving(Settings(database_url=fresh, frozen=True, profile="instant")) as running:
        httpx.post(f"{running.base}/_windtunnel/clock/advance", json={"by": 86_400}).raise_for_status()
        before = clock(running.base)
    with serving(Settings(database_url=fresh)) as running:
        assert clock(running.base) == before
    with serving(Settings(database_url=fresh, profile="realistic", rate=60.0)) as running:
        assert clock(running.base) == before | {"profile": "realistic", "rate": 60.0}


def test_two_that_start_at_once_make_one_world(fresh: str, write: Write) -> None:
    """RL design rule 1: the world and its seed are one transaction."""
    seed = write("seed.json", {"clusters": [slurm(workers(1), name="seeded")]})
    settings = Settings(database_url=fresh, seed_file=seed, frozen=True)
    with serving(settings) as one, serving(settings) as other:
        for running in (one, other):
            assert len(main(running).sagemaker.list_clusters()["ClusterSummaries"]) == 1


async def say(dsn: str, kind: str, passes: int) -> None:
    """Have a worker of this kind alive, with so many passes."""
    database = await Database.connect(dsn, size=1)
    await database.run(processes.beat, f"{kind}-of-test", kind, passes)
    await database.close()


def test_ready_waits_for_a_pass_of_both_workers(fresh: str) -> None:
    """CT-7: 503 until migrations, seed and both workers have made a pass."""
    with serving(Settings(database_url=fresh, frozen=True)) as running:

        def missing() -> list[str]:
            told = httpx.get(f"{running.base}/_windtunnel/ready")
            assert (told.status_code == 200) is told.json()["ready"]
            names: list[str] = told.json()["missing"]
            return names

        assert missing() == ["no reconciler is alive", "no scheduler is alive"]
        asyncio.run(say(fresh, "reconciler", 1))
        asyncio.run(say(fresh, "scheduler", 0))
        assert missing() == ["the scheduler has not made a pass yet"]
        asyncio.run(say(fresh, "scheduler", 1))
        assert missing() == []
