"""The chart of a cluster's nodes over time: who was where, what was protected, reserved, and T (FS-9, FS-13)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.drawing.node_times import COLOURS, draw, moment
from app.console.figures import drawn
from app.console.page import Page, PageOf
from app.core.cluster import Cluster
from app.core.errors import Invalid, NotFound
from app.core.occupancy import Occupancy, Stay
from app.core.scheduling.policy import DAY, HOUR
from app.core.times import WorldTime, from_millis, to_millis
from app.store.db import Tx
from app.usecases import budgets, clocks, known_clusters, occupancy
from app.usecases.consistency import see_one_state

router = APIRouter()
SPANS = {"1 h": HOUR, "6 h": 6 * HOUR, "24 h": DAY, "3 d": 3 * DAY, "7 d": 7 * DAY, "30 d": 30 * DAY}
USUAL = DAY
NODES = 128
"""A drawing has so many rows at most; further nodes are on further pages."""
MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    address: str
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class View:
    cluster: str | None
    clusters: Sequence[Link]
    spans: Sequence[Link]
    moves: Sequence[Link]
    pages: Sequence[Link]
    chart: Occupancy | None
    drawing: Markup | None
    colours: Sequence[tuple[str, str]]
    """The budgets in the drawing with their classes."""
    has_unfunded: bool
    since: WorldTime | None
    until: WorldTime | None
    stays: Sequence[tuple[Stay, str, str, str]]
    """The newest, each with its times as text, for who sees no drawing."""


@router.get("/node-times")
async def show(page: PageOf) -> Response:
    """The chart of one cluster within a window."""
    return await page.answer("node_times.html", await page.db.run(_read, page), title="Nodes over time")


async def _read(tx: Tx, page: Page) -> View:
    await see_one_state(tx)
    living = await known_clusters.living(tx, page.world, None)
    busy = [one for one in living if one.hosts] or living
    chosen = _chosen(page.given.get("cluster") or None, living, busy)
    if chosen is None:
        return View(None, (), (), (), (), None, None, (), False, None, None, ())
    now = to_millis((await clocks.read(tx, page.world)).now)
    span = _number(page.given, "span", USUAL // 1000) * 1000
    start = page.given.get("since")
    since, until = occupancy.window(now, span, _number(page.given, "since", 0) * 1000 if start else None)
    found = await occupancy.occupancy_of(tx, page.world, chosen, since, until)
    names = [one.name for one in await budgets.nodes(tx, page.world)]
    return _view(page, found, chosen, busy, names)


def _chosen(name: str | None, living: Sequence[Cluster], busy: Sequence[Cluster]) -> Cluster | None:
    if name is None:
        return busy[0] if busy else None
    found = next((one for one in living if name in (one.name, one.arn, one.cluster_id)), None)
    if found is None:
        raise NotFound(f"There is no cluster {name[:80]!r} in this world.")
    return found


def _number(given: dict[str, str], name: str, usual: int) -> int:
    text = given.get(name, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdecimal()) or len(text) > 12:
        raise Invalid(f"'{name}' is a number of seconds.")
    return int(text)


def _view(page: Page, found: Occupancy, chosen: Cluster, busy: Sequence[Cluster], names: Sequence[str]) -> View:
    first = _number(page.given, "from", 0)
    part = replace(found, rows=found.rows[first : first + NODES])
    colours = colours_of(part.stays, names)
    span = found.until - found.since
    here = {"cluster": chosen.name, "from": first or None}

    def link(workload: str) -> str:
        return page.url(f"workloads/{page.part(workload)}", cluster=chosen.name)

    def window(since: int | None, wide: int) -> str:
        return page.url(page.path, **here, since=None if since is None else max(0, since) // 1000, span=wide // 1000)

    follows = "since" not in page.given
    middle = (found.since + found.until) // 2
    return View(
        cluster=chosen.name,
        clusters=[Link(one.name, page.url(page.path, cluster=one.name), one.name == chosen.name) for one in busy],
        spans=[
            Link(name, window(None if follows else middle - wide // 2, wide), wide == span)
            for name, wide in SPANS.items()
        ],
        moves=[
            Link("Earlier", window(found.since - span // 2, span)),
            Link("Now", window(None, span), follows),
            Link("Later", window(found.since + span // 2, span)),
        ],
        pages=_pages(page, len(found.rows), first),
        chart=part,
        drawing=drawn(draw(part, colours, link)),
        colours=sorted((name, kind) for name, kind in colours.items() if name is not None),
        has_unfunded=any(not stay.funded for stay in part.stays),
        since=from_millis(found.since),
        until=from_millis(found.until),
        stays=[
            (
                stay,
                moment(stay.since),
                "now" if stay.until is None else moment(stay.until),
                "" if stay.protected_until is None else moment(stay.protected_until),
            )
            for stay in part.stays[::-1][:MOST_LISTED]
        ],
    )


def _pages(page: Page, rows: int, first: int) -> list[Link]:
    if rows <= NODES:
        return []
    return [
        Link(f"{at + 1} to {min(at + NODES, rows)}", page.here_with(**{"from": at}), at == first)
        for at in range(0, rows, NODES)
    ]


def colours_of(stays: Sequence[Stay], names: Sequence[str]) -> dict[str | None, str]:
    """A class for each budget that is seen: by its place in the tree, so that it keeps its colour."""
    places = {name: place for place, name in enumerate(names)}
    seen = sorted({stay.budget for stay in stays if stay.budget is not None})
    found: dict[str | None, str] = {None: "none"}
    for name in seen:
        found[name] = f"c{places.get(name, len(names) + len(found)) % COLOURS}"
    return found
