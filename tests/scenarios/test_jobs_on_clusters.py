"""One fleet for both clouds' APIs: custom jobs on the GPU nodes of a HyperPod cluster (VX-24)."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.api_core import exceptions

from tests.balance import balance
from tests.fleets import PARENT, fleet, gpu_group, gpus, held, queue, state, submit, told
from tests.kit import Running, TestWorld, eks, login, slurm, worker_pool, workers


@pytest.fixture
def demo(world: TestWorld) -> TestWorld:
    """A cluster with two nodes of eight H100 that run."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    return world


def test_a_job_runs_on_the_cluster_s_nodes_to_its_end(demo: TestWorld) -> None:
    """VX-24: PENDING at once, all replicas bound at one instant, RUNNING when all containers are up, then the GPUs are
    free again."""
    job = submit(demo, gpus(), gpus(1, 4))
    assert (state(demo, job), fleet(demo), queue(demo)) == ("PENDING", (16, 16, 16), [])
    demo.advance(seconds=5)
    assert state(demo, job) == "RUNNING"
    demo.advance(minutes=1)
    assert (state(demo, job), fleet(demo)) == ("SUCCEEDED", (16, 16, 0))


def test_containers_boot_one_by_one_on_nodes_that_run_already(demo: TestWorld) -> None:
    """VX-24: in the fast profile a container takes a second."""
    job = submit(demo, gpus(1, 1), gpus(3, 1))
    demo.advance(seconds=3)
    assert state(demo, job) == "PENDING"
    demo.advance(seconds=1)
    assert state(demo, job) == "RUNNING"


def test_nodes_are_shared_and_small_gangs_go_to_the_fullest(demo: TestWorld) -> None:
    """VX-24: replicas of several jobs share a node."""
    submit(demo, gpus(1, 2), name="one")
    submit(demo, gpus(1, 4), name="two")
    submit(demo, gpus(1, 8), name="three")
    nodes = held(demo)
    assert nodes["one/workerpool0-0"] == nodes["two/workerpool0-0"] != nodes["three/workerpool0-0"]


def test_a_gang_waits_for_all_its_nodes_and_nobody_behind_it_for_free_ones(demo: TestWorld) -> None:
    """VX-24, FS-6, FS-7: unfunded work that fits starts on what is free; the gang starts whole, in its turn."""
    first = submit(demo, gpus(1, 8), name="first")
    gang = submit(demo, gpus(), gpus(), name="gang")
    small = submit(demo, gpus(1, 1), name="small")
    assert [state(demo, job) for job in (first, gang, small)] == ["PENDING", "QUEUED", "PENDING"]
    assert queue(demo) == [("gang", "no-free-gpus")]
    demo.advance(seconds=20)
    assert [state(demo, job) for job in (first, gang, small)] == ["SUCCEEDED", "RUNNING", "SUCCEEDED"]
    demo.advance(minutes=1)
    assert (state(demo, gang), queue(demo), fleet(demo)) == ("SUCCEEDED", [], (16, 16, 0))


def test_a_node_that_breaks_loses_its_worker_which_goes_on_elsewhere(demo: TestWorld) -> None:
    """VX-7, VX-24: the job runs on; the worker keeps its name and gets another node."""
    job = submit(demo, gpus(1, 4, RUN_SECONDS="600"), gpus(1, 4, RUN_SECONDS="600"))
    demo.advance(seconds=60)
    broken = held(demo)["train/workerpool0-0"]
    demo.fault("node-hardware", node=broken, times=1)
    demo.advance(seconds=10)
    nodes = held(demo)
    assert state(demo, job) == "RUNNING"
    assert set(nodes) == {"train/workerpool0-0", "train/workerpool1-0"}
    assert broken not in nodes.values()
    demo.advance(minutes=15)
    assert state(demo, job) == "SUCCEEDED"


def test_without_a_free_node_the_hole_waits_until_one_is_back(demo: TestWorld) -> None:
    """VX-24: the others go on; the hole is filled ahead of all who wait."""
    job = submit(demo, gpus(1, 8, RUN_SECONDS="600"), gpus(1, 8, RUN_SECONDS="600"))
    later = submit(demo, gpus(1, 1), name="later")
    demo.advance(seconds=60)
    broken = held(demo)["train/workerpool1-0"]
    demo.fault("node-hardware", node=broken, times=1)
    demo.advance(seconds=3)
    assert state(demo, job) == "RUNNING"
    assert queue(demo) == [("train", "lost-nodes"), ("later", "no-free-gpus")]
    assert set(held(demo)) == {"train/workerpool0-0"}
    demo.advance(minutes=5)
    assert set(held(demo)) == {"train/workerpool0-0", "train/workerpool1-0"}
    assert state(demo, later) == "QUEUED"
    demo.advance(minutes=30)
    assert [state(demo, each) for each in (job, later)] == ["SUCCEEDED", "SUCCEEDED"]


