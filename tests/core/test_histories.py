"""Whole histories: the cadence of looking changes nothing, and the ledger is what the events tell."""

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.effects import EFFECTS
from app.core.repair import reboot, replace
from app.core.times import WorldTime
from app.core.timings import PROFILES
from tests.core.builders import CPU, GPU, T0, at, classic, controller, group, living, login, pool, rule, slurm, workers
from tests.core.fleet import Fleet, story

END = at(hours=8)
LAUNCH_EFFECTS = [name for name, effect in EFFECTS.items() if effect.kind == "launch"]
NODE_EFFECTS = [name for name, effect in EFFECTS.items() if effect.kind == "node"]
Step = tuple[WorldTime, Callable[[Fleet], object]]


def script_of(seed: int) -> tuple[Callable[[], Fleet], list[Step]]:
    """A cluster and what its user does with it, drawn from the seed."""
    dice = random.Random(seed)
    kind = dice.choice(["slurm", "eks", "classic"])
    pools = [pool(dice.randint(0, 8)), pool(dice.randint(0, 3), instance_type=CPU)][: dice.randint(0, 2)]
    faults = [
        rule(
            dice.choice(LAUNCH_EFFECTS),
            f"fault-{n}",
            probability=dice.choice([100_000, 500_000, 1_000_000]),
            every=dice.choice([1, 1, 3]),
            times=dice.choice([None, 1, 4]),
        )
        for n in range(dice.randint(0, 3))
    ]
    faults += [
        rule(
            dice.choice(NODE_EFFECTS),
            f"ill-{n}",
            probability=dice.choice([200_000, 1_000_000]),
            times=dice.randint(1, 5),
            seconds=dice.choice([None, 1800]),
            code=dice.choice([None, "Xid-73"]),
        )
        for n in range(dice.randint(0, 2))
    ]
    minimum = dice.randint(0, 3)
    waits = T0 if minimum else None
    pace = dice.choice(sorted(PROFILES))
    shape = {
        "slurm": (
            slurm(),
            controller(min_since=T0),
            login(2, min_since=T0),
            workers(4, minimum=minimum, min_since=waits),
        ),
        "eks": (living(), workers(4, minimum=minimum, min_since=waits), group("other", 2, deep_check=True)),
        "classic": (classic(), workers(3), group("other", 2, has_script=False)),
    }[kind]

    def begin() -> Fleet:
        return Fleet(*shape, pools=pools, faults=faults, timings=PROFILES[pace], seed=seed)

    moments = sorted(dice.randrange(0, 7 * 3600) for _ in range(dice.randint(0, 5)))
    return begin, [(at(moment), _deed(dice, kind)) for moment in moments]


def _deed(dice: random.Random, kind: str) -> Callable[[Fleet], object]:
    count = dice.randint(0, 7)
    least = dice.choice([None, 0, count // 2, count]) if kind != "classic" else None
    total = dice.randint(0, 9)

    def update(fleet: Fleet) -> None:
        current = fleet.groups.get("workers")
        if fleet.status == "InService" and current is not None:
            fleet.update(("workers", max(count, current.minimum) if least is None else count, least))

    def provide(fleet: Fleet) -> None:
        if fleet.pools:
            fleet.provide(pool(total), *([pool(3, instance_type=CPU)] if total % 2 else []))

    def delete(fleet: Fleet) -> None:
        if fleet.status in ("InService", "Failed"):
            fleet.delete()

    def cure(fleet: Fleet) -> None:
        if fleet.status == "InService":
            fleet.repair(reboot if total % 2 else replace)

    def patch(fleet: Fleet) -> None:
        calm = all(fleet.group_status(name) == "InService" for name in fleet.groups)
        if fleet.status == "InService" and calm:
            size = {"Type": "INSTANCE_COUNT", "Value": 1 + total}
            alarms = [{"AlarmName": "loss"}]
            rolling = {"RollingUpdatePolicy": {"MaximumBatchSize": size}, "WaitIntervalInSeconds": 60 * total}
            fleet.patch(rolling | ({"AutoRollbackConfiguration": alarms} if count % 2 else {}) if total % 3 else None)

    def alarm(fleet: Fleet) -> None:
        fleet.alarm(*(["loss"] if total % 2 else []))

    return dice.choice([update, update, provide, provide, cure, patch, patch, alarm, delete])


def play(begin: Callable[[], Fleet], steps: Sequence[Step], looks: Sequence[WorldTime]) -> Fleet:
    """Run to each step and do it, and look at these moments too."""
    fleet = begin()
    stops: list[tuple[WorldTime, int, Callable[[Fleet], object]]] = [(when, 1, deed) for when, deed in steps]
    stops += [(look, 0, lambda _: None) for look in looks]
    for when, _, deed in sorted(stops, key=lambda stop: stop[:2]):
        fleet.run(when)
        deed(fleet)
    return fleet.run(END)


@pytest.mark.parametrize("decade", range(20))
def test_the_same_script_gives_the_same_world(decade: int) -> None:
    """RL-10, 200 seeded scripts: once with no look between, once with many."""
    for seed in range(decade * 10, decade * 10 + 10):
        begin, steps = script_of(seed)
        often = [at(minutes=7 * n) for n in range(60)] + [at(n) for n in range(20)]
        straight, pieces = (play(begin, steps, looks) for looks in ((), often))
        assert story(straight) == story(pieces), f"seed {seed}"
        check_bills(straight)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 8 * 3600), max_size=12))
@settings(max_examples=40, deadline=None)
def test_any_cadence_gives_the_same_world(seed: int, looks: list[int]) -> None:
    """RL-10: to p and then to q equals straight to q."""
    begin, steps = script_of(seed)
    assert story(play(begin, steps, [at(look) for look in looks])) == story(play(begin, steps, ()))


_ENDINGS = ("script-failed", "provision-failed", "terminating")


def check_bills(fleet: Fleet) -> None:
    """HP-22 to HP-24, RL-1: the ledger is the integral of what the events tell of each instance."""
    begun: dict[str, WorldTime] = {}
    ended: dict[str, WorldTime] = {}
    updated: set[str] = set()  # their scripts fail while the instance runs on
    for event in sorted(fleet.events, key=lambda event: event.at):
        if event.instance_id is None:
            continue
        if event.kind in ("script-started", "provisioned"):
            begun.setdefault(event.instance_id, event.at)
        elif event.kind == "root-volume-started":
            updated.add(event.instance_id)
        elif event.kind in _ENDINGS and (event.kind != "script-failed" or event.instance_id not in updated):
            ended.setdefault(event.instance_id, event.at)
    told = {one: (start, ended.get(one)) for one, start in begun.items()}
    assert {one.instance_id: (one.started_at, one.ended_at) for one in fleet.ledger.values()} == told
    assert {one.instance_type for one in fleet.ledger.values()} <= {GPU, CPU}
