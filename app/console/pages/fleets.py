"""Fleets: each one's GPUs, reservations, leader, and the settings of its policy, which may be changed (CT-10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import Form, FormOf
from app.console.page import Page, PageOf
from app.console.pages.queue import FleetHead, fleet_head
from app.console.rendering import span
from app.core.errors import Invalid
from app.core.fleet_policy import BOUNDS, IN_SECONDS
from app.core.job_labels import Home
from app.core.scheduling.policy import Policy
from app.core.times import WorldTime, from_millis
from app.store.db import Tx
from app.usecases import fleet_policies, known_clusters
from app.usecases.fleet_policies import Fleet

router = APIRouter()
MEANING: Mapping[str, str] = {
    "window": "Use counts for so long (FS-2).",
    "least_commitment": "What starts counts at least so much from then on, whatever its minimum runtime (FS-2).",
    "longest_minimum": "The longest minimum runtime; more than eight hours is never given (FS-4).",
    "margin": "How much lower the ratio must be of who evicts funded work (FS-8).",
    "funded_grace": "From the eviction of funded work to its stop.",
    "unfunded_grace": "From the eviction of unfunded work to its stop.",
    "reservation_wait": "When a gang larger than a node reserves hosts (FS-9).",
    "max_reservations": "How many gangs may reserve at once (FS-9).",
    "reservation_ban": "A budget that withdrew such a gang may not reserve for so long (FS-18).",
    "waive_at_t": "At T the holder evicts whoever is over, whatever the ratios (FS-9).",
    "yields_in_leaf": "Within a budget, work that is over yields to higher priority, or to who had fewer turns (FS-8).",
    "move_interval": "No workload is moved to make room more often (FS-10).",
    "warning": "Sessions are warned so long before their protection ends (FS-12).",
    "hole_wait": "Then a gang that lost a node is requeued (FS-19).",
    "tick": "While somebody waits and somebody is over, ratios are compared so often (FS-15).",
    "sessions_only": "The fleet takes interactive sessions alone.",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: its value in the unit that the form takes (seconds, a part of a ratio, a count), and as they are read
    its default and bounds."""

    name: str
    meaning: str
    value: str
    default: str
    unit: str
    is_switch: bool
    is_changed: bool
    bounds: str


@dataclass(frozen=True, slots=True)
class Kept:
    workload: str
    budget: str
    hosts: Sequence[str]
    since: WorldTime
    due: WorldTime


@dataclass(frozen=True, slots=True)
class View:
    head: FleetHead
    name: str
    of: Fleet
    settings: Sequence[Setting]
    kept: Sequence[Kept]


@router.get("/fleets")
async def show_list(page: PageOf) -> Response:
    """All fleets."""
    return await page.answer("fleets.html", await page.db.run(_read_list, page), title="Fleets")


async def _read_list(tx: Tx, page: Page) -> list[FleetHead]:
    pools = await fleet_policies.pools(tx, page.world, None)
    living = await known_clusters.living(tx, page.world, None)
    found = [await fleet_policies.show(tx, page.world, one.arn, _home(page)) for one in living if one.hosts]
    return [fleet_head(one) for one in (*found, *pools)]


def _home(page: Page) -> Home:
    return Home(page.settings.default_account, page.settings.default_region)


@router.get("/fleets/{name:path}")
async def show(page: PageOf, name: str) -> Response:
    """One fleet, by its cluster's name, id or ARN, or a managed pool's name."""
    found = await page.db.run(fleet_policies.show, page.world, name, _home(page))
    return await page.answer("fleet.html", view(found, name), title=f"Fleet {found.of.cluster or found.of.fleet}")


def view(found: Fleet, name: str) -> View:
    """All that the page shows."""
    values, usual = fleet_policies.settings_of(found.policy), fleet_policies.settings_of(Policy())
    settings = [_setting(each, values[each], usual[each], each in found.settings) for each in MEANING]
    kept = [
        Kept(one.workload, one.leaf, one.hosts, from_millis(one.since), from_millis(one.due))
        for one in found.reservations
    ]
    return View(fleet_head(found), name, found, settings, kept)


def _setting(name: str, value: int | bool, usual: int | bool, is_changed: bool) -> Setting:
    if isinstance(value, bool):
        words = ("no", "yes")
        return Setting(name, MEANING[name], words[value], words[bool(usual)], "", True, is_changed, "yes or no")
    unit = "s" if name in IN_SECONDS else ""
    read = span if name in IN_SECONDS else partial(_shown, name)
    bounds = " to ".join(map(read, BOUNDS[name]))
    return Setting(name, MEANING[name], _shown(name, value), read(usual), unit, False, is_changed, bounds)


def _shown(name: str, value: int) -> str:
    return f"{value // 1000}" if name in IN_SECONDS else f"{value / 1_000_000:g}" if name == "margin" else f"{value}"


@router.post("/do/fleet/set")
async def change(page: PageOf, form: FormOf) -> Response:
    """Set one setting; without a value it is the default again."""
    fleet, name = form.text("fleet", 512), form.one_of("setting", *MEANING)
    value, text = read_value(form, name)
    member = "margin_millionths" if name == "margin" else f"{name}_seconds" if name in IN_SECONDS else name
    sent = value // 1000 if value is not None and name in IN_SECONDS else value
    deed = Deed(
        f"Set {name} of {fleet} to {text}",
        command_line(page.world, "fleet", "set", fleet, f"{name}={text}"),
        httpx_lines(page.endpoint, "PATCH", f"fleets/{page.part(fleet)}", {member: sent}),
    )
    work = page.db.run(fleet_policies.change, page.world, fleet, _home(page), {name: value})
    return await page.perform(deed, work, "The next pass goes by it.")


def read_value(form: Form, name: str) -> tuple[int | bool | None, str]:
    """The value as it is kept (milliseconds, millionths, a count, a switch), None for the default; and as the command
    line takes it."""
    given = form.optional("value")
    if given is None:
        return None, "default"
    if name not in BOUNDS:
        word = form.one_of("value", "yes", "no")
        return word == "yes", word
    if name == "margin":
        return _millionths(given), given
    number = form.whole("value", 0, 10**9)
    return (number * 1000, f"{number}s") if name in IN_SECONDS else (number, str(number))


def _millionths(text: str) -> int:
    try:
        return int(Decimal(text) * 1_000_000)
    except (InvalidOperation, ValueError, OverflowError):
        raise Invalid(f"The margin is a part of a ratio, as 0.01, not '{text[:40]}'.") from None
