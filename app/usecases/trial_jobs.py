"""The custom job that runs a trial: the study's, with the trial's parameters (VX-21)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from app.core.job_labels import Home
from app.core.job_spec import pools
from app.core.program import program
from app.core.search_space import Values, applied, as_argument, space_of
from app.core.tuning import Tuning
from app.core.world import World
from app.usecases.jobs import JobIntent

LONGEST_NAME = 128


def job_of(tuning: Tuning, number: int, values: Values) -> JobIntent:
    """Every replica has the parameters as arguments; the trial's output goes to a directory of its own."""
    arguments = [as_argument(*pair) for pair in applied(space_of(tuning.study_spec), values)]
    tail = f"-trial-{number}"
    return JobIntent(
        display_name=tuning.display_name[: LONGEST_NAME - len(tail)] + tail,
        spec=_spec(tuning.trial_job_spec, number, arguments),
        labels=tuning.labels,
        encryption=tuning.encryption,
        tuning_id=tuning.tuning_id,
        trial_id=str(number),
        pipeline_id=tuning.pipeline_id,
        home=Home(tuning.home_account, tuning.home_region),
        environment={
            "CLOUD_ML_TRIAL_ID": str(number),
            "CLOUD_ML_HP_METRIC_TAG": tuning.study_spec["metrics"][0]["metricId"],
        },
    )


def any_job_of(tuning: Tuning) -> JobIntent:
    """What every trial's job needs, before there is any trial."""
    return job_of(tuning, 1, {})


def whole(tuning: Tuning, world: World) -> timedelta:
    """How long the program of a trial runs in all: its primary replica's."""
    pool, default = pools(tuning.trial_job_spec)[0], world.timings.delays["program"]
    return program(pool, tuning.labels, {}, default).run


def _spec(spec: Mapping[str, Any], number: int, arguments: Sequence[str]) -> dict[str, Any]:
    found = {**spec, "workerPoolSpecs": [_pool(pool, arguments) for pool in spec.get("workerPoolSpecs", ())]}
    if "baseOutputDirectory" in spec:
        prefix = spec["baseOutputDirectory"].get("outputUriPrefix", "")
        found["baseOutputDirectory"] = {"outputUriPrefix": f"{prefix.rstrip('/')}/{number}"}
    return found


def _pool(pool: Mapping[str, Any], arguments: Sequence[str]) -> Mapping[str, Any]:
    task = next((name for name in ("containerSpec", "pythonPackageSpec") if name in pool), None)
    if task is None:
        return pool
    return {**pool, task: {**pool[task], "args": [*pool[task].get("args", ()), *arguments]}}
