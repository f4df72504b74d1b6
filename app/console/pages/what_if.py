"""What if one number were different: both futures of a world, side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from app import catalog
from app.console import fault_form
from app.console.deeds import Deed, command_line
from app.console.forms import Form, FormOf
from app.console.page import Page, PageOf
from app.console.questions import Question, Questions
from app.console.reading import count_or_unlimited
from app.core.budget_tree import MOST_WEIGHT, Node
from app.core.effects import WORLD_EFFECTS
from app.core.errors import NotFound
from app.core.fleet_policy import BOUNDS, IN_SECONDS
from app.core.job_labels import Home
from app.core.outlook import Outlook
from app.core.scheduling.policy import SECOND
from app.store.db import Tx
from app.usecases import budgets, capacity, faults, fleet_policies, known_clusters, types
from app.usecases.what_if import Change, Compared

router = APIRouter()
LONGEST_HOURS = 24 * 366
MOST = 2**31 - 1
HOUR_MS = 3_600_000
KINDS: Mapping[str, str] = {
    "capacity": "Machines",
    "weight": "A budget’s weight",
    "setting": "A fleet’s setting",
    "fault": "A fault",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A line of the comparison; `change` is empty where both are alike."""

    name: str
    as_is: str
    changed: str
    change: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What may be asked, of which the form of `kind` is shown, and what has been."""

    kind: str
    kinds: Mapping[str, str]
    asked: list[Question]
    types: Sequence[str]
    budgets: Sequence[Node]
    fleets: Sequence[str]
    settings: Sequence[str]
    effects: Sequence[str]


def measures(found: Compared) -> list[Measure]:
    """The figures of both futures: who waits, what is delivered, what it costs."""
    one, two = found.as_is, found.changed
    names = sorted({*one.delivered, *two.delivered})
    return [
        _counted("Workloads that started", one.started, two.started),
        _counted("Workloads that ended", one.finished, two.finished),
        _counted("Evictions", one.evictions, two.evictions),
        _counted("Workloads that wait for their first start", one.waiting, two.waiting),
        _counted("GPUs that those want", one.waiting_gpus, two.waiting_gpus),
        _timed("Median wait", one.median_wait, two.median_wait),
        _timed("Longest wait", one.longest_wait, two.longest_wait),
        _counted("Machines in use at the end", one.nodes, two.nodes),
        _occupied("Occupancy of clusters’ GPUs", one, two),
        *(
            _hours(f"Delivered to {name or 'no budget'}", one.delivered.get(name, 0), two.delivered.get(name, 0))
            for name in names
        ),
        _hours("Idle", one.idle, two.idle),
        _paid("Bill", one.micro_usd, two.micro_usd),
    ]


def _counted(name: str, one: int, two: int) -> Measure:
    return Measure(name, f"{one:,}", f"{two:,}", f"{two - one:+,}" if one != two else "")


def _hours(name: str, one: int, two: int) -> Measure:
    change = f"{(two - one) / HOUR_MS:+,.1f}" if one != two else ""
    return Measure(name, f"{one / HOUR_MS:,.1f} GPU-hours", f"{two / HOUR_MS:,.1f} GPU-hours", change)


def _paid(name: str, one: int, two: int) -> Measure:
    change = f"{(two - one) / 1_000_000:+,.2f}" if one != two else ""
    return Measure(name, f"${one / 1_000_000:,.2f}", f"${two / 1_000_000:,.2f}", change)


def _timed(name: str, one: int | None, two: int | None) -> Measure:
    told = [("nobody waited" if value is None else f"{value // 60_000:,} min") for value in (one, two)]
    change = "" if one is None or two is None or one == two else f"{(two - one) / 60_000:+,.0f} min"
    return Measure(name, told[0], told[1], change)


def _occupied(name: str, one: Outlook, two: Outlook) -> Measure:
    """In per cent, and the difference in points; a cluster without GPUs has none."""
    parts = [100 * held / there if there else None for held, there in (one.occupancy, two.occupancy)]
    told = ["no GPUs" if part is None else f"{part:.1f} %" for part in parts]
    before, after = parts
    alike = before is None or after is None or told[0] == told[1]
    return Measure(name, told[0], told[1], "" if alike else f"{(after or 0) - (before or 0):+.1f}")


@router.get("/what-if")
async def show(page: PageOf) -> Response:
    """What may be asked, and what has been."""
    kind = page.given.get("kind", "")
    nodes, clusters = await page.db.run(_read, page.world)
    view = View(
        kind=kind if kind in KINDS else "capacity",
        kinds=KINDS,
        asked=_questions(page).of(page.world),
        types=[*catalog.instance_types(), *catalog.machine_types()],
        budgets=nodes,
        fleets=clusters,
        settings=list(BOUNDS),
        effects=WORLD_EFFECTS,
    )
    return await page.answer("what_if.html", view, title="What if")


async def _read(tx: Tx, world: str) -> tuple[list[Node], list[str]]:
    return await budgets.nodes(tx, world), [one.name for one in await known_clusters.living(tx, world, None)]


@router.get("/what-if/{number}")
async def show_one(page: PageOf, number: int) -> Response:
    """One question, and its answer once it is there."""
    found = _questions(page).find(page.world, number)
    if found is None:
        raise NotFound("This process was not asked that, or no longer knows. Ask again.")
    view = {"asked": found, "measures": measures(found.answer) if found.answer else []}
    return await page.answer("answer.html", view, title="What if")


@router.post("/do/what-if")
async def ask(page: PageOf, form: FormOf) -> Response:
    """Ask; the question's page is shown."""
    kind = form.one_of("kind", *KINDS)
    title, words, change = _CHANGES[kind](page, form)
    hours, keep = form.whole("hours", 1, LONGEST_HOURS), form.optional("keep") is not None
    asked = await _questions(page).ask(page.world, title, change, timedelta(hours=hours), keep=keep)
    deed = Deed(f"What if {title}?", _lines(page, asked, words, hours), "", "Both futures were played in forks.")
    return page.back(deed, page.url(f"what-if/{asked.number}"))


