"""Writes openapi/*.json and docs/coverage.md from the code; with --check, exits 1 when one of them is stale."""

import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app import __version__
from app.service import compose
from app.settings import Settings
from app.wire import emulated
from app.wire.aws.registry import AwsService
from app.wire.control.application import application
from app.wire.control.document import document
from app.wire.openapi_aws import CoverageRow, coverage, openapi
from app.wire.vertex import application as vertex
from app.wire.vertex import document as vertex_document
from scripts import ROOT, settle

SAID = Path(__file__).with_name("coverage.toml")
# The operations of this family, of which HyperPod consists; of the other services, those that are emulated.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "sagemaker": ("Cluster", "ComputeQuota", "TrainingPlan", "ReservedCapacity", "UltraServer")
}
HEAD = """# Coverage

Made by `python -m scripts.openapi` from the registry of operations; a check keeps it current.
An operation that is not emulated answers 501 `NotImplemented`, never a made-up success. Operations of SageMaker outside
of this family are not emulated. What differs from the real service for all of them, and what is unknown of it, is in
[fidelity.md](fidelity.md). Each status below, and each error that the model declares, is provoked by the tests through
boto3; the run fails when one is not.
"""
VERTEX_HEAD = """
## Vertex AI (v1 and v1beta1)

Over REST, and over gRPC by the same functions. What is not emulated answers 501 `UNIMPLEMENTED`. Differences for all of
them are in [fidelity.md](fidelity.md)."""


def main() -> int:
    """Write the files, or compare them."""
    return settle(_documents(), "openapi")


def _documents() -> dict[Path, str]:
    services = emulated.services()
    documents = {ROOT / "openapi" / "control.json": _json(document(application(compose(Settings(), "openapi")).routes))}
    documents |= {
        ROOT / "openapi" / f"{_slug(each)}.json": _json(openapi(each, version=__version__)) for each in services
    }
    documents[ROOT / "openapi" / "vertex.json"] = _json(vertex_document.openapi(vertex.rpcs(), version=__version__))
    return documents | {ROOT / "docs" / "coverage.md": _coverage(services)}


def _slug(service: AwsService) -> str:
    return {"ce": "cost-explorer"}.get(service.name, service.name)


def _coverage(services: tuple[AwsService, ...]) -> str:
    said = tomllib.loads(SAID.read_text(encoding="utf-8"))
    parts = [HEAD]
    for service in services:
        rows = coverage(service, FAMILIES.get(service.name, ()))
        done = sum(row.is_emulated for row in rows)
        parts.append(f"\n## {service.model.title} ({service.model.api_version}): {done} of {len(rows)}\n")
        parts.append("| operation | emulated | statuses that it shows | known differences |\n|---|---|---|---|")
        parts += [_row(row, said) for row in rows]
    parts.append(_vertex(said["vertex"]))
    parts.append("\n## How each status is reached\n")
    parts.append("| status | value | command |\n|---|---|---|")
    for name, values in said["reached"].items():
        parts += [f"| {name} | {value} | {command} |" for value, command in values.items()]
    return "\n".join(parts) + "\n"


def _vertex(said: Mapping[str, Any]) -> str:
    """Vertex AI, service by service: its RPCs that are emulated, and those that are not."""
    rpcs = vertex.rpcs()
    parts = [VERTEX_HEAD]
    for service in sorted({each.service for each in rpcs.values()}):
        names = sorted(name for name, each in rpcs.items() if each.service == service)
        absent = sorted(said["absent"].get(service, ()))
        parts.append(f"\n### {service}: {len(names)} of {len(names) + len(absent)}\n")
        parts.append("| RPC | known differences |\n|---|---|")
        parts += [f"| {name} | {said['differences'].get(name) or 'none known'} |" for name in names]
        parts.append(f"\nNot emulated: {', '.join(absent)}." if absent else "\nAll of it is emulated.")
    parts.append("\n| state | value | command |\n|---|---|---|")
    for name, values in said["reached"].items():
        parts += [f"| {name} | {value} | {command} |" for value, command in values.items()]
    return "\n".join(parts)


def _row(row: CoverageRow, said: Mapping[str, Any]) -> str:
    shown = ", ".join(name for name in row.enums if name in said["reached"]) or "none"
    differences = said["differences"].get(row.operation) or "none known"
    return f"| {row.operation} | {'yes' if row.is_emulated else 'no'} | {shown} | {differences} |"


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(main())
