"""Studies in canonical proto3 JSON: a test names only what it is about."""

from typing import Any


def double(
    name: str = "lr", low: float = 0.0, high: float = 1.0, scale: str | None = None, **facts: Any
) -> dict[str, Any]:
    return _spec(name, "doubleValueSpec", {"minValue": low, "maxValue": high}, scale, facts)


def integer(name: str = "units", low: int = 1, high: int = 4, scale: str | None = None, **facts: Any) -> dict[str, Any]:
    return _spec(name, "integerValueSpec", {"minValue": str(low), "maxValue": str(high)}, scale, facts)


def categorical(name: str = "optimizer", *values: str, **facts: Any) -> dict[str, Any]:
    return _spec(name, "categoricalValueSpec", {"values": list(values or ("adam", "sgd"))}, None, facts)


def discrete(name: str = "batch", *values: float, **facts: Any) -> dict[str, Any]:
    return _spec(name, "discreteValueSpec", {"values": list(values or (16.0, 32.0))}, None, facts)


def _spec(name: str, member: str, values: dict[str, Any], scale: str | None, facts: dict[str, Any]) -> dict[str, Any]:
    return {"parameterId": name, member: values} | ({"scaleType": scale} if scale else {}) | facts


def under(parent: dict[str, Any], *children: tuple[list[Any], dict[str, Any]]) -> dict[str, Any]:
    """The parameter with others that apply while it has one of the values."""
    kinds = {"categoricalValueSpec": "parentCategoricalValues", "integerValueSpec": "parentIntValues"}
    kind = next((kinds[name] for name in kinds if name in parent), "parentDiscreteValues")
    specs = [{kind: {"values": values}, "parameterSpec": child} for values, child in children]
    return parent | {"conditionalParameterSpecs": specs}


def study(
    *parameters: dict[str, Any], metric: str = "accuracy", goal: str = "MAXIMIZE", **facts: Any
) -> dict[str, Any]:
    """A StudySpec with one metric."""
    return {"metrics": [{"metricId": metric, "goal": goal}], "parameters": list(parameters or (double(),))} | facts


def trial_job(**env: str) -> dict[str, Any]:
    """A CustomJobSpec of one replica with these variables."""
    container: dict[str, Any] = {"imageUri": "gcr.io/p/trainer:1"}
    if env:
        container["env"] = [{"name": name, "value": value} for name, value in env.items()]
    return {
        "workerPoolSpecs": [
            {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": container}
        ]
    }
