"""What may befall a fleet at awkward instants: between seconds, while work leaves, while clusters and nodes go."""

import json
import random
from typing import Any

import httpx
import pytest

from app.usecases.fleet_memory import MEMORY
from tests.fleets import gpu_group, gpus, state, submit
from tests.kit import Running, TestWorld, eks, group, worker_pool
from tests.scenarios.test_compute_quotas import quota
from tests.scenarios.test_tuning import create as tune
from tests.schedule_balance import schedule_balance
from tests.workloads import HOUR, decided, fleet, funded, statuses
from tests.workloads import submit as submit_own
from tests.workloads import told as told_own

BUDGETS = ("vision", "speech")
STEPS = (0, 0.5, 1, 9.75, 60, 1800, 7200)
VERBS = ("own", "own", "own", "job", "job", "cancel", "priority", "budget", "policy", "reboot", "scale")


def cpu_pool(**env: str) -> dict[str, Any]:
    """A pool of one replica that needs no GPUs."""
    pool = worker_pool()
    pool["container_spec"]["env"] = [{"name": f"WINDTUNNEL_{name}", "value": text} for name, text in env.items()]
    return pool


def test_a_budget_s_limit_is_none_of_a_team_of_the_same_name(world: TestWorld) -> None:
    """FS-3, FS-17: on a cluster with compute quotas the world's limits hold nobody up, and its passes do not fail."""
    world.control("POST", "budgets", json={"name": "blue", "weight": 1})
    world.control("PUT", "budgets/blue/limits", json={"limits": [{"amount": 1, "period": "all"}]})
    fleet(world)
    quota(world, "blue", 1, {"Strategy": "Lend"})
    world.advance(minutes=5)
    submit_own(world, "a", budget="blue", runtime_seconds=7 * HOUR)
    assert statuses(world) == {"a": "running"}
    world.advance(hours=8)
    assert told_own(world, "a")["reason"] == "finished"


def test_a_worker_without_gpus_gets_another_node_when_one_is_back(world: TestWorld) -> None:
    """VX-7, VX-24: also where the only node was away when it was lost."""
    world.sagemaker.create_cluster(**eks(group("cpus", 1)))
    world.advance(minutes=10)
    job = submit(world, cpu_pool(RUN_SECONDS="600"))
    world.advance(seconds=30)
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[world.nodes()[0]["InstanceId"]])
    world.advance(hours=1)
    assert state(world, job) == "SUCCEEDED"


