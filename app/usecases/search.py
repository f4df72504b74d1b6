"""What a trial tries: a grid, chance, or by default what the trials before it have taught (VX-21).

The service's own default is not public; here it is the tree-structured Parzen estimator of optuna, which only this
module knows, and which is loaded when it is first needed. A suggestion depends on the trials so far and the seed
alone: the same in every replay.
"""

import importlib.util
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.core.chance import below
from app.core.errors import FailedPrecondition
from app.core.reports import Metric
from app.core.search_space import Parameter, Value, Values, applied, applying, at, is_finite, place_of
from app.core.searching import centre, grid_points, random_point, untried

if TYPE_CHECKING:
    import optuna

REMEMBERED = 100
"""Trials that the default search looks at: half of them the latest, half the best; so that its cost is bounded."""
MOST_CHOICES = 32
"""Of a parameter with more categories the search thinks as of a list of numbers, or it would take seconds."""
_TRIES = 8
"""How often it looks for a point that is new before it takes the first of the grid that is."""
_NO_OPTUNA = (
    "The default search algorithm needs optuna, which is not installed. Install it with `pip install "
    "'windtunnel[search]'`, or choose GRID_SEARCH or RANDOM_SEARCH as studySpec.algorithm."
)


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial so far: its values, and each metric when it has completed. One that failed taught nothing."""

    values: Values
    metrics: Mapping[str, float] | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """A study's search; `subject` tells it from others in its world."""

    algorithm: str
    space: Sequence[Parameter]
    metrics: Sequence[Metric]
    seed: int
    subject: str

    def suggest(self, first: int, count: int, history: Sequence[Tried]) -> list[dict[str, Value]]:
        """The values of so many trials, numbered from `first`; fewer when no more are left. FailedPrecondition."""
        if self.algorithm == "GRID_SEARCH":
            return grid_points(self.space, first, count)
        if self.algorithm == "RANDOM_SEARCH":
            numbers = range(first, first + count)
            return [random_point(self.space, self.seed, f"{self.subject}/{number}") for number in numbers]
        return self._learnt(first, count, history)

    def _learnt(self, first: int, count: int, history: Sequence[Tried]) -> list[dict[str, Value]]:
        study = _study(self.metrics)
        for one in _remembered([one for one in history if not one.failed], self.metrics[0]):
            study.add_trial(_told(self.space, self.metrics, one))
        tried, found = [one.values for one in history], list[dict[str, Value]]()
        for number in range(first, first + count):
            values = self._next(study, number, tried) if tried else centre(self.space)
            if values is None:
                break
            if not tried:
                study.add_trial(_told(self.space, self.metrics, Tried(values)))
            found.append(values)
            tried.append(values)
        return found

    def _next(self, study: "optuna.Study", number: int, tried: Collection[Values]) -> dict[str, Value] | None:
        """What the study suggests, if it is new; it has it as a trial that runs."""
        from optuna.trial import TrialState

        for attempt in range(_TRIES):
            study.sampler = _sampler(below(self.seed, f"{self.subject}/{number}/{attempt}", "search", 2**32))
            trial = study.ask()
            if (values := _chosen(self.space, trial)) not in tried:
                return values
            study.tell(trial, state=TrialState.FAIL)
        return untried(self.space, tried) if is_finite(self.space) else values


def check(algorithm: str) -> None:
    """FailedPrecondition when the algorithm cannot be run on this machine."""
    if algorithm not in ("GRID_SEARCH", "RANDOM_SEARCH") and importlib.util.find_spec("optuna") is None:
        raise FailedPrecondition(_NO_OPTUNA)


def _study(metrics: Sequence[Metric]) -> "optuna.Study":
    try:
        import optuna
    except ImportError:
        raise FailedPrecondition(_NO_OPTUNA) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(directions=["maximize" if metric.maximize else "minimize" for metric in metrics])


def _sampler(seed: int) -> "optuna.samplers.BaseSampler":
    from optuna.samplers import TPESampler

    return TPESampler(seed=seed)


def _remembered(history: Sequence[Tried], metric: Metric) -> Sequence[Tried]:
    """All of a short history, in its order."""
    if len(history) <= REMEMBERED:
        return history
    half = REMEMBERED // 2
    older = [one for one in history[:-half] if one.metrics is not None]
    sign = 1 if metric.maximize else -1
    older.sort(key=lambda one: sign * one.metrics[metric.metric_id] if one.metrics else 0, reverse=True)
    return [*older[:half], *history[-half:]]


def _told(space: Sequence[Parameter], metrics: Sequence[Metric], one: Tried) -> "optuna.trial.FrozenTrial":
    from optuna.trial import TrialState, create_trial

    pairs = list(applied(space, one.values))
    done = one.metrics
    return create_trial(
        state=TrialState.RUNNING if done is None else TrialState.COMPLETE,
        params={parameter.path: _place(parameter, value) for parameter, value in pairs},
        distributions={parameter.path: _distribution(parameter) for parameter, _ in pairs},
        values=None if done is None else [done[metric.metric_id] for metric in metrics],
    )


def _is_choice(parameter: Parameter) -> bool:
    return parameter.kind == "CATEGORICAL" and len(parameter.values) <= MOST_CHOICES


def _place(parameter: Parameter, value: Value) -> float | int:
    """What optuna knows the value as."""
    if _is_choice(parameter):
        return parameter.values.index(value)
    return min(max(place_of(parameter, value), 0.0), 1.0)


def _distribution(parameter: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    return CategoricalDistribution(range(len(parameter.values))) if _is_choice(parameter) else FloatDistribution(0, 1)


def _chosen(space: Sequence[Parameter], trial: "optuna.Trial") -> dict[str, Value]:
    values: dict[str, Value] = {}
    for parameter in space:
        if _is_choice(parameter):
            value = parameter.values[trial.suggest_categorical(parameter.path, range(len(parameter.values)))]
        else:
            value = at(parameter, trial.suggest_float(parameter.path, 0, 1))
        values[parameter.parameter_id] = value
        values |= _chosen(applying(parameter, value), trial)
    return values