def test_a_worker_that_is_lost_though_its_node_is_not_goes_on_there(demo: TestWorld) -> None:
    """VX-6, VX-7, VX-24: by a fault rule of class transient; the gang keeps its GPUs."""
    demo.fault("worker-exit", code="transient", seconds=30, times=3)
    job = submit(demo, gpus(1, 8, RUN_SECONDS="60"), gpus(1, 8, RUN_SECONDS="60"))
    demo.advance(minutes=2)
    assert state(demo, job) == "RUNNING"
    demo.advance(minutes=2)
    assert (state(demo, job), fleet(demo)) == ("SUCCEEDED", (16, 16, 0))


def _deeds(world: TestWorld, node: dict[str, Any]) -> dict[str, Any]:
    """What takes a node out of Running, by name."""
    sagemaker, demo = world.sagemaker, {"ClusterName": "demo"}
    check = {"InstanceGroupName": "gpus", "InstanceIds": [node["InstanceId"]], "DeepHealthChecks": ["InstanceStress"]}
    return {
        "reboot": lambda: sagemaker.batch_reboot_cluster_nodes(**demo, NodeIds=[node["InstanceId"]]),
        "replace": lambda: sagemaker.batch_replace_cluster_nodes(**demo, NodeIds=[node["InstanceId"]]),
        "delete": lambda: sagemaker.batch_delete_cluster_nodes(**demo, NodeIds=[node["InstanceId"]]),
        "check": lambda: sagemaker.start_cluster_health_check(**demo, DeepHealthCheckConfigurations=[check]),
    }


@pytest.mark.parametrize("deed", ["reboot", "replace", "delete", "check"])
def test_whatever_takes_a_node_out_of_running_loses_its_workers_at_that_instant(demo: TestWorld, deed: str) -> None:
    """VX-7, VX-24: the owner's deeds act at once; the worker goes on on the other node."""
    job = submit(demo, gpus(1, 4, RUN_SECONDS="600"))
    demo.advance(seconds=60)
    [was] = held(demo).values()
    node = next(one for one in demo.nodes(IncludeNodeLogicalIds=True) if one["NodeLogicalId"] == was)
    _deeds(demo, node)[deed]()
    demo.advance()
    [now] = held(demo).values()
    assert now != was
    assert state(demo, job) == "RUNNING"
    demo.advance(minutes=15)
    assert state(demo, job) == "SUCCEEDED"


def test_a_node_that_moves_to_another_cluster_leaves_its_worker_behind(demo: TestWorld) -> None:
    """VX-24: detaching ends its containers, in the request itself."""
    demo.sagemaker.create_cluster(**eks(gpu_group(1), name="other"))
    demo.advance(minutes=10)
    submit(demo, gpus(1, 8, RUN_SECONDS="600"))
    demo.advance(seconds=60)
    [was] = held(demo).values()
    arns = {name: demo.describe(name)["ClusterArn"] for name in ("demo", "other")}
    demo.sagemaker.move_cluster_nodes(
        SourceClusterArn=arns["demo"],
        SourceInstanceGroupName="gpus",
        TargetClusterArn=arns["other"],
        TargetInstanceGroupName="gpus",
        NodeLogicalIds=[was],
    )
    assert held(demo) == {}
    demo.advance()
    assert [node for node in held(demo).values() if node != was] == list(held(demo).values()) != []


def test_a_software_update_moves_the_workers_out_of_its_way(demo: TestWorld) -> None:
    """VX-24: a node that is updated is not Running."""
    job = submit(demo, gpus(1, 8, RUN_SECONDS="600"))
    demo.advance(seconds=60)
    demo.control("POST", "images", json={"version": "9.9.9"})
    demo.sagemaker.update_cluster_software(ClusterName="demo")
    demo.advance(minutes=1)
    demo.advance(hours=1)
    assert state(demo, job) == "SUCCEEDED"
    assert fleet(demo) == (16, 16, 0)


