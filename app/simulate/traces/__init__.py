"""Public traces of GPU clusters, read as what a simulation runs. The files themselves are not ours to ship."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from app.core.errors import Invalid
from app.simulate.traces import tables
from app.simulate.traces.philly import philly_json
from app.simulate.traces.reading import Reading, build
from app.simulate.traces.rows import Row
from app.simulate.traces.swf import swf
from app.simulate.workloads import Node, Trace

__all__ = ["FORMATS", "Format", "Reading", "detect", "nodes_of", "read"]


@dataclass(frozen=True, slots=True)
class Format:
    """How to read it, the columns that tell it from others (of a table), and where it comes from."""

    rows: Callable[[Iterable[str]], Iterator[Row]]
    columns: tuple[str, ...]
    source: str


FORMATS = {
    "philly-csv": Format(
        tables.philly_csv, tables.PHILLY_CSV, "Microsoft Philly (msr-fiddle/philly-traces, CC BY 4.0), as a table."
    ),
    "philly-json": Format(philly_json, (), "Microsoft Philly (msr-fiddle/philly-traces, CC BY 4.0)."),
    "helios": Format(tables.helios, tables.HELIOS, "SenseTime Helios (S-Lab-System-Group/HeliosData)."),
    "acme": Format(tables.acme, tables.ACME, "Shanghai AI Lab Acme (InternLM/AcmeTrace, CC BY 4.0)."),
    "openb": Format(tables.openb, tables.OPENB, "Alibaba cluster-trace-gpu-v2023 (alibaba/clusterdata)."),
    "gavel": Format(tables.gavel, tables.GAVEL, "Gavel (stanford-futuredata/gavel, MIT) over arrivals of Philly."),
    "swf": Format(swf, (), "Parallel Workloads Archive, or another log in its format."),
}


def read(path: Path, format: str = "auto", reading: Reading | None = None) -> Trace:  # noqa: A002
    """The trace in this file.

    Invalid: the format is not known or not recognised, or a cell is not what its column promises; it names the line.
    """
    with _opened(path) as lines:
        name = detect(lines) if format == "auto" else format
        if name not in FORMATS:
            raise Invalid(f"no format {name!r}; known are auto, {', '.join(FORMATS)}.")
        lines.seek(0)
        found = FORMATS[name]
        return build(path.name, found.rows(lines), reading or Reading(), found.source)


def nodes_of(path: Path) -> tuple[Node, ...]:
    """The fleet in a node list of Alibaba's openb, for `Reading.nodes`. Invalid: as `read`."""
    with _opened(path) as lines:
        found = tuple(tables.openb_nodes(lines))
        if not found:
            raise Invalid("no node with GPUs.")
        return found


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """Its lines; what goes wrong meanwhile names the file."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            yield lines
    except Invalid as error:
        raise Invalid(f"{path}: {error.message}") from None
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path}: this is no text file; packed traces have to be unpacked first.") from None


def detect(lines: Iterable[str]) -> str:
    """The format, by the first line that is not empty. Invalid: none fits."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("["):
        return "philly-json"
    if first.startswith(";") or len(first.split()) == 18:
        return "swf"
    columns = {name.strip() for name in first.split(",")}
    for name, found in FORMATS.items():
        if found.columns and columns.issuperset(found.columns):
            return name
    known = "; ".join(f"{name}: {', '.join(found.columns)}" for name, found in FORMATS.items() if found.columns)
    raise Invalid(
        f"line 1: no format that is known begins with {first[:80]!r}. Tables have these columns: {known};"
        " philly-json begins with [, swf with ; or 18 numbers."
    )
