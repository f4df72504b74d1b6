"""`windtunnel simulate`: a trace, or a generated laboratory, under one or more policies; no service is needed."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.durations import seconds

if TYPE_CHECKING:
    from app.simulate.cases import Case, Result
    from app.simulate.workloads import Trace


def simulate(
    trace: Annotated[
        Path | None, typer.Argument(metavar="TRACE", help="A file of a public trace; or use --generate.")
    ] = None,
    generate: Annotated[bool, typer.Option("--generate", help="A laboratory that trains language models.")] = False,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="NAME", help="budget; may be given again.", autocompletion=c.policies),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", min=8, help="Of the fleet, in nodes of eight.")] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="What is measured (30), or the trace's first.")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option("--warmup", metavar="DURATION", help="Before what is measured: 7d generated, else 0.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many laboratories to generate.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="The first seed.")] = 1,
    leaf: Annotated[str | None, typer.Option("--leaf", help="Whom a trace's jobs are charged to: vc, user ...")] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Of the trace; auto looks at its first line.")
    ] = "auto",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the policies: window=14d.")
    ] = None,
    vary: Annotated[
        list[str] | None, typer.Option("--vary", metavar="NAME=VALUE,...", help="A column for each value of a setting.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="CSV files and pictures go there.")] = None,
    plots: Annotated[Literal["svg", "png", "none"], typer.Option("--plots", help="The pictures' kind.")] = "svg",
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; one a core if not given.")] = None,
    ray: Annotated[
        str | None, typer.Option("--ray", metavar="ADDRESS", help="Over a Ray cluster: auto, local, host:port.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Simulate a fleet under policies, side by side: who gets how much of what it is owed, and who waits how long."""
    from app.commands.findings import show
    from app.commands.output import as_json_text
    from app.simulate.report import by_name, per_seed, summary

    if generate == (trace is not None):
        raise typer.BadParameter("name a trace, or say --generate: one of the two")
    sources = (
        [_generated(gpus, days, warmup, number) for number in range(seed, seed + seeds)]
        if trace is None
        else [_stored(trace, format_, gpus, days, warmup, leaf)]
    )
    cases = _cases(policy or ["budget"], settings or [], vary or [], sources)
    if out is not None:
        _check_can_draw(plots)
    results = _solve(cases, workers or os.cpu_count() or 1, ray, quiet=as_json or not sys.stderr.isatty())
    columns = {name: summary(of_name) for name, of_name in by_name(results).items()}
    if as_json:
        print(as_json_text({"policies": columns, "seeds": [per_seed(result) for result in results]}))
    else:
        print(_heading(results))
        show(columns)
    if out is not None:
        _write(results, out, plots, quiet=as_json)


def _generated(gpus: int | None, days: int | None, warmup: str | None, seed: int) -> Callable[[], "Trace"]:
    from app.core.scheduling.policy import DAY
    from app.simulate.generator import generate
    from app.simulate.lab import Lab

    lab = Lab()
    if gpus is not None:
        lab = replace(lab, nodes=gpus // lab.gpus_per_node)
    if days is not None:
        lab = replace(lab, measured=days * DAY)
    if warmup is not None:
        lab = replace(lab, warmup=int(seconds(warmup) * 1000))
    return partial(generate, lab, seed)


def _stored(
    path: Path, format_: str, gpus: int | None, days: int | None, warmup: str | None, leaf: str | None
) -> Callable[[], "Trace"]:
    from app.simulate.traces import Reading, read

    before = 0 if warmup is None else int(seconds(warmup) * 1000)
    return partial(read, path, format_, Reading(gpus=gpus, days=days, warmup=before, leaf=leaf))


def _cases(
    policies: Sequence[str], settings: Sequence[str], vary: Sequence[str], sources: Sequence[Callable[[], "Trace"]]
) -> list["Case"]:
    from app.commands.variations import given, variations
    from app.simulate.cases import Case
    from app.simulate.policies import POLICIES

    for name in policies:
        if name not in POLICIES:
            raise typer.BadParameter(f"there is no policy {name!r}; there are {', '.join(sorted(POLICIES))}")
    several = variations(given(settings), vary)
    return [
        Case(name, source, variation.settings, f"{name} {variation.label}".strip())
        for name in dict.fromkeys(policies)
        for variation in several
        for source in sources
    ]


def _solve(cases: Sequence["Case"], workers: int, ray: str | None, *, quiet: bool) -> list["Result"]:
    """One case shows how far its time has got, several how many are done."""
    from app.simulate import machines, processes
    from app.simulate.cases import solve

    with _bar(quiet) as tell:
        if ray is not None:
            return machines.solve_all(cases, ray, lambda done: tell(done, len(cases)))
        if len(cases) == 1 or workers == 1:
            whole = len(cases)
            return [
                solve(case, lambda now, ends, at=at: tell(at * ends + now, whole * ends))  # type: ignore[misc]
                for at, case in enumerate(cases)
            ]
        return processes.solve_all(cases, workers, lambda done: tell(done, len(cases)))


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=None), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as progress:
        task = progress.add_task("simulating")
        yield lambda done, whole: progress.update(task, completed=done, total=whole)


def _heading(results: Sequence["Result"]) -> str:
    first = results[0]
    day = 86_400_000
    measured, warmup = (first.ends - first.begins) / day, first.begins / day
    names = list(dict.fromkeys(result.trace for result in results))
    said = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    days = f"{measured:.4g} days after {warmup:.4g} of warm-up"
    return f"{said}: {first.gpus} GPUs, {first.jobs} jobs, {days}. {first.source}"


def _check_can_draw(kind: str) -> None:
    """Before hours of simulation, not after."""
    from importlib.util import find_spec

    if kind != "none" and find_spec("matplotlib") is None:
        raise typer.BadParameter("pictures need `pip install 'windtunnel[simulate]'`; or say --plots none")


def _write(results: Sequence["Result"], folder: Path, kind: str, *, quiet: bool) -> None:
    from app.simulate.files import write
    from app.simulate.plots import draw

    paths = write(results, folder)
    if kind != "none":
        paths += draw(results, folder, kind)
    if not quiet:
        print(f"written to {folder}: {', '.join(path.name for path in paths)}")