def test_a_study_whose_trials_have_not_come_yet_keeps_no_cluster_waiting(world: TestWorld) -> None:
    """FS-15, VX-21: its cluster is a fleet from the request on; who asks for the queue is told, and time goes on."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    tune(world, job={"worker_pool_specs": [gpus(1, 4)]}, labels={"windtunnel-cluster": "demo"})
    assert world.control("GET", "queue")["queue"] == []
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(2)])
    world.advance(hours=1)
    assert world.control("GET", "status")["failing"] == []


def test_who_is_cancelled_while_it_leaves_or_is_held_is_gone(world: TestWorld) -> None:
    """FS-5, FS-7, FS-18: neither victims nor who they left for hold anything; the next is served."""
    fleet(world, 1, vision=1, speech=1)
    submit_own(world, "old", runtime_seconds=9 * HOUR)
    funded(world, "new", "vision", runtime_seconds=HOUR)
    assert statuses(world) == {"old": "leaving", "new": "held"}
    world.control("POST", "workloads/new/cancel")
    world.control("POST", "workloads/old/cancel")
    world.advance(0.5)
    world.advance(0.5)
    assert statuses(world) == {"old": "ended", "new": "ended"}
    funded(world, "next", "speech", runtime_seconds=HOUR)
    assert statuses(world)["next"] == "running"
    schedule_balance(world)
    world.advance(hours=2)
    assert statuses(world)["next"] == "ended"
    assert schedule_balance(world)["segments"] == 1, "who left at once was charged nothing"


@pytest.mark.parametrize("code", ["139", "1"])
def test_a_job_that_fails_while_it_leaves_queues_or_ends(world: TestWorld, code: str) -> None:
    """FS-5, VX-6: in its grace it crashes, and is to be retried, or to end, in half a minute: none waits for ever."""
    fleet(world, 1, vision=1)
    job = submit(world, gpus(1, 8, EXIT_AFTER_SECONDS="20", EXIT_CODE=code))
    world.advance(seconds=17)
    funded(world, "new", "vision", runtime_seconds=HOUR)
    world.advance(minutes=5)
    assert (statuses(world)["new"], state(world, job)) == ("running", "QUEUED")
    world.advance(hours=5)
    assert state(world, job) == "FAILED"
    assert set(statuses(world).values()) == {"ended"}
    schedule_balance(world)


def test_a_job_that_ends_in_the_second_in_which_it_is_to_leave_has_ended(world: TestWorld) -> None:
    """FS-5, FS-15: what has happened comes before what is decided."""
    fleet(world, 1, vision=1)
    job = submit(world, gpus(1, 8, RUN_SECONDS="9"))
    world.advance(seconds=2)
    funded(world, "new", "vision", runtime_seconds=HOUR)
    world.advance(seconds=10)
    assert (statuses(world)["new"], state(world, job)) == ("running", "SUCCEEDED")
    assert [kind for kind, _, who in decided(world) if who != "new"] == ["admit"]


def test_a_cluster_of_a_former_one_s_name_is_another_fleet(world: TestWorld) -> None:
    """FS-14: what waited and ran on the former has ended, and holds nothing of the new one."""
    fleet(world, 1, vision=1)
    funded(world, "runs", "vision", 4, runtime_seconds=9 * HOUR)
    waits = submit(world, gpus(1, 8), budget="vision", min_runtime="1h")
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(minutes=10)
    assert (state(world, waits), told_own(world, "runs")["reason"]) == ("FAILED", "fleet-gone")
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    again = submit(world, gpus(1, 8), budget="vision", min_runtime="1h")
    funded(world, "runs", "vision", runtime_seconds=60)
    world.advance(minutes=20)
    assert state(world, again) == "SUCCEEDED"
    assert set(statuses(world).values()) == {"ended"}
    schedule_balance(world)


def test_what_is_asked_between_two_seconds_is_decided_at_the_next(world: TestWorld) -> None:
    """FS-15: passes are of whole seconds, whatever fraction the clock stands at; nothing is lost or done early."""
    fleet(world, 1)
    world.advance(0.25)
    world.control("POST", "budgets", json={"name": "vision", "weight": 1})
    submit_own(world, "a", budget="vision", min_runtime_seconds=60, runtime_seconds=90)
    assert statuses(world) == {"a": "new"}
    world.advance(0.5)
    assert statuses(world) == {"a": "new"}
    world.advance(0.25)
    assert statuses(world) == {"a": "running"}
    world.advance(89.999)
    assert statuses(world) == {"a": "running"}
    world.advance(0.001)
    assert statuses(world) == {"a": "ended"}


def do(world: TestWorld, draw: random.Random, number: int) -> None:
    """Something that a user or an owner may do now; a refusal is an answer, too."""
    verb, name = draw.choice(VERBS), f"w{draw.randrange(number + 1)}"
    control = f"{world.endpoint}/_windtunnel"
    leaf, size = draw.choice((*BUDGETS, None)), draw.choice((1, 2, 8))
    lasts = draw.choice((0, 60, 3600)) if leaf else 0
    match verb:
        case "own":
            body = {"name": f"w{number}", "gpus": size, "replicas": draw.randint(1, 2), "budget": leaf}
            more = {"min_runtime_seconds": lasts, "runtime_seconds": draw.choice((90, 5000)), "checkpoint_seconds": 60}
            world.control("POST", "workloads", json=body | more)
        case "job":
            labels = {"budget": leaf, "min_runtime": f"{lasts}s"} if leaf and lasts else {}
            run, code = draw.choice(("30", "4000")), draw.choice(("0", "0", "139"))
            submit(world, gpus(1, size, RUN_SECONDS=run, EXIT_CODE=code), gpus(1, size, RUN_SECONDS=run), **labels)
        case "cancel":
            world.http.post(f"{control}/workloads/{name}/cancel")
        case "priority":
            world.http.patch(f"{control}/workloads/{name}", json={"priority": draw.randint(0, 3)})
        case "budget":
            world.control("PATCH", f"budgets/{draw.choice(BUDGETS)}", json={"weight": draw.randint(1, 4)})
        case "policy":
            world.control("PATCH", "fleets/demo", json={"unfunded_grace_seconds": draw.choice((5, 30))})
        case "reboot":
            ids = [one["InstanceId"] for one in world.nodes() if one["InstanceStatus"]["Status"] == "Running"]
            if ids:
                world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[draw.choice(ids)])
        case _:
            world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(draw.randint(1, 3))])


def play(world: TestWorld, seed: int, numbers: range, cut: random.Random | None) -> None:
    """Deeds and steps of time; with `cut` each step is made in two, and what is remembered is forgotten between."""
    for number in numbers:
        draw = random.Random(f"{seed}/{number}")
        do(world, draw, number)
        step = draw.choice(STEPS)
        parts = [step] if cut is None else [part := cut.randrange(int(step * 4) + 1) / 4, step - part]
        for part in parts:
            if cut is not None:
                MEMORY.forget()
            world.advance(part)


@pytest.mark.parametrize("seed", range(2))
def test_the_same_deeds_give_the_same_bytes_however_time_is_cut_and_whoever_forgets(
    service: Running, seed: int
) -> None:
    """FS-16, RL-10, CT-0: in one step or two, from memory or from rows, and in a fork that goes on alike."""
    told = []
    for cut in (None, random.Random(seed)):
        world = fleet(service.world(seed=seed), 2, **dict.fromkeys(BUDGETS, 1))
        play(world, seed, range(12), cut)
        fork = f"{world.name}-fork"
        world.control("POST", "worlds", json={"name": fork, "fork_of": world.name})
        service.worlds.append(TestWorld(world.base, fork))
        play(service.worlds[-1], seed, range(12, 20), cut)
        play(world, seed, range(12, 20), cut)
        schedule_balance(world)
        told += [json.loads(one.export())["tables"] for one in (world, service.worlds[-1])]
        assert httpx.get(f"{world.base}/_windtunnel/status").json()["failing"] == []
    for other in told[1:]:
        different = [name for name, rows in told[0].items() if rows != other[name]]
        assert different == [], seed