def test_a_scale_down_takes_idle_nodes_first(demo: TestWorld) -> None:
    """VX-24: the node with work on it is the newest, which would go first by HP-18."""
    demo.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(3)])
    demo.advance(minutes=10)
    newest = max(demo.nodes(IncludeNodeLogicalIds=True), key=lambda node: node["LaunchTime"])["NodeLogicalId"]
    jobs = [submit(demo, gpus(1, 8, RUN_SECONDS="900"), name=f"job-{n}") for n in range(3)]
    mine = next(name.partition("/")[0] for name, node in held(demo).items() if node == newest)
    for job in jobs:
        if told(demo, job).display_name != mine:
            demo.vertex.cancel_custom_job(name=job)
    demo.advance(seconds=10)
    assert list(held(demo).values()) == [newest]
    demo.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(1)])
    demo.advance(minutes=10)
    assert [node["NodeLogicalId"] for node in demo.nodes(IncludeNodeLogicalIds=True)] == [newest]
    assert list(held(demo).values()) == [newest]


def test_a_gang_that_can_never_fit_is_held_and_keeps_nobody_waiting(demo: TestWorld) -> None:
    """VX-24: it stays QUEUED with a reason, and starts when the cluster has grown."""
    huge = submit(demo, gpus(), gpus(2), name="huge")
    other = submit(demo, worker_pool("a2-highgpu-1g"), name="other")
    small = submit(demo, gpus(1, 1), name="small")
    assert [state(demo, job) for job in (huge, other, small)] == ["QUEUED", "QUEUED", "PENDING"]
    assert sorted(queue(demo)) == [("huge", "fleet-too-small"), ("other", "no-such-node")]  # of one instant: by id
    demo.advance(hours=5)
    assert state(demo, huge) == "QUEUED"
    demo.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(3)])
    demo.advance(minutes=10)
    assert state(demo, huge) == "SUCCEEDED"


def test_a_cluster_that_is_deleted_takes_its_jobs_with_it(demo: TestWorld) -> None:
    """VX-24: whether they run or wait; code 9, told a minute after the end like any other error (VX-9)."""
    running = submit(demo, gpus(1, 8, RUN_SECONDS="6000"), gpus(1, 8, RUN_SECONDS="6000"))
    waiting = submit(demo, gpus(1, 8), name="waiting")
    demo.advance(minutes=1)
    demo.sagemaker.delete_cluster(ClusterName="demo")
    with pytest.raises(exceptions.BadRequest, match="Deleting"):
        submit(demo, gpus())
    demo.advance(minutes=2)
    for job in (running, waiting):
        ended = told(demo, job)
        assert (state(demo, job), ended.error.code) == ("FAILED", 9)
        assert "was deleted" in ended.error.message
    demo.advance(minutes=10)
    assert demo.bill(by="job")["lines"][0]["workloads"][0]["job_name"] == "train"
    with pytest.raises(exceptions.BadRequest, match="no cluster of this world"):
        submit(demo, gpus())


def test_jobs_wait_for_a_cluster_that_is_being_created(world: TestWorld) -> None:
    """VX-24: QUEUED until nodes run, and then at once."""
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    job = submit(world, gpus())
    assert (state(world, job), queue(world)) == ("QUEUED", [("train", "no-node")])
    world.advance(seconds=2)
    assert queue(world) == [("train", "no-node")]
    world.advance(minutes=10)
    assert state(world, job) == "SUCCEEDED"


def test_a_job_that_is_cancelled_frees_its_nodes_and_its_turn(demo: TestWorld) -> None:
    """VX-15, VX-24: those behind it go on at once."""
    first = submit(demo, gpus(1, 8, RUN_SECONDS="6000"), gpus(1, 8), name="first")
    second = submit(demo, gpus(), gpus(), name="second")
    third = submit(demo, gpus(1, 1), name="third")
    demo.advance(seconds=30)
    demo.vertex.cancel_custom_job(name=second)
    demo.advance()
    assert [state(demo, job) for job in (first, second, third)] == ["RUNNING", "CANCELLED", "QUEUED"], "no GPU is free"
    demo.vertex.cancel_custom_job(name=first)
    demo.advance(seconds=10)
    assert [state(demo, job) for job in (first, third)] == ["CANCELLED", "RUNNING"]


