"""What is wrong with a study, field by field (VX-21)."""

from typing import Any

import pytest

from app.core.study_problems import problems
from tests.core.studies import categorical, discrete, double, integer, study, trial_job, under

LOG = "UNIT_LOG_SCALE"
P = "study_spec.parameters[0]"


def told(spec: dict[str, Any] | None = None, env: dict[str, str] | None = None, **facts: Any) -> list[str]:
    counts = {"maxTrialCount": 4, "parallelTrialCount": 2} | facts
    job = {"studySpec": spec or study(), "trialJobSpec": trial_job(**env or {})}
    return [problem.field for problem in problems(job | counts)]


GOOD: dict[str, dict[str, Any]] = {
    "one double": study(),
    "every kind": study(double(), integer(), categorical(), discrete()),
    "a grid": study(integer(), categorical(), algorithm="GRID_SEARCH"),
    "scales": study(double(low=0.1, scale=LOG), integer(scale="UNIT_REVERSE_LOG_SCALE"), discrete(scaleType=LOG)),
    "conditions": study(
        under(categorical(), (["adam"], double("lr")), (["sgd"], double("lr", 0, 9))),
        under(integer(), ([1, "2"], under(discrete("d"), ([16], double("below"))))),
    ),
    "a rule": study(medianAutomatedStoppingSpec={}),
    "two metrics": study(metrics=[{"metricId": "a"}, {"metricId": "b", "goal": "MINIMIZE"}]),
}


@pytest.mark.parametrize("name", GOOD)
def test_good(name: str) -> None:
    assert told(GOOD[name]) == []


def deep(levels: int) -> dict[str, Any]:
    spec = categorical("leaf", "x")
    for level in range(levels):
        spec = under(categorical(f"p{level}", "x"), (["x"], spec))
    return spec


OTHER = {"parentCategoricalValues": {"values": ["1"]}, "parameterSpec": double()}
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no metric": (study(metrics=[]), ["study_spec.metrics"]),
    "a metric without a name": (study(metric=""), ["study_spec.metrics[0].metric_id"]),
    "a metric with a blank": (study(metric="a b"), ["study_spec.metrics[0].metric_id"]),
    "a metric twice": (study(metrics=[{"metricId": "a"}] * 2), ["study_spec.metrics[1].metric_id"]),
    "no parameter": (study(parameters=[]), ["study_spec.parameters"]),
    "a parameter twice": (study(double(), double()), ["study_spec.parameters[1].parameter_id"]),
    "no value spec": (study({"parameterId": "x"}), [P]),
    "two value specs": (study(double() | integer()), [P]),
    "upside down": (study(double(low=2, high=1)), [f"{P}.double_value_spec"]),
    "endless": (study(double(high=float("inf"))), [f"{P}.double_value_spec"]),
    "no logarithm": (study(double(low=0, scale=LOG)), [f"{P}.double_value_spec"]),
    "no logarithm of whole numbers": (study(integer(low=0, scale=LOG)), [f"{P}.integer_value_spec"]),
    "no categories": (study(categorical(categoricalValueSpec={"values": []})), [f"{P}.categorical_value_spec.values"]),
    "a category twice": (study(categorical("c", "a", "a")), [f"{P}.categorical_value_spec.values"]),
    "scaled categories": (study(categorical(scaleType=LOG)), [f"{P}.scale_type"]),
    "no order": (study(discrete("d", 2, 1)), [f"{P}.discrete_value_spec.values"]),
    "no list": (study(discrete(discreteValueSpec={})), [f"{P}.discrete_value_spec.values"]),
    "a list without logarithm": (study(discrete("d", 0, 1, scaleType=LOG)), [f"{P}.discrete_value_spec.values"]),
    "a double in a grid": (study(double(), algorithm="GRID_SEARCH"), [f"{P}.double_value_spec"]),
    "a double deep in a grid": (
        study(under(integer(), ([1], double())), algorithm="GRID_SEARCH"),
        [f"{P}.conditional_parameter_specs[0].parameter_spec.double_value_spec"],
    ),
    "a double with conditions": (study(under(double(), ([1.0], integer()))), [f"{P}.conditional_parameter_specs[0]"]),
    "a condition of another kind": (
        study(integer(conditionalParameterSpecs=[OTHER])),
        [f"{P}.conditional_parameter_specs[0]"],
    ),
    "a condition without a parameter": (
        study(integer(conditionalParameterSpecs=[{"parentIntValues": {"values": ["1"]}}])),
        [f"{P}.conditional_parameter_specs[0]"],
    ),
    "a value that the parent has not": (
        study(under(integer(), ([9], double()))),
        [f"{P}.conditional_parameter_specs[0].parent_int_values.values"],
    ),
    "no value of the parent": (
        study(under(categorical(), ([], double()))),
        [f"{P}.conditional_parameter_specs[0].parent_categorical_values.values"],
    ),
    "twice under one value": (
        study(under(categorical(), (["adam"], double("x")), (["sgd", "adam"], double("x")))),
        [f"{P}.conditional_parameter_specs[1]"],
    ),
    "its parent's name": (
        study(under(categorical("x"), (["adam"], double("x")))),
        [f"{P}.conditional_parameter_specs[0].parameter_spec.parameter_id"],
    ),
    "another's name": (
        study(under(categorical("x"), (["adam"], double("y"))), double("y")),
        [f"{P}.conditional_parameter_specs[0].parameter_spec.parameter_id"],
    ),
    "the name of one under another": (
        study(under(categorical("x"), (["adam"], double("y"))), under(categorical("z"), (["adam"], double("y")))),
        ["study_spec.parameters[1].conditional_parameter_specs[0].parameter_spec.parameter_id"],
    ),
    "too deep": (study(deep(10)), ["study_spec.parameters"]),
    "too many": (study(*(double(f"p{n}") for n in range(101))), ["study_spec.parameters"]),
    "two rules": (study(medianAutomatedStoppingSpec={}, decayCurveStoppingSpec={}), ["study_spec"]),
    "an end of its own": (study(studyStoppingConfig={}), ["study_spec.study_stopping_config"]),
    "a metric to be safe by": (
        study(metrics=[{"metricId": "a", "safetyConfig": {}}]),
        ["study_spec.metrics[0].safety_config"],
    ),
    "another study's knowledge": (study(transferLearningConfig={}), ["study_spec.transfer_learning_config"]),
    "everything at once": (
        study(double(low=2, high=1), {"parameterId": ""}, metric=""),
        [
            "study_spec.metrics[0].metric_id",
            "study_spec.parameters[1].parameter_id",
            f"{P}.double_value_spec",
            "study_spec.parameters[1]",
        ],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str) -> None:
    spec, fields = BAD[name]
    assert told(spec) == fields


def test_counts() -> None:
    assert told(maxTrialCount=0, parallelTrialCount=-1, maxFailedTrialCount=-1) == [
        "max_trial_count",
        "parallel_trial_count",
        "max_failed_trial_count",
    ]
    assert told(maxTrialCount=1001) == ["max_trial_count"]
    assert [problem.field for problem in problems({})] == ["max_trial_count", "parallel_trial_count", "study_spec"]


def test_a_program_that_cannot_be_read() -> None:
    assert told(env={"WINDTUNNEL_METRICS": "accuracy = depth"}) == ["trial_job_spec.worker_pool_specs[0]"]


def test_as_deep_and_as_many_as_may_be() -> None:
    assert told(study(deep(9))) == told(study(*(double(f"p{n}") for n in range(100)))) == []
