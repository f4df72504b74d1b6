"""Passes over jobs on a cluster that lags: no worker lives past the moment at which its node had gone (VX-24)."""

from app.store.db import Database
from app.usecases import job_passes, provisioning
from app.usecases.provisioning import Policy
from tests.balance import balance
from tests.fleets import gpu_group, gpus, held, state, submit
from tests.kit import TestWorld, eks


async def test_what_a_cluster_has_still_to_do_goes_first(database: Database, world: TestWorld) -> None:
    """VX-7, VX-24: the node broke before its job would have ended, so the job has lost its worker and goes on."""
    world.sagemaker.create_cluster(**eks(gpu_group(2)))
    world.advance(minutes=10)
    job = submit(world, gpus(1, 8, RUN_SECONDS="600"))
    world.advance(seconds=60)
    world.fault("node-hardware", node=held(world)["train/workerpool0-0"], times=1)
    world.control("POST", "clock", json={"frozen": False, "rate": 1_000_000})  # nobody works: both are late
    world.control("POST", "clock", json={"rate": 1})
    assert world.control("GET", "status")["failing"] == []
    assert await database.run(job_passes.pass_over, world.name, Policy()) is None
    while await database.run(provisioning.pass_over, world.name, Policy()) is not None:
        pass
    assert await database.run(job_passes.pass_over, world.name, Policy()) is not None
    world.control("POST", "clock", json={"frozen": True})
    world.advance(0)
    assert state(world, job) != "SUCCEEDED"
    balance(world)
    world.advance(minutes=30)
    assert state(world, job) == "SUCCEEDED"
    balance(world)
