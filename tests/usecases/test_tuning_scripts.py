"""Seeded scripts over tuning jobs, pipelines, quotas and faults, done twice: equal bytes (RL-10)."""

import json
import random
from datetime import timedelta
from typing import Any

import pytest

from app.core.errors import DomainError
from app.store import worlds
from app.store.db import Database
from app.usecases import clocks, pipelines, tuning
from app.usecases.clocks import Goal
from app.usecases.provisioning import Policy
from app.usecases.worlds import export
from tests.core.studies import categorical, discrete, double, integer, study, under
from tests.jobs import Driver, pool, spec
from tests.store.conftest import make_world
from tests.tuning import create, pipeline, set_cpus

SCRIPTS = 12
RULES: tuple[dict[str, Any], ...] = ({}, {"medianAutomatedStoppingSpec": {}}, {"decayCurveStoppingSpec": {}})
SPACES: tuple[tuple[str, Any], ...] = (
    ("", (double("lr", 1e-4, 1, "UNIT_LOG_SCALE"), integer("n"))),
    ("", (under(categorical(), (["sgd"], double("momentum"))), discrete())),
    ("RANDOM_SEARCH", (double("lr"),)),
    ("GRID_SEARCH", (integer("n", 1, 5), categorical())),
)
ENDS = ({}, {"EXIT_CODE": "1"}, {"EXIT_CODE": "139"}, {"METRIC_NOISE": "0.1"}, {"METRIC_STEPS": "0"})


def script(seed: int) -> list[tuple[str, Any]]:
    """What is done, as data."""
    draw = random.Random(seed)
    moves: list[tuple[str, Any]] = []
    for _ in range(draw.randint(2, 6)):
        match draw.randrange(6):
            case 0 | 1 | 2:
                algorithm, space = draw.choice(SPACES)
                wanted = study(*space, algorithm=algorithm, **draw.choice(RULES))
                env = {"RUN_SECONDS": str(draw.choice((5, 20, 60)))} | draw.choice(ENDS)
                counts = {"max_trials": draw.randint(1, 8), "parallel_trials": draw.randint(1, 6)}
                moves.append(("tune" if draw.random() < 0.8 else "pipe", (wanted, spec(pool(**env)), counts)))
            case 3:
                moves.append(("cancel", draw.random()))
            case 4:
                moves.append(("delete", draw.random()))
            case 5:
                moves.append(("quota", draw.choice((4, 8, 40))))
        moves.append(("advance", draw.choice((1, 7, 30, 200))))
    return [*moves, ("quota", 100), ("advance", 2000)]


async def play(driver: Driver, moves: list[tuple[str, Any]], cut: random.Random | None) -> None:
    for verb, what in moves:
        try:
            await do(driver, verb, what, cut)
        except DomainError as refused:
            assert refused.message


async def do(driver: Driver, verb: str, what: Any, cut: random.Random | None) -> None:
    match verb:
        case "advance":
            parts = [what] if cut is None else [part := cut.randrange(what + 1), what - part]
            for part in parts:
                goal = Goal(by=timedelta(seconds=part))
                assert (await clocks.advance(driver.db, driver.scope.world, goal, Policy(), "t", 10.0)).settled
        case "tune":
            wanted, job, counts = what
            await create(driver, wanted, job, **counts)
        case "pipe":
            wanted, job, counts = what
            inputs = {"maxTrialCount": counts["max_trials"], "parallelTrialCount": counts["parallel_trials"]}
            await pipeline(driver, "tuning", {"studySpec": wanted, "trialJobSpec": job} | inputs)
        case "quota":
            await set_cpus(driver, what)
        case "cancel":
            if known := await driver.db.run(pipelines.listed, driver.scope):
                await driver.db.run(pipelines.cancel, driver.scope, known[0].pipeline.pipeline_id)
            if found := await driver.db.run(tuning.listed, driver.scope):
                chosen = found[int(what * len(found))].tuning.tuning_id
                await driver.db.run(tuning.cancel, driver.scope, chosen)
        case "delete":
            if found := await driver.db.run(tuning.listed, driver.scope):
                chosen = found[int(what * len(found))].tuning.tuning_id
                await driver.db.run(tuning.delete, driver.scope, chosen)


async def told(database: Database, seed: int, cut: random.Random | None) -> str:
    driver = Driver(database, await make_world(database, seed=seed))
    await play(driver, script(seed), cut)
    exported = await database.run(export, driver.scope.world)
    assert all(row["due_at"] is None for row in exported["tables"]["tuning_job"]), "all has settled"
    async with database.transaction() as tx:
        await worlds.remove(tx, driver.scope.world)
    return json.dumps(exported)


@pytest.mark.parametrize("tenth", range(3))
async def test_same_script_same_bytes(database: Database, tenth: int) -> None:
    """RL-10, VX-21: equal exports, however the way is cut into steps."""
    for seed in range(tenth, SCRIPTS, 3):
        assert await told(database, seed, None) == await told(database, seed, random.Random(seed)), f"seed {seed}"
