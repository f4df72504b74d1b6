"""Hosts: the GPU nodes that workloads run on, and their maintenance: who must leave, and when it is over (FS-11)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.drawing.bars import parts
from app.console.forms import FormOf
from app.console.page import PageOf
from app.core.scheduling.packing import Host
from app.core.times import WorldTime, from_millis, millis
from app.store.db import Tx
from app.store.hosts import Resident
from app.usecases import clocks, hosts, known_clusters
from app.usecases.hosts import AWAY, NOTHING, Shown

router = APIRouter()
LIMIT = 300
STATES = (Host.HEALTHY, Host.DRAINING, Host.DRAINED, AWAY)
KINDS = {Host.HEALTHY: "ok", Host.DRAINING: "warn", Host.DRAINED: "busy", AWAY: "off"}


@dataclass(frozen=True, slots=True)
class Work:
    """A workload on a host, until when it is protected, and how that reads."""

    of: Resident
    until: WorldTime | None
    for_ms: int | None


@dataclass(frozen=True, slots=True)
class Line:
    """A host with its work. `empty_at` is when the last protection on one that drains is over."""

    of: Shown
    kind: str
    gpus: int
    taken: int
    bar: Markup
    works: Sequence[Work]
    marked_at: WorldTime | None
    then: str
    empty_at: WorldTime | None
    empty_in: int | None


@dataclass(frozen=True, slots=True)
class View:
    lines: Sequence[Line]
    is_cut: bool
    counts: Sequence[tuple[str, str, int]]
    """How many are in which state, with its colour."""
    cluster: str | None
    state: str | None
    clusters: Sequence[str]


@router.get("/hosts")
async def show(page: PageOf) -> Response:
    """The hosts."""
    cluster, state = page.given.get("cluster") or None, page.given.get("state") or None
    return await page.answer("hosts.html", await page.db.run(_read, page.world, cluster, state), title="Hosts")


async def _read(tx: Tx, world: str, cluster: str | None, state: str | None) -> View:
    found = await hosts.listed(tx, world, cluster)
    now = (await clocks.read(tx, world)).now
    names = [one.name for one in await known_clusters.living(tx, world, None) if one.hosts]
    return view(found, now, cluster, state, names)


def view(found: Iterable[Shown], now: WorldTime, cluster: str | None, state: str | None, names: Sequence[str]) -> View:
    """Those that are marked first, then in the order of their clusters."""
    every = list(found)
    chosen = [one for one in every if state in (None, one.state)]
    chosen.sort(key=lambda one: one.of.marked_at is None)
    counts = [(name, KINDS[name], sum(one.state == name for one in every)) for name in STATES]
    return View([line(one, now) for one in chosen[:LIMIT]], len(chosen) > LIMIT, counts, cluster, state, names)


def line(one: Shown, now: WorldTime) -> Line:
    """The host as a line."""
    row = one.of
    gpus, is_marked = row.gpus or 0, row.marked_at is not None and one.state != AWAY
    funded = sum(work.gpus for work in row.residents if work.funded)
    taken = sum(work.gpus for work in row.residents)
    values = ((funded, "accent", "funded"), (taken - funded, "off", "unfunded"))
    empty_at = None if one.empty_at is None else from_millis(one.empty_at)
    return Line(
        of=one,
        kind=KINDS[one.state],
        gpus=gpus,
        taken=taken,
        bar=parts(values, gpus, f"{taken} of {gpus} GPUs taken", 96),
        works=[_work(work, now) for work in row.residents],
        marked_at=from_millis(row.marked_at) if is_marked and row.marked_at is not None else None,
        then=(row.repair or NOTHING) if is_marked else "",
        empty_at=empty_at,
        empty_in=None if empty_at is None else max(0, millis(now, empty_at)),
    )


def _work(one: Resident, now: WorldTime) -> Work:
    until = None if one.protected_until is None else from_millis(one.protected_until)
    lasts = until is not None and until > now
    return Work(one, until if lasts else None, millis(now, until) if until is not None and lasts else None)


@router.post("/do/host/drain")
async def drain(page: PageOf, form: FormOf) -> Response:
    """Mark it for maintenance."""
    node, reason = form.text("node", 128), form.optional("reason", 200)
    then = form.one_of("then", "reboot", "replace", NOTHING)
    words = ("host", "drain", node, *(() if reason is None else ("--reason", reason)), "--then", then)
    body = {"then": then} | ({} if reason is None else {"reason": reason})
    deed = Deed(
        f"Drain host {node}",
        command_line(page.world, *words),
        httpx_lines(page.endpoint, "POST", f"hosts/{page.part(node)}/drain", body),
    )
    work = page.db.run(hosts.drain, page.world, node, reason, then)
    return await page.perform(deed, work, "It takes no new work; what runs there leaves as its protection ends.")


@router.post("/do/host/resume")
async def resume(page: PageOf, form: FormOf) -> Response:
    """Have it take work again."""
    node = form.text("node", 128)
    deed = Deed(
        f"Resume host {node}",
        command_line(page.world, "host", "resume", node),
        httpx_lines(page.endpoint, "POST", f"hosts/{page.part(node)}/resume"),
    )
    return await page.perform(deed, page.db.run(hosts.resume, page.world, node), "It takes work again.")
