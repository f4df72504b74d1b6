"""Writes docs/reference/http.md from openapi/control.json; with --check, exits 1 when it is stale."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from scripts import ROOT, settle

PAGE = ROOT / "docs" / "reference" / "http.md"
Json = Mapping[str, Any]
HEAD = """# The control API

Made by `python -m scripts.http_reference` from [openapi/control.json](../../openapi/control.json), which is made from
the code and has the answers' types, bounds and examples as well; a check keeps both current.

Requests and answers are JSON. `/w/NAME` before a path names the world, else it is `main`. Instants are ISO 8601 in UTC,
amounts are whole micro-dollars (`micro_usd`). What is refused is 4xx, and its message says why and what to do. Where a
control token is set, each request carries it as `Authorization: Bearer`.
"""


def main() -> int:
    """Write the page, or compare it."""
    document = json.loads((ROOT / "openapi" / "control.json").read_text(encoding="utf-8"))
    return settle({PAGE: page(document)}, "http_reference")


def page(document: Json) -> str:
    """Every route by its tag, with what it takes and the members of what it answers."""
    routes = [
        (route["tags"][0], path, method.upper(), route)
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    ]
    parts = [HEAD]
    for tag, group in groupby(sorted(routes, key=lambda each: each[:3]), key=lambda each: each[0]):
        parts.append(f"## {tag.capitalize()}\n")
        parts += ["\n".join(_route(document, path, method, route)) for _, path, method, route in group]
    return "\n".join(parts).rstrip() + "\n"


def _route(document: Json, path: str, method: str, route: Json) -> Iterator[str]:
    yield f"### `{method} {path}`\n"
    yield f"{route['summary']}. {_flat(route.get('description', ''))}".strip() + "\n"
    body = _shape(document, _content(route.get("requestBody", {})))
    rows = [*_parameters(route), *_members(body)]
    if rows:
        yield "| Takes | Type | What it is |\n|---|---|---|"
        yield "\n".join(rows) + "\n"
    answer: Json = next((each for code, each in route["responses"].items() if code.startswith("2")), {})
    names = sorted(_shape(document, _content(answer)).get("properties", {}))
    if names:
        yield f"Answers {', '.join(f'`{name}`' for name in names)}.\n"


def _parameters(route: Json) -> Iterator[str]:
    for each in route.get("parameters", []):
        where = "" if each["in"] == "query" else f", in the {each['in']}"
        yield _row(each["name"], each["schema"], each.get("required", False), each.get("description", ""), where)


def _members(body: Json) -> Iterator[str]:
    required = body.get("required", [])
    for name, schema in body.get("properties", {}).items():
        yield _row(name, schema, name in required, schema.get("description", ""), "")


def _row(name: str, schema: Json, required: bool, told: str, where: str) -> str:
    needed = " (required)" if required else ""
    default = schema.get("default")
    default_told = "" if default in (None, [], "") else f" Default: `{json.dumps(default)}`."
    return f"| `{name}`{needed} | {_type(schema)}{where} | {(_flat(told) + default_told).strip()} |".replace("  ", " ")


def _type(schema: Json) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("format", schema.get("type", "any")))


def _content(body: Json) -> Json:
    schema: Json = body.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _shape(document: Json, schema: Json) -> Json:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Json = document["components"]["schemas"][name] if name else schema
    return found


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    raise SystemExit(main())
