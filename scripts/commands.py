"""Writes docs/reference/commands.md and openapi/cli.json from the command line; with --check, exits 1 if one is stale.

Fails when a verb is not told of in commands.toml, or a route of the control API has neither a verb nor a reason.
"""

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import typer

from app import __version__
from app.cli import app
from app.commands.sections import SECTIONS
from app.wire.control import moto
from app.wire.control.application import NOUNS
from scripts import ROOT, settle

TOLD = Path(__file__).with_name("commands.toml")
CONTROL = ROOT / "openapi" / "control.json"
PREFIX = "/_windtunnel"
COMMON = ("world", "endpoint", "as_json", "watch", "every")
HEAD = """# Commands

Made by `python -m scripts.commands` from the command line itself; a check keeps it current. The examples of verbs that
answer are run by a test, which also holds their `--json` against its schema in
[openapi/cli.json](../../openapi/cli.json); `demo` has a test of its own.

In examples MAIN is a world and NEW the name of one to be; NODE, JOB, RULE, WEBHOOK and POOL are of what is there.

## Exit codes

| code | of every verb |
|---|---|
| 0 | done; also Ctrl-C while something is watched or followed |
| 1 | refused or failed; the line on standard error says why and what to do |
| 2 | an argument, an option, a setting or a file that cannot be used; the line names it |
| 3 | nobody answers at the address, or the service is not ready in time |
| 4 | the port is taken |
| 5 | the database cannot be started or reached |

`windtunnel exec` answers with the exit code of its command, once that runs.

## Options of many verbs

| option | meaning |
|---|---|
"""


@dataclass(frozen=True)
class Verb:
    """A verb as the command line has it, and what commands.toml tells of it."""

    words: str
    section: str
    command: Any
    told: Mapping[str, Any]

    @property
    def routes(self) -> list[str]:
        return list(self.told.get("routes", ()))


class Row(NamedTuple):
    """A parameter as the help shows it."""

    name: str
    option: str
    written: str
    meaning: str


