"""Labels choose a job's cluster, its budget and its minimum runtime (VX-24)."""

from typing import Any

import pytest
from google.api_core import exceptions

from tests.fleets import PARENT, gpu_group, gpus, state, submit, told
from tests.kit import TestWorld, custom_job, eks, worker_pool


@pytest.fixture
def demo(world: TestWorld) -> TestWorld:
    world.sagemaker.create_cluster(**eks(gpu_group(1), name="Demo-1"))
    world.advance(minutes=10)
    return world


def refusal(world: TestWorld, *pools: dict[str, Any], **labels: str) -> str:
    with pytest.raises(exceptions.BadRequest) as refused:
        submit(world, *(pools or (gpus(),)), **labels)
    assert refused.value.code == 400
    return str(refused.value.message)


def test_a_cluster_is_meant_by_its_name_in_lower_case_or_by_its_id(demo: TestWorld) -> None:
    """VX-24."""
    by_name = submit(demo, gpus(1, 1), cluster="demo-1")
    by_id = submit(demo, gpus(1, 1), cluster=demo.describe("Demo-1")["ClusterArn"].rpartition("/")[2])
    assert [state(demo, job) for job in (by_name, by_id)] == ["PENDING", "PENDING"]
    assert told(demo, by_name).labels == {"windtunnel-cluster": "demo-1"}


def test_unknown_clusters_and_labels_are_refused_with_what_to_do(demo: TestWorld) -> None:
    """VX-24: 400."""
    assert "no cluster of this world has that name" in refusal(demo, cluster="demo")
    assert "Did you mean windtunnel-region" in refusal(demo, cluster="demo-1", regoin="us-west-2")
    assert "no cluster of region eu-west-1" in refusal(demo, cluster="demo-1", region="eu-west-1")
    assert "at most 8h" in refusal(demo, cluster="demo-1", min_runtime="9h")
    assert demo.vertex.list_custom_jobs(parent=PARENT).custom_jobs == []


def test_of_two_clusters_of_a_name_the_labels_must_tell_which(world: TestWorld) -> None:
    """VX-24: ambiguous is 400, unless one of them is in the default account and region."""
    for region in ("us-east-1", "eu-west-1"):
        world.client(region=region).create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    message = refusal(world)
    assert "us-east-1" in message and "eu-west-1" in message and "windtunnel-region" in message
    job = submit(world, gpus(), region="eu-west-1")
    fleets = {one["cluster_arn"].split(":")[3]: one["taken"] for one in world.control("GET", "fleets")["fleets"]}
    assert (state(world, job), fleets) == ("PENDING", {"us-east-1": 0, "eu-west-1": 8})
    world.sagemaker.create_cluster(**eks(gpu_group(1)))
    world.advance(minutes=10)
    assert state(world, submit(world, gpus())) == "PENDING", "the default one is meant"
    assert state(world, submit(world, gpus(), account="111122223333", region="us-east-1")) == "PENDING"


def test_spot_and_flex_start_buy_machines_elsewhere(demo: TestWorld) -> None:
    """VX-24."""
    for strategy in ("SPOT", "FLEX_START"):
        job = custom_job("train", gpus(), labels={"windtunnel-cluster": "demo-1"})
        job["job_spec"]["scheduling"] = {"strategy": strategy}
        with pytest.raises(exceptions.BadRequest, match="Leave one of the two out"):
            demo.vertex.create_custom_job(parent=PARENT, custom_job=job)


def test_what_no_node_has_is_refused_and_what_google_does_not_sell_is_not(demo: TestWorld) -> None:
    """VX-24: TPUs are on no cluster; one H100 on demand and regions without any are no matter of a cluster's nodes."""
    tpu = worker_pool("ct5lp-hightpu-4t", accelerator_type="TPU_V5_LITEPOD", accelerator_count=4)
    assert "no node of a HyperPod cluster has" in refusal(demo, tpu, cluster="demo-1")
    pool = worker_pool("a3-highgpu-8g", accelerator_type="NVIDIA_H100_80GB", accelerator_count=4)
    assert "It has 8" in refusal(demo, pool, cluster="demo-1")
    labels = {"windtunnel-cluster": "demo-1"}
    job = custom_job("train", gpus(1, 1), labels=labels)
    parent = "projects/p2/locations/southamerica-east1"
    made = demo.vertex.create_custom_job(parent=parent, custom_job=job)
    assert made.state.name == "JOB_STATE_QUEUED", "until the scheduler has looked"
    demo.advance()
    assert demo.vertex.get_custom_job(name=made.name).state.name == "JOB_STATE_PENDING"


def test_quotas_of_vertex_ai_do_not_apply_on_a_cluster(demo: TestWorld) -> None:
    """VX-24."""
    metric = "aiplatform.googleapis.com/custom_model_training_nvidia_h100_gpus"
    number = submit(demo, gpus(1, 1), cluster="demo-1").split("/")[1]
    quota = {"name": metric, "value": 0, "account": number, "region": "us-central1"}
    demo.control("POST", "quotas", json=quota)
    assert state(demo, submit(demo, gpus(1, 1), cluster="demo-1")) == "PENDING"
    with pytest.raises(exceptions.TooManyRequests):
        demo.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("train", gpus()))


def test_budget_and_minimum_runtime_are_kept_without_a_cluster_too(demo: TestWorld) -> None:
    """VX-24: the labels are the job's; the regional pool takes it as any other."""
    labels = {"windtunnel-budget": "team-a", "windtunnel-min-runtime": "2h"}
    job = demo.vertex.create_custom_job(parent=PARENT, custom_job=custom_job("train", labels=labels))
    assert (dict(job.labels), job.state.name) == (labels, "JOB_STATE_PENDING")