def test_a_job_that_begins_again_keeps_its_nodes(demo: TestWorld) -> None:
    """VX-6, VX-24: a retry of the whole job is no return to the queue."""
    job = submit(demo, gpus(1, 8, EXIT_AFTER_SECONDS="5", EXIT_CODE="139"))
    later = submit(demo, gpus(), gpus(), name="later")
    demo.advance(seconds=20)
    before = held(demo)
    demo.advance(minutes=1)
    assert (held(demo), state(demo, later)) == (before, "QUEUED")
    demo.advance(minutes=30)
    assert (state(demo, job), told(demo, job).error.code) == ("FAILED", 3)
    assert state(demo, later) == "SUCCEEDED"


def test_on_slurm_jobs_go_to_compute_nodes_alone(world: TestWorld) -> None:
    """VX-24: replicas without GPUs too; controller and login nodes take no jobs."""
    world.sagemaker.create_cluster(**slurm(login(), workers(1), workers(1, "cpus", InstanceType="ml.c5.xlarge")))
    world.advance(minutes=10)
    job = submit(world, worker_pool(), worker_pool(replicas=3))
    groups = {node["NodeLogicalId"]: node["InstanceGroupName"] for node in world.nodes(IncludeNodeLogicalIds=True)}
    assert [groups[node] for node in held(world).values()] == ["cpus"] * 4
    assert fleet(world) == (8, 8, 0)
    world.advance(minutes=1)
    assert state(world, job) == "SUCCEEDED"


def test_a_fork_goes_on_alike(service: Running, demo: TestWorld) -> None:
    """CT-0, VX-24: jobs, their nodes and the queue are of the world."""
    submit(demo, gpus(1, 8, RUN_SECONDS="60"), gpus(1, 8, RUN_SECONDS="90"))
    submit(demo, gpus(1, 8), name="later")
    demo.advance(seconds=30)
    demo.control("POST", "worlds", json={"name": f"{demo.name}-fork", "fork_of": demo.name})
    fork = TestWorld(demo.base, f"{demo.name}-fork")
    service.worlds.append(fork)
    for each in (demo, fork):
        each.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[each.nodes()[0]["InstanceId"]])
        each.advance(minutes=10)
    assert json.loads(fork.export())["tables"] == json.loads(demo.export())["tables"]
    assert {job.state.name for job in fork.vertex.list_custom_jobs(parent=PARENT)} == {"JOB_STATE_SUCCEEDED"}


def test_a_cluster_that_lags_behind_its_clock_goes_first(service: Running) -> None:
    """VX-24: nobody is placed on a node of which the past is not done; then as ever."""
    world = service.world(frozen=False, rate=10_000.0)
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[world.nodes()[0]["InstanceId"]])
    while world.now() == (before := world.now()):
        pass
    job = submit(world, gpus())
    assert (before < world.now(), state(world, job)) == (True, "QUEUED")
    world.advance(hours=1)
    assert state(world, job) == "SUCCEEDED"


def test_many_at_once_hold_nothing_twice(demo: TestWorld) -> None:
    """VX-24: the lock of the cluster's fleet decides who was first."""
    with ThreadPoolExecutor(6) as pool:
        jobs = list(pool.map(lambda n: submit(demo, gpus(1, 4), name=f"job-{n}"), range(12)))
    assert Counter(state(demo, job) for job in jobs) == {"PENDING": 4, "QUEUED": 8}
    balance(demo)
    demo.advance(minutes=5)
    assert {state(demo, job) for job in jobs} == {"SUCCEEDED"}


def test_a_node_lost_between_two_attempts_is_a_hole_of_the_next(demo: TestWorld) -> None:
    """VX-6, VX-24: the workers have stopped, and one of their nodes goes."""
    job = submit(demo, gpus(1, 8, RUN_SECONDS="900"), gpus(1, 8, EXIT_AFTER_SECONDS="2", EXIT_CODE="139"))
    demo.advance(seconds=2 + 2 + 26)
    assert state(demo, job) == "PENDING", "all workers stop"
    lost = held(demo)["train/workerpool0-0"]
    demo.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeLogicalIds=[lost])
    demo.advance(seconds=5)
    assert queue(demo) == [("train", "lost-nodes")]
    demo.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(2)])
    demo.advance(minutes=10)
    assert (state(demo, job), told(demo, job).error.code) == ("FAILED", 3)
