"""Budgets: what each has spent of its limits, and when they will be met; made, re-weighted, limited, deleted (FS-3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.drawing.bars import parts
from app.console.figures import amount, hours, told
from app.console.forms import FormOf
from app.console.page import PageOf
from app.console.pages.shares import Line, lines
from app.console.plots import burn_down, spent_from
from app.core.budget_limits import HOUR_MS
from app.core.budget_tree import MOST_AMOUNT, MOST_WEIGHT, ROOT, Limit, Node, Period, Unit
from app.core.times import WorldTime, from_millis, to_millis
from app.store.db import Tx
from app.usecases import budget_reports, budgets, clocks
from app.usecases.budget_reports import Report, Standing

router = APIRouter()
MOST_REPORTS = 50
"""Of so many limited budgets the list tells how they stand; each costs a few statements."""


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A limit as the page shows it, with the plot of its course as JSON."""

    of: Standing
    limit: str
    charged: str
    reserved: str
    left: str
    per_hour: str
    is_spent: bool
    bar: Markup
    met_at: WorldTime | None
    ends_at: WorldTime | None
    plot: str
    course: Sequence[tuple[WorldTime, str]]


@dataclass(frozen=True, slots=True)
class ListLine:
    line: Line
    limits: Sequence[LimitLine]


@dataclass(frozen=True, slots=True)
class ListView:
    budgets: Sequence[ListLine]
    lines: Sequence[Line]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class View:
    node: Node
    line: Line
    lines: Sequence[Line]
    below: str
    limits: Sequence[LimitLine]
    days: Sequence[tuple[WorldTime, str, int]]
    """Each day with its GPU-hours, and per cent of the largest."""
    total: str
    children: Sequence[str]


@router.get("/budgets")
async def show_list(page: PageOf) -> Response:
    """All budgets with what their limits leave."""
    return await page.answer("budgets.html", await page.db.run(_read_list, page.world), title="Budgets")


async def _read_list(tx: Tx, world: str) -> ListView:
    now = to_millis((await clocks.read(tx, world)).now)
    told_lines = lines(await budgets.nodes(tx, world), {}, None)
    limited = [line.node.name for line in told_lines if line.node.limits]
    reports = {name: await budget_reports.report(tx, world, name) for name in limited[:MOST_REPORTS]}
    shown = [
        ListLine(line, limit_lines(reports[line.node.name], now) if line.node.name in reports else ())
        for line in told_lines
    ]
    return ListView(shown, told_lines, len(limited) > MOST_REPORTS)


@router.get("/budgets/{name}")
async def show(page: PageOf, name: str) -> Response:
    """One budget."""
    return await page.answer("budget.html", await page.db.run(_read, page.world, name), title=f"Budget {name}")


async def _read(tx: Tx, world: str, name: str) -> View:
    now = to_millis((await clocks.read(tx, world)).now)
    found = await budget_reports.report(tx, world, name)
    return view(found, lines(await budgets.nodes(tx, world), {}, None), now)


