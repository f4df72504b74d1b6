"""Seeded scripts of own workloads under budgets on hosts that are drained, degraded, broken and taken away (FS-4,
FS-11, FS-19)."""

import random
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.balance import balance
from tests.fleets import do
from tests.kit import Running, TestWorld
from tests.schedule_balance import schedule_balance
from tests.workloads import fleet, submit

DEEDS = ("submit",) * 6 + ("drain",) * 3 + ("degrade", "fault", "reboot", "replace", "remove", "scale", "cancel")
STEPS = (0, 1, 5, 60, 600, 3600)


def script(seed: int) -> list[tuple[str, float, int]]:
    """What is done, as data, so that it can be done twice: a deed, how, and how many seconds then pass."""
    draw = random.Random(seed)
    return [(draw.choice(DEEDS), draw.random(), draw.choice(STEPS)) for _ in range(25)]


def act(world: TestWorld, number: int, deed: str, how: float) -> None:
    draw = random.Random(how)
    if deed == "submit":
        hours = draw.choice((0, 0, 0.02, 0.5, 2))
        facts: dict[str, Any] = {"budget": draw.choice("ab"), "min_runtime_seconds": int(hours * 3600)} if hours else {}
        facts |= {"runtime_seconds": draw.choice((30, 1200, 9000)), "replicas": draw.randint(1, 3)}
        submit(world, f"w-{number}", draw.choice((1, 4, 8)), **facts)
    elif deed == "cancel":
        rows = world.control("GET", "workloads")["workloads"]
        living = sorted(row["workload"] for row in rows if row["status"] != "ended")
        world.control("POST", f"workloads/{draw.choice(living)}/cancel")
    else:
        do(world, deed, how)


def play(world: TestWorld, seed: int, *, halves: bool) -> bytes:
    fleet(world, 3, a=1, b=2)
    for number, (deed, how, seconds) in enumerate(script(seed)):
        with suppress(ClientError, IndexError):  # there is no such node or workload now
            act(world, number, deed, how)
        for part in (seconds // 2, seconds - seconds // 2) if halves else (seconds,):
            world.advance(part)
        if not halves:
            balance(world)
            schedule_balance(world)
    return world.export()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_befalls_hosts_gangs_are_whole_and_protection_is_kept(service: Running, seed: int) -> None:
    """FS-4, FS-7, FS-11, FS-14, FS-19; and by the same bytes however the time is divided (CT-1)."""
    assert play(service.world(seed=seed), seed, halves=False) == play(service.world(seed=seed), seed, halves=True)
