"""What happened, the newest first (HP-26)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import Page, PageOf
from app.core.errors import Invalid
from app.core.times import WorldTime, from_millis, to_millis
from app.usecases import overviews
from app.usecases.overviews import LEVELS, SeenEvent

router = APIRouter()
SIZE = 100


@dataclass(frozen=True, slots=True)
class Told:
    """An event as it is read."""

    at: WorldTime
    level: str
    cluster: str
    account: str
    region: str
    group: str | None
    node: str | None
    text: str
    times: int = 1
    """How many alike it stands for."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of events, and where the next begins, if there is more."""

    events: list[Told]
    older: str | None
    is_first: bool
    levels: tuple[str, ...] = LEVELS


def told_of(seen: SeenEvent) -> Told:
    """The event as it is read."""
    event = seen.event
    node = event.instance_id or event.logical_id
    text = overviews.text_of(seen)
    return Told(event.at, overviews.level_of(seen), seen.cluster, seen.account, seen.region, event.group, node, text)


def gathered(found: Iterable[SeenEvent]) -> list[Told]:
    """The events; those of one moment that read alike, but for the instance that they name, are one."""
    told: dict[tuple[WorldTime, str, str | None, str], Told] = {}
    for one in map(told_of, found):
        key = (one.at, one.cluster, one.group, one.text.replace(one.node or "\0", ""))
        first = told.get(key)
        told[key] = one if first is None else replace(first, times=first.times + 1)
    return list(told.values())


def view(found: list[SeenEvent], is_first: bool) -> Timeline:
    """A page of `found`, which is one longer than a page if there is more."""
    shown = found[:SIZE]
    older = place_of(shown[-1]) if len(found) > SIZE else None
    return Timeline([told_of(seen) for seen in shown], older, is_first)


def place_of(seen: SeenEvent) -> str:
    """Where a page behind this event begins, as an address says it."""
    return f"{to_millis(seen.event.at)}.{seen.seq}.{seen.cluster_id}"


def read_place(text: str) -> tuple[WorldTime, str, int] | None:
    """The place that an address says; None without one."""
    if not text:
        return None
    parts = text.split(".", 2)
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 16 for part in parts[:2]):
        raise Invalid("'before' must be as a link of this page gives it.")
    return from_millis(int(parts[0])), parts[2], int(parts[1])


@router.get("/events")
async def show_events(
    page: PageOf, cluster: str = "", group: str = "", node: str = "", level: str = "", before: str = ""
) -> Response:
    """A page of the timeline."""
    found = await _events(page, cluster, group, node, level, before)
    return await page.answer("events.html", view(found, not before), title="Events")


async def _events(page: Page, cluster: str, group: str, node: str, level: str, before: str) -> list[SeenEvent]:
    return await page.db.run(
        overviews.events,
        page.world,
        cluster=cluster or None,
        group=group or None,
        node=node or None,
        level=level or None,
        before=read_place(before),
        limit=SIZE + 1,
    )