def view(found: Report, told_lines: Sequence[Line], now: int) -> View:
    """All that the page shows."""
    most = max((charged for _, charged in found.days), default=0)
    return View(
        node=found.node,
        line=next(line for line in told_lines if line.node.name == found.node.name),
        lines=told_lines,
        below=found.node.name,
        limits=limit_lines(found, now),
        days=[
            (from_millis(day), hours(charged), charged * 100 // most if most else 0)
            for day, charged in reversed(found.days)
            if charged
        ],
        total=hours(sum(charged for _, charged in found.days)),
        children=[line.node.name for line in told_lines if line.node.parent == found.node.name],
    )


def limit_lines(found: Report, now: int) -> list[LimitLine]:
    """Each limit with what is left of it."""
    return [_limit_line(one, now) for one in found.limits]


def _limit_line(one: Standing, now: int) -> LimitLine:
    unit = one.limit.unit
    allowed = one.limit.amount * (HOUR_MS if unit is Unit.GPU_HOURS else 1)
    values = [
        (value * 1000 // max(allowed, 1), kind, f"{name}, in thousandths")
        for value, kind, name in ((one.charged, "accent", "spent"), (one.reserved, "busy", "reserved"))
    ]
    label = f"{amount(one.charged, unit)} spent, {amount(one.reserved, unit)} reserved of {told(one.limit)}"
    return LimitLine(
        of=one,
        limit=told(one.limit),
        charged=amount(one.charged, unit),
        reserved=amount(one.reserved, unit),
        left=amount(one.left, unit),
        per_hour=amount(one.per_hour, unit),
        is_spent=one.left <= 0,
        bar=parts(values, 1000, label),
        met_at=None if one.met_at is None else from_millis(one.met_at),
        ends_at=None if one.ends_at is None else from_millis(one.ends_at),
        plot=burn_down(one, now),
        course=[(from_millis(day), amount(spent, unit)) for day, spent in reversed(spent_from(one))],
    )


@router.post("/do/budget/create")
async def create(page: PageOf, form: FormOf) -> Response:
    """Split a budget off its parent's claim."""
    name, parent, weight = form.text("name", 63), form.optional("parent"), form.whole("weight", 0, MOST_WEIGHT, 1)
    words = ("budget", "create", name, "--weight", str(weight), *(() if parent is None else ("--parent", parent)))
    body: dict[str, object] = {"name": name, "weight": weight} | ({} if parent is None else {"parent": parent})
    deed = Deed(
        f"Create budget {name}", command_line(page.world, *words), httpx_lines(page.endpoint, "POST", "budgets", body)
    )
    work = page.db.run(budgets.create, page.world, name, parent or ROOT, weight)
    return await page.perform(deed, work, "From now on work can be charged to it.")


@router.post("/do/budget/reweight")
async def reweight(page: PageOf, form: FormOf) -> Response:
    """Give it another weight."""
    name, weight = form.text("name", 63), form.whole("weight", 0, MOST_WEIGHT)
    deed = Deed(
        f"Give budget {name} a weight of {weight}",
        command_line(page.world, "budget", "reweight", name, str(weight)),
        httpx_lines(page.endpoint, "PATCH", f"budgets/{page.part(name)}", {"weight": weight}),
    )
    work = page.db.run(budgets.change, page.world, name, None, weight)
    return await page.perform(deed, work, "Its claim follows from now on; what was used stays where it was.")


@router.post("/do/budget/limit")
async def limit(page: PageOf, form: FormOf) -> Response:
    """Have this limit and no other; without an amount none."""
    name, given = form.text("name", 63), form.optional("amount")
    wanted: list[Limit] = []
    if given is not None:
        unit, period = Unit(form.one_of("unit", *Unit)), Period(form.one_of("period", *Period))
        wanted = [Limit(form.whole("amount", 0, MOST_AMOUNT), unit, period)]
    bodies = [{"amount": one.amount, "unit": one.unit.value, "period": one.period.value} for one in wanted]
    words = [f"{one.amount}:{one.unit}:{one.period}" for one in wanted]
    deed = Deed(
        f"Limit budget {name}" if wanted else f"Take the limits off budget {name}",
        command_line(page.world, "budget", "limit", name, *words),
        httpx_lines(page.endpoint, "PUT", f"budgets/{page.part(name)}/limits", {"limits": bodies}),
    )
    work = page.db.run(budgets.set_limits, page.world, name, wanted)
    return await page.perform(deed, work, "It holds from now on, over all clusters.")


@router.post("/do/budget/delete")
async def delete(page: PageOf, form: FormOf) -> Response:
    """Take it away."""
    name = form.text("name", 63)
    deed = Deed(
        f"Delete budget {name}",
        command_line(page.world, "budget", "delete", name),
        httpx_lines(page.endpoint, "DELETE", f"budgets/{page.part(name)}"),
    )
    work = page.db.run(budgets.delete, page.world, name)
    return await page.perform(deed, work, "Its use stays with its parent.", page.url("budgets"))
