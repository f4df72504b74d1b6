"""The fair-share tree of a fleet with its arithmetic: claim, use, commitments, and whose turn it is (FS-1, FS-2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup

from app.console.drawing.shares import claimed, scale
from app.console.figures import hours, told
from app.console.page import Page, PageOf
from app.core.budget_shares import Share
from app.core.budget_tree import Node
from app.core.job_labels import Home
from app.core.ratios import decimal, exact
from app.core.scheduling.policy import HOUR
from app.store.db import Tx
from app.usecases import budget_reports, budgets, fleet_policies, known_clusters
from app.usecases.fleet_policies import Fleet

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Line:
    """A budget in the tree; `share` None: no fleet is chosen, or it has had no pass."""

    node: Node
    depth: int
    siblings: int
    percent: str
    limits: str
    share: Share | None
    turn: str
    bar: Markup | None
    gauge: Markup | None
    steps: Sequence[tuple[str, str]]
    """The arithmetic: what is reckoned, and how."""


@dataclass(frozen=True, slots=True)
class View:
    lines: Sequence[Line]
    fleet: str | None
    fleets: Sequence[str]
    capacity: int
    window_ms: int
    margin: str
    teams: Sequence[Share]
    """Of a cluster that compute quotas divide: then the tree says nothing there (FS-17)."""


@router.get("/shares")
async def show(page: PageOf) -> Response:
    """The tree, on the chosen fleet or the first one that has had work."""
    view = await page.db.run(_read, page, page.given.get("fleet") or None)
    return await page.answer("shares.html", view, title="Fair shares")


async def _read(tx: Tx, page: Page, chosen: str | None) -> View:
    pools = await fleet_policies.pools(tx, page.world, None)
    living = await known_clusters.living(tx, page.world, None)
    names = [one.name for one in living if one.hosts] + [one.of.fleet for one in pools]
    fleet = chosen or (names[0] if names else None)
    nodes = await budgets.nodes(tx, page.world)
    if fleet is None:
        return View(lines(nodes, {}, None), None, names, 0, 0, "", ())
    home = Home(page.settings.default_account, page.settings.default_region)
    found = await fleet_policies.show(tx, page.world, fleet, home)
    shares = {share.name: share for _, each in await budget_reports.shares_of(tx, page.world, fleet) for share in each}
    margin = decimal(Fraction(found.policy.margin, 1_000_000), 4)
    known = {node.name for node in nodes}
    teams = [share for name, share in shares.items() if name not in known]
    told_lines = [] if teams else lines(nodes, shares, found)
    return View(told_lines, fleet, names, found.gpus.capacity, found.policy.window, margin, teams)


def lines(nodes: Sequence[Node], shares: Mapping[str, Share], fleet: Fleet | None) -> list[Line]:
    """Every budget below its parent, siblings by name."""
    depths, known = {"": -1}, {node.name: node for node in nodes}
    siblings: dict[str, list[Node]] = {}
    for node in nodes:
        siblings.setdefault(node.parent, []).append(node)
        depths[node.name] = depths[node.parent] + 1
    found = []
    for node in nodes:
        share, among = shares.get(node.name), siblings[node.parent]
        found.append(
            Line(
                node=node,
                depth=depths[node.name],
                siblings=len(among),
                percent=f"{decimal(node.claim * 100, 2)} %",
                limits="; ".join(told(limit) for limit in node.limits),
                share=share,
                turn="" if share is None else f"{share.turn} of {len(among)}",
                bar=None if share is None or fleet is None else _bar(share, fleet),
                gauge=None if share is None else scale(share.ratio),
                steps=steps(node, known.get(node.parent), among, share, fleet),
            )
        )
    return found


def _bar(share: Share, fleet: Fleet) -> Markup:
    amounts = (share.claimed_gpus, share.funded_gpus, share.unfunded_gpus, share.waiting_gpus)
    return claimed(*amounts, fleet.gpus.capacity)


def steps(
    node: Node, parent: Node | None, among: Sequence[Node], share: Share | None, fleet: Fleet | None
) -> list[tuple[str, str]]:
    """How each figure comes about, with the numbers in it."""
    total = sum(one.weight for one in among)
    fraction = f"weight {node.weight:,} of {total:,} among its siblings = {exact(node.fraction)}"
    above = "" if parent is None else f"; times the {exact(parent.claim)} that {parent.name} may claim"
    found = [("Claim", f"{fraction}{above} = {exact(node.claim)} = {decimal(node.claim * 100, 2)} %")]
    if share is None or fleet is None:
        return found
    capacity = fleet.gpus.capacity
    found.append(
        ("Of the fleet", f"{exact(node.claim)} of {capacity:,} GPUs = {share.claimed_gpus:,} GPUs, rounded down")
    )
    found.append(("Used, U", f"{hours(share.used)} funded GPU-hours in the last {_window(fleet)}"))
    found.append(("Committed, K", f"{hours(share.committed)} GPU-hours that protected work which runs will still use"))
    found.append(("Owed, E", f"{hours(share.owed)} GPU-hours: its claim of the GPU-time that there was in that time"))
    if share.ratio is None:
        found.append(("Ratio", "none: it has no claim, so all others go first"))
    else:
        sum_text = f"({hours(share.used)} + {hours(share.committed)}) / {hours(share.owed)}"
        found.append(("Ratio", f"(U + K) / E = {sum_text} = {exact(share.ratio)} = {decimal(share.ratio, 4)}"))
    found.append(("Turn", _turn(share, len(among))))
    found.append(("Borrowed", _borrowed(share)))
    return found


def _window(fleet: Fleet) -> str:
    whole = fleet.policy.window // HOUR
    return f"{whole // 24} days" if whole % 24 == 0 else f"{whole} hours"


def _turn(share: Share, siblings: int) -> str:
    if siblings == 1:
        return "it has no siblings"
    return f"{share.turn} of {siblings} among its siblings: the lowest ratio goes first"


def _borrowed(share: Share) -> str:
    sums = f"{share.funded_gpus:,} funded GPUs, {share.claimed_gpus:,} claimed"
    if share.borrowed_gpus:
        return f"{sums}: {share.borrowed_gpus:,} are borrowed from siblings"
    left = share.claimed_gpus - share.funded_gpus
    return f"{sums}: {left:,} are left to others" if left else f"{sums}: neither borrows nor leaves any"
