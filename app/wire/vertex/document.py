"""The OpenAPI document of what is emulated of Vertex AI: it follows from the RPCs and their messages."""

import re
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, get_args

from pydantic.json_schema import models_json_schema

from app.wire.google.proto import Message, camel
from app.wire.vertex.rpc import LOCATIONS, Rpc

_PARENT = "/v1/projects/{project}/locations/{location}"
_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "status"],
            "properties": {
                "code": {"type": "integer", "description": "The HTTP status."},
                "message": {"type": "string"},
                "status": {"type": "string", "description": "The canonical code, as INVALID_ARGUMENT."},
                "details": {"type": "array", "items": {"type": "object"}},
            },
        }
    },
}
_OPERATION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "metadata": {"type": "object"},
        "done": {"const": True},
        "response": {"type": "object"},
    },
}


def openapi(rpcs: Mapping[str, Rpc], *, version: str) -> dict[str, Any]:
    """An OpenAPI 3.1 document in a stable order; v1beta1 has the same paths under its own prefix."""
    paths: dict[str, dict[str, Any]] = {}
    for name in sorted(rpcs):
        paths.setdefault(_path(rpcs[name]), {})[rpcs[name].method.lower()] = _operation(rpcs[name])
    schemas = _schemas(rpcs.values()) | {"Error": _ERROR, "Operation": _OPERATION}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Vertex AI, as far as it is emulated", "version": version, "x-api-version": "v1"},
        "servers": [{"url": "http://127.0.0.1:4600"}],
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _path(rpc: Rpc) -> str:
    """The path of REST, each id named after its collection."""
    if rpc.service == LOCATIONS:
        return _PARENT if rpc.path.endswith("*") else _PARENT.rpartition("/")[0]
    named = re.sub(r"(\w+)s/\*", r"\1s/{\1}", rpc.path)
    return f"{_PARENT}/{named}"


def _operation(rpc: Rpc) -> dict[str, Any]:
    ids = re.findall(r"\{(\w+)\}", _path(rpc))
    described: dict[str, Any] = {
        "operationId": rpc.name,
        "tags": [rpc.service],
        "parameters": [_parameter(each, "path", {"type": "string"}) for each in ids] + _query(rpc),
        "responses": {
            "200": {"description": "Done.", "content": _json(_answer(rpc))},
            "default": {"description": "Refused.", "content": _json({"$ref": "#/components/schemas/Error"})},
        },
    }
    if (message := _body(rpc)) is not None:
        described["requestBody"] = {"required": True, "content": _json(_reference(message))}
    return described


def _body(rpc: Rpc) -> type[Message] | None:
    """The message of the body, where that is not the request itself."""
    if rpc.body in ("", "*"):
        return None
    kinds = get_args(rpc.request.model_fields[rpc.body].annotation)
    message: type[Message] = next(each for each in kinds if each is not NoneType)
    return message


def _query(rpc: Rpc) -> list[dict[str, Any]]:
    if rpc.body == "*":
        return []
    properties = rpc.request.model_json_schema().get("properties", {})
    names = [name for name in rpc.request.model_fields if name not in (rpc.target[0], rpc.body)]
    return [_parameter(camel(name), "query", _plain(properties[camel(name)])) for name in names]


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("title", "default")}


def _parameter(name: str, place: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _answer(rpc: Rpc) -> dict[str, Any]:
    if rpc.answer is not None:
        return _reference(rpc.answer)
    plain = rpc.name.startswith(("Cancel", "List")) or rpc.name == "DeleteOperation" or rpc.service == LOCATIONS
    return {"type": "object"} if plain else {"$ref": "#/components/schemas/Operation"}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _reference(message: type[Message]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{message.__name__}"}


def _schemas(rpcs: Iterable[Rpc]) -> dict[str, Any]:
    """The messages of bodies and answers, and all that they hold."""
    used: dict[str, type[Message]] = {}
    for rpc in rpcs:
        for message in (rpc.answer, _body(rpc)):
            if message is not None:
                used[message.__qualname__] = message
    _, made = models_json_schema(
        [(used[name], "validation") for name in sorted(used)], ref_template="#/components/schemas/{model}"
    )
    return {name: _titled(schema) for name, schema in made["$defs"].items()}


def _titled(schema: Any) -> Any:
    """Without the titles and defaults that Pydantic makes up."""
    if isinstance(schema, dict):
        return {key: _titled(value) for key, value in schema.items() if key not in ("title", "default")}
    return [_titled(each) for each in schema] if isinstance(schema, list) else schema