def main() -> int:
    """Write the files, or compare them."""
    told = tomllib.loads(TOLD.read_text(encoding="utf-8"))
    known = list(verbs(told))
    problems = [*unknown_verbs(known, told), *routes_without_verbs(known, told)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    documents = {
        ROOT / "openapi" / "cli.json": json.dumps(schemas(known, told), indent=2, ensure_ascii=False, sort_keys=True)
        + "\n",
        ROOT / "docs" / "reference" / "commands.md": page(known),
    }
    return settle(documents, "commands")


def verbs(told: Mapping[str, Any]) -> Iterator[Verb]:
    """Every verb, in the order of the help."""
    root: Any = typer.main.get_command(app)
    top = {name: getattr(command, "rich_help_panel", "") for name, command in root.commands.items()}
    for section in SECTIONS:
        for name in (name for name, its in top.items() if its == section):
            command = root.commands[name]
            for words, leaf in _leaves(name, command):
                yield Verb(words, section, leaf, told["verbs"].get(words, {}))


def _leaves(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, each in command.commands.items():
        yield from _leaves(f"{words} {name}", each)


def routes() -> set[str]:
    """Every route of the control API: `GET /clock`."""
    return {
        f"{method} {route.path.removeprefix(PREFIX).replace(':path', '')}"  # type: ignore[attr-defined]
        for noun in (*NOUNS, moto)
        for route in noun.router.routes
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
    }


def unknown_verbs(known: list[Verb], told: Mapping[str, Any]) -> list[str]:
    """What commands.toml leaves out, or tells of verbs that do not exist."""
    names = {verb.words for verb in known}
    wrong = [f"commands.toml does not tell of `windtunnel {verb.words}`" for verb in known if not verb.told]
    wrong += [f"commands.toml tells of `windtunnel {name}`, which there is not" for name in set(told["verbs"]) - names]
    return wrong + [
        f"commands.toml: `{verb.words}` needs examples, and routes, an answer or a reason"
        for verb in known
        if verb.told and not (verb.told.get("examples") and {"routes", "answer", "none"} & set(verb.told))
    ]


def routes_without_verbs(known: list[Verb], told: Mapping[str, Any]) -> list[str]:
    """Routes that no verb asks and no reason excuses, and routes in commands.toml that do not exist."""
    there = routes()
    asked = {route for verb in known for route in verb.routes} | set(told["without"])
    lacking = [f"no verb asks {route}, and commands.toml has no reason why" for route in sorted(there - asked)]
    return lacking + [f"commands.toml names {route}, which is no route" for route in sorted(asked - there)]


def schemas(known: list[Verb], told: Mapping[str, Any]) -> dict[str, Any]:
    """What each verb writes with --json, as JSON Schema: of its route's answer where it is that."""
    control = json.loads(CONTROL.read_text(encoding="utf-8"))
    made = {name: json.loads(text) for name, text in told["schemas"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the verbs of windtunnel write with --json",
        "version": __version__,
        "verbs": {verb.words: _answer(verb, made, control) for verb in known if "none" not in verb.told},
        "without": {verb.words: verb.told["none"] for verb in known if "none" in verb.told},
        "$defs": {**_moved(control["components"]["schemas"]), **made},
    }


def _answer(verb: Verb, made: Mapping[str, Any], control: Mapping[str, Any]) -> dict[str, Any]:
    if name := verb.told.get("answer"):
        if name not in made and name not in control["components"]["schemas"]:
            raise SystemExit(f"commands.toml: `{verb.words}` answers {name}, and there is no such schema")
        return {"$ref": f"#/$defs/{name}"}
    method, _, path = verb.routes[0].partition(" ")
    responses = control["paths"][PREFIX + path][method.lower()]["responses"]
    answer = next(each for status, each in responses.items() if status.startswith("2"))
    found: dict[str, Any] = _moved(answer["content"]["application/json"]["schema"])
    return found


def _moved(schema: Any) -> Any:
    """The schema with its references where they are in this document."""
    if isinstance(schema, dict):
        return {
            key: each.replace("#/components/schemas/", "#/$defs/") if key == "$ref" else _moved(each)
            for key, each in schema.items()
        }
    return [_moved(each) for each in schema] if isinstance(schema, list) else schema


def page(known: list[Verb]) -> str:
    """The reference."""
    every = [row for verb in known for row in _rows(verb) if row.name in COMMON]
    common = [Counter(row for row in every if row.name == name).most_common(1)[0][0] for name in COMMON]
    parts = [HEAD + "\n".join(map(_line, common))]
    for section in dict.fromkeys(verb.section for verb in known):
        parts.append(f"\n## {section}")
        parts += [_verb(verb, common) for verb in known if verb.section == section]
    return "\n".join(parts) + "\n"


def _verb(verb: Verb, common: Sequence[Row]) -> str:
    rows = _rows(verb)
    own, shared = [row for row in rows if row not in common], [row for row in rows if row in common]
    context = typer.Context(verb.command, info_name=f"windtunnel {verb.words}")
    usage = re.sub(r"\{([^}]*)\}", r"\1", verb.command.get_usage(context).removeprefix("Usage: "))
    text = re.sub(r"(?<!\n)\n(?!\n)", " ", verb.command.help or "")
    lines = [f"\n### windtunnel {verb.words}\n", text.strip(), "", f"    {usage}", ""]
    if own:
        lines += ["| argument or option | meaning |", "|---|---|", *map(_line, own), ""]
    if shared:
        lines += [f"Also {', '.join(f'`{row.option}`' for row in shared)}.", ""]
    if verb.routes:
        lines += [f"It asks {', '.join(f'`{route}`' for route in verb.routes)}.", ""]
    lines += ["```text", *(f"windtunnel {example}" for example in verb.told["examples"]), "```"]
    return "\n".join(lines)


def _rows(verb: Verb) -> list[Row]:
    context, found = typer.Context(verb.command, info_name="windtunnel"), []
    for each in verb.command.params:
        record = each.get_help_record(context)
        if record is not None and each.name != "help":
            written, meaning = record
            if each.param_type_name == "argument":
                written = written.partition(" <")[0]
            long = next((name for name in each.opts if name.startswith("--")), written)
            found.append(Row(each.name, long, written, " ".join(meaning.split())))
    return found


def _line(row: Row) -> str:
    cells = (text.replace("|", "\\|") for text in (f"`{row.written}`", row.meaning))
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
