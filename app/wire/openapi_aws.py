"""What is emulated of an AWS service, as OpenAPI and as a coverage table; both follow from the registry.

AWS JSON has one path for everything, so each operation is a pseudo-path `/#CreateCluster`.
"""

from dataclasses import dataclass
from typing import Any

from app.wire.aws.errors import CONTENT_TYPE
from app.wire.aws.model import OperationModel, Shape
from app.wire.aws.registry import AwsService

_MEDIA_TYPE = CONTENT_TYPE.decode()
_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "format": "int32"},
    "long": {"type": "integer", "format": "int64"},
    "float": {"type": "number", "format": "float"},
    "double": {"type": "number", "format": "double"},
    "timestamp": {"type": "number", "description": "Seconds since 1970, with milliseconds."},
    "blob": {"type": "string", "contentEncoding": "base64"},
    "structure": {"type": "object"},
    "map": {"type": "object"},
    "list": {"type": "array"},
}
_BOUNDS = {
    "string": ("minLength", "maxLength"),
    "list": ("minItems", "maxItems"),
    "map": ("minProperties", "maxProperties"),
}
_VALUE_BOUNDS = ("minimum", "maximum")
_UNDECLARED = ("SerializationException", "ValidationException")
_ERROR = {
    "type": "object",
    "required": ["__type", "message"],
    "properties": {
        "__type": {"type": "string"},
        "message": {"type": "string"},
        "Message": {"type": "string"},
    },
}


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One operation of the vendor's model, whether it is emulated, and the enums that its answer may hold."""

    service: str
    operation: str
    is_emulated: bool
    enums: tuple[str, ...] = ()


def coverage(service: AwsService, names: tuple[str, ...] = ()) -> list[CoverageRow]:
    """A row for each of the model's operations whose name holds one of `names`, and for each emulated one."""
    wanted = {
        operation
        for operation in service.model.operation_names
        if operation in service.operations or any(name in operation for name in names)
    }
    return [
        CoverageRow(service.name, each, each in service.operations, _enums(service.model.operation(each).output))
        for each in sorted(wanted)
    ]


def _enums(output: Shape | None) -> tuple[str, ...]:
    schemas: dict[str, Any] = {}
    if output is not None:
        _collect(output, schemas)
    return tuple(name for name, schema in schemas.items() if "enum" in schema)


def openapi(service: AwsService, *, version: str = "0.1.0") -> dict[str, Any]:
    """An OpenAPI 3.1 document of the emulated operations, in a stable order. Patterns are Java's, as AWS's are."""
    models = [service.operations[name].model for name in sorted(service.operations)]
    schemas: dict[str, Any] = {"Error": _ERROR}
    for model in models:
        for shape in (model.input, model.output):
            if shape is not None:
                _collect(shape, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{service.model.title}, as far as it is emulated",
            "version": version,
            "x-api-version": service.model.api_version,
        },
        "servers": [{"url": "http://127.0.0.1:4600"}],
        "paths": {f"/#{model.name}": {"post": _operation(service, model)} for model in models},
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _operation(service: AwsService, model: OperationModel) -> dict[str, Any]:
    target = f"{service.target_prefix}.{model.name}"
    codes = ", ".join(sorted({*model.errors, *_UNDECLARED}))
    ok: dict[str, Any] = {"description": "Done."}
    if model.output is not None:
        ok["content"] = {_MEDIA_TYPE: {"schema": _reference(model.output)}}
    return {
        "operationId": model.name,
        "parameters": [
            {"name": "X-Amz-Target", "in": "header", "required": True, "schema": {"const": target}},
        ],
        "requestBody": {
            "required": True,
            "content": {_MEDIA_TYPE: {"schema": _reference(model.input)}},
        },
        "responses": {
            "200": ok,
            "400": {
                "description": f"Refused: {codes}.",
                "content": {_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }


def _collect(shape: Shape, schemas: dict[str, Any]) -> None:
    """Add the schemas of `shape` and of all it reaches; each once, since shapes may recur."""
    if shape.name in schemas:
        return
    schemas[shape.name] = schema = _schema(shape)
    for name, member in shape.members.items():
        schema.setdefault("properties", {})[name] = _reference(member)
        _collect(member, schemas)
    for part, keyword in (
        (shape.element, "items"),
        (shape.key, "propertyNames"),
        (shape.value, "additionalProperties"),
    ):
        if part is not None:
            schema[keyword] = _reference(part)
            _collect(part, schemas)


def _schema(shape: Shape) -> dict[str, Any]:
    schema = dict(_TYPES[shape.kind])
    least, most = _BOUNDS.get(shape.kind, _VALUE_BOUNDS)
    if shape.minimum is not None:
        schema[least] = shape.minimum
    if shape.maximum is not None:
        schema[most] = shape.maximum
    if shape.pattern is not None:
        schema["pattern"] = f"^(?:{shape.pattern})$"
    if shape.choices:
        schema["enum"] = list(shape.choices)
    if shape.required:
        schema["required"] = list(shape.required)
    if shape.is_union:
        schema["minProperties"] = schema["maxProperties"] = 1
    return schema


def _reference(shape: Shape) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{shape.name}"}
