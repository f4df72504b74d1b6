"""The simulator: a small generated laboratory under several policies, side by side."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log10

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.deeds import Deed
from app.console.drawing.lines import Curve, Tick, chart, decades, percents
from app.console.forms import FormOf
from app.console.page import Page, PageOf
from app.console.simulations import (
    GPUS_PER_NODE,
    MOST_DAYS,
    MOST_GPUS,
    MOST_POLICIES,
    Simulation,
    Simulations,
    Wanted,
)
from app.core.errors import Invalid, NotFound
from app.simulate.cases import Result
from app.simulate.policies import POLICIES
from app.simulate.report import Row, by_hour, leaves, summary, wait_curves
from app.simulate.wording import Write, index, number, percent, told, wait

router = APIRouter()
MOST_SEED = 1_000_000
FIRST = ("budget", "fairtree")
"""The policies that are chosen at first."""
_WAITS = ((10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (21_600.0, "6 h"), (86_400.0, "1 d"))


@dataclass(frozen=True, slots=True)
class View:
    """What may be run, and what was."""

    policies: Sequence[str]
    first: Sequence[str]
    most_gpus: int
    most_days: int
    known: list[Simulation]


@dataclass(frozen=True, slots=True)
class ResultView:
    """A simulation; once it is done its figures by policy, each leaf's part, and two drawings."""

    simulation: Simulation
    about: str = ""
    names: Sequence[str] = ()
    measures: Sequence[tuple[str, Sequence[str]]] = ()
    leaves: Sequence[tuple[str, str, Sequence[str]]] = ()
    waits: Markup | str = ""
    use: Markup | str = ""


def result_view(found: Simulation) -> ResultView:
    """What is shown of it."""
    if not found.results:
        return ResultView(found)
    results = found.results
    rows = [summary([result]) for result in results]
    first = results[0]
    return ResultView(
        simulation=found,
        about=f"{first.gpus} GPUs, {first.jobs:,} jobs, {found.wanted.days} days after one of warm-up. {first.source}",
        names=[result.name for result in results],
        measures=[(label, [told(row, key, write) or "–" for row in rows]) for label, key, write in _MEASURES],
        leaves=_leaves(results),
        waits=waits_chart(results),
        use=use_chart(results),
    )


def _leaves(results: Sequence[Result]) -> list[tuple[str, str, list[str]]]:
    """Each leaf with its claim, and the part of what it was owed that it got under each policy."""
    tables = [{str(row["leaf"]): row for row in leaves(result)} for result in results]
    return [
        (leaf, percent(row["claim"]) or "–", [percent(table[leaf]["delivered"]) or "–" for table in tables])
        for leaf, row in tables[0].items()
    ]


def waits_chart(results: Sequence[Result]) -> Markup:
    """The part of funded work that had started by each wait."""
    x = decades(10.0, 86_400.0, _WAITS)
    return chart([_waits(result, x) for result in results], x, percents(), "Part of funded work started by each wait")


def _waits(result: Result, x: Sequence[Tick]) -> Curve:
    steps: list[tuple[float, float]] = [(x[0].at, 0.0)]
    for row in wait_curves(result.name, [result]):
        if row["class"] == "all":
            at = max(x[0].at, log10(max(1.0, float(row["wait_s"] or 0))))
            steps += [(at, steps[-1][1]), (at, float(row["started"] or 0))]
    return Curve(result.name, [*steps, (x[-1].at, steps[-1][1])])


def use_chart(results: Sequence[Result]) -> Markup:
    """The part of the GPUs that was held, hour by hour."""
    hours = max(len(result.picture.hours.held) for result in results)
    days = hours // 24
    x = [Tick(24 * day, f"day {day}" if day else "0") for day in range(days + 1)] or [Tick(0, "0"), Tick(hours, "")]
    return chart([Curve(result.name, _held(by_hour(result))) for result in results], x, percents(), "Part of GPUs held")


def _held(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Means of six hours, which are easier to read."""
    parts = [float(row["held"] or 0) / (float(row["capacity"] or 0) or 1) for row in rows]
    sums = [0.0, *accumulate(parts)]
    return [(at, (sums[at] - sums[max(0, at - 6)]) / min(at, 6)) for at in range(1, len(sums))]


_MEASURES: Sequence[tuple[str, str, Write]] = (
    ("Delivered of what was owed, rolling days", "delivered", percent),
    ("Upper bound of it", "bound", percent),
    ("Worst leaf", "worst_leaf", percent),
    ("Leaves with 95 % or more", "leaves_at_least_95", number),
    ("Jain’s index", "jain", index),
    ("Occupancy", "occupancy", percent),
    ("Unfunded, of what was held", "unfunded", percent),
    ("Wait of debugging, median", "debug_p50_s", wait),
    ("Wait of all funded, median", "all_p50_s", wait),
    ("Wait of all funded, p90", "all_p90_s", wait),
    ("Funded work that never started", "all_never_started", number),
    ("Evictions of funded work a day", "evictions_per_day", number),
    ("GPU-hours lost by them a day", "evictions_lost_gpu_hours_per_day", number),
)


@router.get("/simulator")
async def show(page: PageOf) -> Response:
    """What may be run, and what was."""
    view = View(sorted(POLICIES), FIRST, MOST_GPUS, MOST_DAYS, _simulations(page).newest())
    return await page.answer("simulator.html", view, title="Simulator")


@router.get("/simulator/{number}")
async def show_one(page: PageOf, number: int) -> Response:
    """One simulation, and its results once they are there."""
    found = _simulations(page).find(number)
    if found is None:
        raise NotFound("This process has not run that, or no longer knows. Run it again.")
    return await page.answer("simulation.html", result_view(found), title="Simulation")


@router.post("/do/simulate")
async def run(page: PageOf, form: FormOf) -> Response:
    """Begin a simulation; its page is shown."""
    policies = tuple(name for name in POLICIES if form.optional(f"policy-{name}") is not None)
    if not 1 <= len(policies) <= MOST_POLICIES:
        raise Invalid(f"Choose from one to {MOST_POLICIES} policies.")
    gpus, days = form.whole("gpus", GPUS_PER_NODE, MOST_GPUS), form.whole("days", 1, MOST_DAYS)
    wanted = Wanted(gpus // GPUS_PER_NODE * GPUS_PER_NODE, days, form.whole("seed", 0, MOST_SEED, 1), policies)
    begun = _simulations(page).begin(wanted)
    deed = Deed(f"Simulate {wanted.gpus} GPUs for {days} days", _line(wanted), "", "It needs no service.")
    return page.back(deed, page.url(f"simulator/{begun.number}"))


def _line(wanted: Wanted) -> str:
    facts: Mapping[str, int | str] = {
        "--gpus": wanted.gpus,
        "--days": wanted.days,
        "--warmup": "1d",
        "--seed": wanted.seed,
    }
    words = [word for name, value in facts.items() for word in (name, str(value))]
    words += [word for name in wanted.policies for word in ("--policy", name)]
    return shlex.join(("windtunnel", "simulate", "--generate", *words))


def _simulations(page: Page) -> Simulations:
    found: Simulations = page.request.app.state.simulations
    return found
