"""AWS's own service models, as botocore carries them. Nothing else here knows botocore.

Only the package's data files are read: `botocore.loaders` and `botocore.model` import an HTTP client, which
costs more than reading the model does.
"""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import botocore  # type: ignore[import-untyped]
import orjson


@dataclass(slots=True, eq=False)
class Shape:
    """One type of the model. `minimum` and `maximum` are of a length, a size or a value, by `kind`."""

    name: str
    kind: str
    members: dict[str, "Shape"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    element: "Shape | None" = None
    key: "Shape | None" = None
    value: "Shape | None" = None
    minimum: int | float | None = None
    maximum: int | float | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    is_union: bool = False


@dataclass(frozen=True, slots=True)
class OperationModel:
    """One operation: its shapes, and the names of the errors it declares."""

    name: str
    input: Shape
    output: Shape | None
    errors: frozenset[str]


class Service:
    """The model of one service. Shapes are made when an operation that reaches them is asked for."""

    def __init__(self, name: str) -> None:
        raw = _newest(name)
        self.name = name
        self.target_prefix: str = raw["metadata"]["targetPrefix"]
        self.signing_name: str = raw["metadata"].get("signingName", raw["metadata"]["endpointPrefix"])
        self.api_version: str = raw["metadata"]["apiVersion"]
        self.title: str = raw["metadata"]["serviceFullName"]
        self.operation_names: frozenset[str] = frozenset(raw["operations"])
        self._raw: dict[str, Any] = raw
        self._shapes: dict[str, Shape] = {}

    def operation(self, name: str) -> OperationModel:
        """The operation called `name`; KeyError when the service has none."""
        raw = self._raw["operations"][name]
        return OperationModel(
            name=name,
            input=self._shape(raw["input"]["shape"]) if "input" in raw else Shape("Unit", "structure"),
            output=self._shape(raw["output"]["shape"]) if "output" in raw else None,
            errors=frozenset(self._error_code(error["shape"]) for error in raw.get("errors", ())),
        )

    def _error_code(self, shape: str) -> str:
        code: str = self._raw["shapes"][shape].get("error", {}).get("code", shape)
        return code

    def _shape(self, name: str) -> Shape:
        """The shape, with all it reaches. Registered before its members are made, since shapes may recur."""
        if name in self._shapes:
            return self._shapes[name]
        raw = self._raw["shapes"][name]
        shape = self._shapes[name] = Shape(
            name=name,
            kind=raw["type"],
            required=tuple(raw.get("required", ())),
            minimum=raw.get("min"),
            maximum=raw.get("max"),
            pattern=raw.get("pattern"),
            choices=tuple(raw.get("enum", ())),
            is_union=raw.get("union", False),
        )
        shape.members = {member: self._shape(ref["shape"]) for member, ref in raw.get("members", {}).items()}
        shape.element = self._part(raw, "member")
        shape.key = self._part(raw, "key")
        shape.value = self._part(raw, "value")
        return shape

    def _part(self, raw: dict[str, Any], part: str) -> Shape | None:
        return self._shape(raw[part]["shape"]) if part in raw else None


def load(service: str) -> Service:
    """The newest model of `service` ("sagemaker", "ce"). About 50 ms for SageMaker; keep what it returns."""
    return Service(service)


def _newest(service: str) -> dict[str, Any]:
    folder = Path(botocore.__file__).parent / "data" / service
    newest = max(path for path in folder.iterdir() if path.is_dir())
    packed = newest / "service-2.json.gz"
    text = gzip.decompress(packed.read_bytes()) if packed.exists() else (newest / "service-2.json").read_bytes()
    raw: dict[str, Any] = orjson.loads(text)
    return raw
