"""Task governance in a world: its clock, its forks, its seed."""

import json
from typing import Any

import pytest

from tests.governance import SETTLED, SHAPES, Governed, cluster
from tests.kit import Running, TestWorld


@pytest.fixture(params=SHAPES)
def kind(world: TestWorld, request: pytest.FixtureRequest) -> Governed:
    return Governed(world, request.param, cluster(world))


def instant(world: TestWorld) -> Any:
    return world.control("POST", "clock/advance", json={"next": True})


def test_the_clock_stops_where_a_status_changes(kind: Governed) -> None:
    """CT-1: `next` finds the moment, names it beforehand, and is not held up there."""
    world = kind.world
    assert world.control("GET", "clock")["next_due"] is None
    one = kind.create()
    due = world.control("GET", "clock")["next_due"]
    done = instant(world)
    assert (done["after"], done["settled"]) == (due, True)
    assert done["counts"] == {"instants": 1, "status_changes": 1}
    assert kind.status(one) == "Created"
    assert world.control("GET", "clock")["next_due"] is None
    assert instant(world)["after"] == due, "nothing is left to reach"
    kind.update(one)
    world.advance(1)
    assert kind.status(one) == "Updating"
    done = world.advance(100)
    assert done["counts"] == {"instants": 1, "status_changes": 1}
    assert kind.status(one) == "Updated"


def test_a_moment_that_others_share(kind: Governed) -> None:
    """CT-1: a cluster and a config that are due at one instant are both done."""
    world = kind.world
    world.capacity("ml.c5.xlarge", 5, at="2026-01-01T00:01:02Z")
    one = kind.create()
    done = instant(world)
    assert done["counts"] == {"capacity_changes": 1, "instants": 1, "status_changes": 1}
    assert kind.status(one) == "Created"


def test_the_instant_profile_leaves_no_gap(service: Running) -> None:
    """CT-16."""
    world = service.world(profile="instant")
    kind = Governed(world, "ComputeQuota", cluster(world))
    one = kind.create()
    assert kind.status(one) == "Created"
    kind.update(one)
    assert kind.status(one) == "Updated"
    kind.delete(one)
    assert kind.status(one) == "Deleted"
    assert kind.create() != one


def test_a_running_world_needs_no_worker_for_it(service: Running) -> None:
    """CT-1: the clock alone settles it."""
    world = service.world(profile="instant")
    kind = Governed(world, "ComputeQuota", cluster(world))
    world.control("POST", "clock", json={"frozen": False})
    one = kind.create()
    while kind.status(one) != "Created":
        pass
    world.control("POST", "clock", json={"frozen": True})


def test_a_fork_goes_its_own_way(kind: Governed, service: Running) -> None:
    """CT-2: what is under way in the source is under way in the fork, and ends in each by itself."""
    one = kind.create(Tags=[{"Key": "a", "Value": "b"}])
    name = f"{kind.world.name}-fork"
    made = kind.world.http.post(f"{service.base}/_windtunnel/worlds", json={"name": name, "fork_of": kind.world.name})
    assert made.is_success, made.text
    twin = Governed(TestWorld(service.base, name), kind.shape, kind.cluster_arn)
    service.worlds.append(twin.world)
    twin.world.control("POST", "clock", json={"frozen": True})
    assert twin.describe(one) == kind.describe(one)
    twin.world.advance(SETTLED)
    assert (twin.status(one), kind.status(one)) == ("Created", "Creating")
    twin.delete(one)
    kind.world.advance(SETTLED)
    assert (twin.status(one), kind.status(one)) == ("Deleting", "Created")


def story(service: Running, *, step: float) -> bytes:
    """Rules that strike by chance, through updates and deletions, with the clock moved in equal steps."""
    world = service.world(seed=5)
    arn = cluster(world)
    for verb in ("Create", "Update", "Delete"):
        world.fault("internal-error", operation=f"{verb}ComputeQuota", probability=0.5)
    quotas = Governed(world, "ComputeQuota", arn)
    ids = [quotas.create(f"q{number}") for number in range(12)]
    pass_by(world, step)
    for one in ids:
        if quotas.status(one) == "Created":
            quotas.update(one, 1, ActivationState="Disabled")
    pass_by(world, step)
    for _ in range(3):
        for one in ids:
            if quotas.status(one) != "Deleted":
                quotas.delete(one)
        pass_by(world, step)
    return world.export()


def pass_by(world: TestWorld, step: float) -> None:
    for _ in range(round(4 / step)):
        world.advance(step)


def test_the_same_seed_the_same_bytes(service: Running) -> None:
    """RL-10, CT-3: however the clock is moved; a second deletion draws anew."""
    told = story(service, step=4)
    assert told == story(service, step=0.5)
    tables = json.loads(told)["tables"]
    assert {row["outcome"] for row in tables["governance"]} == {"Deleted"}
    deletions = next(rule for rule in tables["fault_rule"] if rule["operation"] == "DeleteComputeQuota")
    assert deletions["matches"] == 12 + deletions["hits"]
    hit = {entry["operation"] for entry in tables["fault_hit"]}
    assert hit == {"CreateComputeQuota", "UpdateComputeQuota", "DeleteComputeQuota"}
