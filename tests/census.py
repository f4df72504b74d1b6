"""What the whole run has seen of the real answers: operations called, errors declared, values of every status.

An operation counts only when each of its declared errors was provoked, and a status only when some answer showed it,
through boto3. The census looks at every answer that `tests.kit.aws_client` gets; at the end of a run of all tests it
names what nobody has seen, and the run fails.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import botocore.session

FAMILY = re.compile("Cluster|ComputeQuota|TrainingPlan|ReservedCapacity|UltraServer")
COUNTED = re.compile("Status$|ErrorCode$|^ExtensionHealthIssueCode$")
"""The enums whose every value must be seen."""
OUT_OF_REACH = {
    ("SlurmHealthStatus", "Healthy"): "there is no accounting database to watch",
    ("SlurmHealthStatus", "Unhealthy"): "there is no accounting database to watch",
    ("DatabaseConfigurationRollbackStatus", "NotApplicable"): "there is no accounting database to change",
    ("DatabaseConfigurationRollbackStatus", "Reverted"): "there is no accounting database to change",
    ("DatabaseConfigurationRollbackStatus", "RevertFailed"): "there is no accounting database to change",
}
"""What no command reaches, with the reason; docs/fidelity.md says the same to users."""


class Sight(NamedTuple):
    """An operation that answered (`call`), an error of it (`error`), or a value of an enum (`value`)."""

    kind: str
    name: str
    what: str


seen: set[Sight] = set()


def watch(client: Any) -> Any:
    """The client, whose answers are looked at."""
    client.meta.events.register("after-call.sagemaker", _look)
    return client


def _look(parsed: dict[str, Any], model: Any, **_: Any) -> None:
    if "Error" in parsed:
        seen.add(Sight("error", model.name, parsed["Error"]["Code"]))
        return
    seen.add(Sight("call", model.name, ""))
    if model.output_shape is not None:
        seen.update(_values(model.output_shape, parsed))


def _values(shape: Any, value: Any) -> Iterator[Sight]:
    """The counted enum values in an answer."""
    match shape.type_name:
        case "structure":
            for name, member in shape.members.items():
                if name in value:
                    yield from _values(member, value[name])
        case "list":
            for one in value[:200]:
                yield from _values(shape.member, one)
        case "map":
            for one in value.values():
                yield from _values(shape.value, one)
        case "string" if shape.metadata.get("enum") and COUNTED.search(shape.name):
            yield Sight("value", shape.name, value)


def wanted() -> set[Sight]:
    """All that the service's model declares of the family's operations, but for what is out of reach."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    found: set[Sight] = set()
    for name in model.operation_names:
        if not FAMILY.search(name):
            continue
        operation = model.operation_model(name)
        found.add(Sight("call", name, ""))
        found |= {Sight("error", name, error.name) for error in operation.error_shapes}
        if operation.output_shape is not None:
            found |= {Sight("value", *pair) for pair in _declared(operation.output_shape, set())}
    return {sight for sight in found if (sight.name, sight.what) not in OUT_OF_REACH}


def _declared(shape: Any, before: set[str]) -> Iterator[tuple[str, str]]:
    if shape.name in before:
        return
    before.add(shape.name)
    if shape.type_name == "structure":
        for member in shape.members.values():
            yield from _declared(member, before)
    elif shape.type_name == "list":
        yield from _declared(shape.member, before)
    elif shape.type_name == "map":
        yield from _declared(shape.value, before)
    elif COUNTED.search(shape.name):
        yield from ((shape.name, value) for value in shape.metadata.get("enum", ()))


def missing(sights: Iterable[Sight]) -> list[str]:
    """What is declared and was not seen, one line each."""
    return sorted(" ".join(sight).strip() for sight in wanted() - {Sight(*sight) for sight in sights})
