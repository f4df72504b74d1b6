"""`kill -9` of reconcilers while studies ask for trials, stop some and end."""

import random
import time

from app.settings import Settings
from tests.kit import Running, TestWorld
from tests.scenarios.test_tuning import CPUS, create, double, program, told
from tests.workers.audit import tables
from tests.workers.forked import Forked

KILLS = 20
MEDIAN = {"median_automated_stopping_spec": {}}


def _advance(world: TestWorld) -> None:
    """To the end of all studies; with leases of half a second, a pass that loads the search may lose one."""
    for _ in range(20):
        answer = world.http.post(f"{world.endpoint}/_windtunnel/clock/advance", json={"to": "2026-06-01T00:00:00Z"})
        if answer.status_code != 409:
            break
    assert answer.is_success and answer.json()["settled"], answer.text


def test_twenty_kills_while_studies_go_on(settings: Settings, remote: Running) -> None:
    """RL-1, VX-21: every trial is there once, with one custom job that has its parameters; the studies end."""
    world = remote.world(frozen=False, rate=30.0)
    world.control("POST", "quotas", json={"name": CPUS, "value": 40, "project": "p1"})
    names = [
        create(world, double("x", 0, 1), study=study, job=program(RUN_SECONDS="8"), max_trial_count=25,
               parallel_trial_count=5, display_name=f"s{number}")
        for number, study in enumerate(({}, MEDIAN, {"algorithm": "RANDOM_SEARCH"}))
    ]  # fmt: skip
    draw = random.Random(3)
    reconcilers = [Forked("reconciler", settings) for _ in range(2)]
    try:
        for kill in range(KILLS):
            time.sleep(0.05 + draw.random() * 0.3)
            reconcilers[kill % 2].kill()
            reconcilers[kill % 2].start()
        time.sleep(0.3)
    finally:
        for one in reconcilers:
            one.stop()
        world.control("POST", "clock", json={"frozen": True})
    begun = sum(len(told(world, name).trials) for name in names)
    _advance(world)
    assert world.control("GET", "status")["failing"] == []
    jobs = tables(world)["custom_job"]
    for name in names:
        job = told(world, name)
        assert job.state.name == "JOB_STATE_SUCCEEDED" and len(job.trials) == 25
        mine = {row["trial_id"]: row for row in jobs if row["tuning_id"] == name.rpartition("/")[2]}
        assert len(mine) == sum(row["tuning_id"] == name.rpartition("/")[2] for row in jobs) == 25
        for trial in job.trials:
            row = mine[trial.id]
            assert trial.custom_job.endswith(row["job_id"]) and row["outcome"] is not None
            [argument] = row["spec"]["workerPoolSpecs"][0]["containerSpec"]["args"]
            assert float(argument.partition("=")[2]) == trial.parameters[0].value
    assert begun > 3, "the kills met something"
