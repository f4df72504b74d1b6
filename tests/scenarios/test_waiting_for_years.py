"""CT-1, HP-6: nodes that wait for machines for ten years cost some hundred attempts, and are woken all the same."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.kit import Running, TestWorld, eks, group, slurm, workers

P5 = "ml.p5.48xlarge"
TEN_YEARS = 10 * 366 * 86_400


def wait(world: TestWorld, seconds: float = TEN_YEARS) -> dict[str, Any]:
    done = world.control("POST", "clock/advance", json={"by": seconds})
    assert done["settled"], done
    return done["counts"]


def attempts(world: TestWorld, limit: int = 10_000) -> list[Any]:
    told = [event for event in world.events() if event["Description"].startswith("Failed to provision EC2 Instance")]
    return [event["EventTime"] for event in told][:limit]


@pytest.mark.parametrize("profile", ["instant", "fast", "realistic"])
def test_ten_years_without_a_machine(service: Running, profile: str) -> None:
    """An attempt and its second event are two passes, and there are fewer than 450 attempts."""
    world = service.world(profile=profile)
    world.capacity(P5, 3)
    world.sagemaker.create_cluster(**slurm(workers(5)))
    world.advance(minutes=20)
    counts = wait(world)
    assert counts["passes"] < 900
    assert world.group("workers")["CurrentCount"] == 3
    world.capacity(P5, 5)
    world.advance(minutes=30)
    assert world.group("workers")["CurrentCount"] == 5, "more machines wake who waits, however long he has"
    assert wait(world).get("passes", 0) == 0
    world.close()


def test_a_day_of_steady_retries_then_ever_longer_ones(world: TestWorld) -> None:
    """From the second day on a node waits about a tenth of the time gone by, and never more than a year."""
    world.capacity(P5, 0)
    world.sagemaker.create_cluster(**eks(group("workers", 1, InstanceType=P5)))
    wait(world)
    times = attempts(world)
    begun = times[0]
    gaps = [(late, late - early) for early, late in pairwise(times)]
    first_day = [gap for late, gap in gaps[4:] if late < begun + timedelta(days=1)]
    assert set(first_day) == {timedelta(minutes=5)}
    later = [(late, gap) for late, gap in gaps if late > begun + timedelta(days=3)]
    assert all(gap < (late - begun) / 5 for late, gap in later)
    assert all(early <= late for (_, early), (_, late) in pairwise(gaps))
    wait(world, 100 * 366 * 86_400)
    century = attempts(world)
    assert 50 < len(century) - len(times) < 250
    assert max(late - early for early, late in pairwise(century)) <= timedelta(days=365)


def test_launches_that_fail_for_years(world: TestWorld) -> None:
    """A fault that never ends costs no more, and when it has ended the next attempt succeeds."""
    rule = world.fault("launch-transient", instance_type=P5)
    world.sagemaker.create_cluster(**eks(group("workers", 2, InstanceType=P5)))
    assert wait(world)["passes"] < 2_000
    world.control("DELETE", f"faults/{rule}")
    wait(world, 400 * 86_400)
    assert world.group("workers")["CurrentCount"] == 2


def test_the_same_bytes_however_it_is_cut(service: Running) -> None:
    """CT-1."""

    def told_by(steps: int) -> bytes:
        world = service.world(seed=3, profile="realistic")
        world.capacity(P5, 1)
        world.sagemaker.create_cluster(**eks(group("workers", 3, InstanceType=P5)))
        for _ in range(steps):
            wait(world, 10 * 86_400 / steps)
        exported = world.export()
        world.close()
        return exported

    assert told_by(1) == told_by(30)