def _lines(page: Page, asked: Question, words: Sequence[str], hours: int) -> str:
    _, changed = asked.forks
    forks = [f"windtunnel world fork {name} --from {page.world}" for name in asked.forks]
    moves = [command_line(name, "clock", "advance", f"{hours}h") for name in asked.forks]
    looks = [command_line(name, *look) for look in (("bill", "--by", "budget"), ("queue",)) for name in asked.forks]
    return "\n".join([*forks, command_line(changed, *words), *moves, *looks])


def _capacity(page: Page, form: Form) -> tuple[str, list[str], Change]:
    name, total = form.text("instance_type", 64), count_or_unlimited(form, "total", MOST)
    region = form.optional("region", 40) or types.default_region(name, page.settings.default_region)
    said = "unlimited" if total is None else str(total)
    change = partial(_set_total, region, name, total)
    return f"there were {said} {name} in {region}", ["capacity", "set", name, said, "--region", region], change


async def _set_total(region: str, name: str, total: int | None, tx: Tx, world: str) -> object:
    return await capacity.set_total(tx, world, region, None, name, total, None)


def _weight(page: Page, form: Form) -> tuple[str, list[str], Change]:
    name, weight = form.text("budget", 63), form.whole("weight", 0, MOST_WEIGHT)
    words = ["budget", "reweight", name, str(weight)]
    return f"the weight of {name} were {weight}", words, partial(_reweigh, name, weight)


async def _reweigh(name: str, weight: int, tx: Tx, world: str) -> object:
    return await budgets.change(tx, world, name, weight=weight)


def _setting(page: Page, form: Form) -> tuple[str, list[str], Change]:
    cluster, name = form.text("cluster", 512), form.one_of("setting", *BOUNDS)
    value = form.whole("value", 0, MOST)
    home = Home(page.settings.default_account, page.settings.default_region)
    shown = f"{value}s" if name in IN_SECONDS else f"{value / 1_000_000:g}" if name == "margin" else str(value)
    stored = value * SECOND if name in IN_SECONDS else value
    words = ["fleet", "set", cluster, f"{name}={shown}"]
    return f"{name} of {cluster} were {shown}", words, partial(_set, cluster, home, {name: stored})


async def _set(cluster: str, home: Home, settings: Mapping[str, int | bool | None], tx: Tx, world: str) -> object:
    return await fleet_policies.change(tx, world, cluster, home, settings)


def _fault(page: Page, form: Form) -> tuple[str, list[str], Change]:
    rule = fault_form.rule_of(form)
    aim = f" group {rule.group}" if rule.group else ""
    often = f", {rule.times:,} {'time' if rule.times == 1 else 'times'} at most" if rule.times else ""
    words = ["fault", "add", *fault_form.words_of(rule)]
    return f"{rule.effect} struck{aim}{often}", words, partial(_add, rule)


async def _add(rule: Any, tx: Tx, world: str) -> object:
    return await faults.add(tx, world, rule)


_CHANGES: Mapping[str, Callable[[Page, Form], tuple[str, list[str], Change]]] = {
    "capacity": _capacity,
    "weight": _weight,
    "setting": _setting,
    "fault": _fault,
}
"""What is different: its words, its command line, and what makes it so."""


def _questions(page: Page) -> Questions:
    found: Questions = page.request.app.state.questions
    return found
