"""Writes docs/reference/{settings,faults,metrics}.md from the code; with --check, exits 1 when one of them is stale."""

import dataclasses
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prometheus_client.core import Metric

from app.core.effects import EFFECTS, WHEN, Effect
from app.core.scope import Scope
from app.request_log import RequestRecord
from app.service import compose
from app.settings import PREFIX, Settings
from app.usecases.health import ProcessGauges, WorldGauges
from app.wire.control.metrics import families
from scripts import ROOT, settle

TOLD = Path(__file__).with_name("settings.toml")
REFERENCE = ROOT / "docs" / "reference"
INNER = ("supervised", "listen_fd", "restarted", "given")
"""What a supervisor tells its children."""
MADE = "Made by `python -m scripts.reference` from the code; a check keeps it current."
SETTINGS = f"""# Settings

{MADE}

Flags win over variables of the environment, those over the TOML file that `--config` or `WINDTUNNEL_CONFIG` names. In
the file names are in small letters and without `WINDTUNNEL_`: `port = 4700`. A setting that does not exist is an error
that names it (exit code 2), in the environment and in the file. More on how they meet is in
[operations](../operations.md#settings).

| variable | default | meaning |
|---|---|---|
"""
FAULTS = f"""# Effects of faults

{MADE} How rules are added: [faults](../howto/faults.md).

Every effect takes `--account`, `--region`, `--probability`, `--every`, `--times`, `--after` and `--before`. An option
that an effect has no use for is refused, since such a rule would never strike.
"""
METRICS = f"""# Metrics

{MADE}

`GET /_windtunnel/metrics` has them in Prometheus' text form, `windtunnel metrics --json` as a list. Counts of
requests are those of the process that answers; the rest is the database's, and not there while that is away.

| metric | kind | labels | meaning |
|---|---|---|---|
"""
STRIKES = {
    "launch": "launches of nodes",
    "node": "running nodes",
    "job": "jobs and their workers",
    "work": "what operations have begun",
    "request": "requests",
}
OPTIONS = {"instance_type": "type"}
"""Options of `windtunnel fault add` that are named otherwise than in a rule."""


def main() -> int:
    """Write the files, or compare them."""
    documents = {
        REFERENCE / "settings.md": settings(),
        REFERENCE / "faults.md": faults(),
        REFERENCE / "metrics.md": metrics(),
    }
    return settle(documents, "reference")


def settable() -> list[dataclasses.Field[Any]]:
    """The settings that a user may set."""
    return [field for field in dataclasses.fields(Settings) if field.name not in INNER]


def settings() -> str:
    told = tomllib.loads(TOLD.read_text(encoding="utf-8"))
    rows = (
        (
            f"`{PREFIX}{field.name.upper()}`",
            told["said"].get(field.name) or _default(field),
            told["meaning"][field.name],
        )
        for field in settable()
    )
    return SETTINGS + _table(rows)


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default
    if value in (None, ()):
        return "none"
    return f"`{value:g}`" if isinstance(value, float) else f"`{str(value).lower()}`"


def faults() -> str:
    """The effects by what they strike."""
    parts = [FAULTS]
    for kind, what in STRIKES.items():
        rows = (
            (f"`{one.name}`", one.meaning, _options(one), _words(one)) for one in EFFECTS.values() if one.kind == kind
        )
        head = "| effect | meaning | takes besides | of these alone |\n|---|---|---|---|\n"
        parts.append(f"\n## On {what}\n\n{head}{_table(rows)}")
    return "".join(parts)


def _options(effect: Effect) -> str:
    return ", ".join(f"`--{OPTIONS.get(word, word)}`" for word in sorted(effect.takes - WHEN))


def _words(effect: Effect) -> str:
    """The codes and operations that it takes, where not any."""
    codes = [f"code {', '.join(f'`{code}`' for code in effect.codes)}"] if effect.codes else []
    names = [f"operation {', '.join(f'`{name}`' for name in effect.operations)}"] if effect.operations else []
    return "; ".join(codes + names) or "any"


def metrics() -> str:
    """Each family with the labels that it has once something was counted."""
    service = compose(Settings(), "reference")
    service.request_log(RequestRecord("r", "sagemaker", "ListClusters", Scope("main", "", ""), 200, None, 1.0))
    world, process = WorldGauges("main", 0, 0, 0.0, 0, 0), ProcessGauges(False, "api", "api-1", 0, False)
    lease = ProcessGauges(True, "", "keeper", 0, True)
    found = [*service.registry.collect(), *families([world], [process, lease])]
    return METRICS + _table(_family(one) for one in found)


def _family(one: Metric) -> tuple[str, str, str, str]:
    labels = dict.fromkeys(label for sample in one.samples for label in sample.labels if label != "le")
    suffix = "_total" if one.type == "counter" else ""
    return f"`{one.name}{suffix}`", one.type, ", ".join(f"`{label}`" for label in labels), one.documentation


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    cells = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


if __name__ == "__main__":
    sys.exit(main())
