"""Snapshots of a world: saved, gone back to, forgotten (CT-2)."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import FormOf
from app.console.page import PageOf
from app.core.times import WorldTime, millis, to_iso
from app.core.world import Snapshot, World
from app.store.db import Tx
from app.usecases import clocks, snapshots

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Row:
    """A snapshot, and how many milliseconds of the world's time ago it was; less than none after a restore."""

    snapshot: Snapshot
    ago: int


@dataclass(frozen=True, slots=True)
class View:
    """The snapshots, the latest instant first."""

    rows: list[Row]


def view(found: list[Snapshot], now: WorldTime) -> View:
    return View([Row(one, millis(one.at, now)) for one in sorted(found, key=lambda one: (one.at, one.name))[::-1]])


@router.get("/snapshots")
async def show(page: PageOf) -> Response:
    """The world's snapshots."""
    found, world = await page.db.run(_read, page.world)
    return await page.answer("snapshots.html", view(found, world.now), title="Snapshots")


async def _read(tx: Tx, world: str) -> tuple[list[Snapshot], World]:
    return await snapshots.listed(tx, world), await clocks.read(tx, world)


@router.post("/do/snapshot/save")
async def save(page: PageOf, form: FormOf) -> Response:
    """Keep all that the world is."""
    name = form.text("name", 63)
    deed = Deed(
        f"Save the snapshot {name}",
        command_line(page.world, "snapshot", "save", name),
        httpx_lines(page.endpoint, "POST", "snapshots", {"name": name}),
    )
    work = page.db.run(snapshots.save, page.world, name)
    return await page.perform(deed, work, lambda one: f"It holds the world as it is at {to_iso(one.at)}.")


@router.post("/do/snapshot/restore")
async def restore(page: PageOf, form: FormOf) -> Response:
    """Make the world what it was."""
    name = form.text("name", 63)
    deed = Deed(
        f"Go back to the snapshot {name}",
        command_line(page.world, "snapshot", "restore", name),
        httpx_lines(page.endpoint, "POST", f"snapshots/{page.part(name)}/restore"),
    )
    work = page.db.run(snapshots.restore, page.world, name)
    return await page.perform(deed, work, lambda world: f"It is {to_iso(world.now)} again, and a new history begins.")


@router.post("/do/snapshot/remove")
async def remove(page: PageOf, form: FormOf) -> Response:
    """Forget a snapshot."""
    name = form.text("name", 63)
    deed = Deed(
        f"Forget the snapshot {name}",
        command_line(page.world, "snapshot", "rm", name),
        httpx_lines(page.endpoint, "DELETE", f"snapshots/{page.part(name)}"),
    )
    return await page.perform(deed, page.db.run(snapshots.remove, page.world, name), "The world stays as it is.")
