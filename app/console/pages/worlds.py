"""Worlds side by side: made, forked, compared, emptied, dropped, exported (CT-0, CT-2)."""

import shlex
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any

import orjson
from fastapi import APIRouter
from fastapi.responses import Response

from app import clock
from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import Form, FormOf
from app.console.page import Page, PageOf
from app.console.reading import instant
from app.core.errors import DomainError
from app.core.scope import DEFAULT_WORLD
from app.core.times import WorldTime, to_iso
from app.core.world import PROFILE_NAMES, World
from app.usecases import worlds
from app.usecases.worlds import Setting

router = APIRouter()
MOST_SEED = 2**63 - 1
MOST_DIFFERENCES = 200


@dataclass(frozen=True, slots=True)
class View:
    """Every world; with `other`, how this one and that one differ, the first ones of `count` differences."""

    worlds: list[World]
    here: str
    profiles: tuple[str, ...]
    other: str
    count: int
    differences: list[dict[str, Any]]

    @property
    def can_drop(self) -> bool:
        """The default world is the one that clients find without a path."""
        return self.here != DEFAULT_WORLD


def view(found: list[World], here: str, other: str, differences: list[dict[str, Any]]) -> View:
    return View(found, here, PROFILE_NAMES, other, len(differences), differences[:MOST_DIFFERENCES])


@router.get("/worlds")
async def show(page: PageOf) -> Response:
    """All worlds."""
    other = page.given.get("compare", "")
    found = await page.db.run(worlds.compare, page.world, other) if other else []
    listed = await page.db.run(worlds.listed)
    return await page.answer("worlds.html", view(listed, page.world, other, found), title="Worlds")


@router.get("/worlds/export")
async def export(page: PageOf) -> Response:
    """Everything in the world, as a file of JSON with sorted keys."""
    content = orjson.dumps(await page.db.run(worlds.export, page.world), option=orjson.OPT_SORT_KEYS)
    named = {"content-disposition": f'attachment; filename="{page.world}.json"'}
    return Response(content, headers=named, media_type="application/json")


@router.post("/do/world/create")
async def create(page: PageOf, form: FormOf) -> Response:
    """An empty world; its page is shown."""
    name, setting = form.text("name", 63), _setting(page, form)
    facts = {"seed": setting.seed, "profile": setting.profile, "start": to_iso(setting.start)}
    words = ["create", name, *(word for key, value in facts.items() for word in (f"--{key}", str(value)))]
    words += ["--frozen"] if setting.frozen else []
    deed = _deed(page, f"Create the world {name}", words, {"name": name, "frozen": setting.frozen, **facts})
    said = "It is empty, and its clock is frozen." if setting.frozen else "It is empty, and its clock runs."
    return await _enter(page, name, deed, page.db.run(worlds.create, name, setting), said)


@router.post("/do/world/fork")
async def fork(page: PageOf, form: FormOf) -> Response:
    """A copy of this world at this instant; its page is shown."""
    name = form.text("name", 63)
    deed = _deed(
        page,
        f"Fork {page.world} as {name}",
        ["fork", name, "--from", page.world],
        {"name": name, "fork_of": page.world},
    )
    work = page.db.run(worlds.fork, page.world, name, frozen=True, rate=None)
    return await _enter(
        page, name, deed, work, f"All that {page.world} was at that instant is in it; its clock is frozen."
    )


async def _enter(page: Page, name: str, deed: Deed, work: Awaitable[World], said: str) -> Response:
    """Tell what was done on the first page of the world that it made; a refusal where the form was."""
    try:
        await work
    except DomainError as error:
        return page.back(replace(deed, outcome=error.message, failed=True))
    made = replace(page, world=name)
    return made.back(replace(deed, outcome=said), made.url())


@router.post("/do/world/reset")
async def reset(page: PageOf) -> Response:
    """Empty this world and begin it again."""
    deed = Deed(
        f"Reset the world {page.world}",
        command_line(page.world, "reset"),
        httpx_lines(page.endpoint, "POST", "reset", {}),
    )
    work = page.db.run(worlds.reset, page.world, {})
    return await page.perform(deed, work, "It is empty and begins again. Its snapshots are kept.")


@router.post("/do/world/drop")
async def drop(page: PageOf) -> Response:
    """Remove this world; the default one is shown."""
    name = page.world
    deed = Deed(
        f"Drop the world {name}",
        shlex.join(("windtunnel", "world", "drop", name)),
        httpx_lines(_service(page), "DELETE", f"worlds/{name}"),
    )
    try:
        await page.db.run(worlds.drop, name)
    except DomainError as error:
        return page.back(replace(deed, outcome=error.message, failed=True))
    left = replace(page, world=DEFAULT_WORLD)
    return left.back(replace(deed, outcome="It is gone, with its snapshots."), left.url("worlds"))


def _deed(page: Page, title: str, words: list[str], body: dict[str, Any]) -> Deed:
    """About worlds from outside any of them."""
    line = shlex.join(("windtunnel", "world", *words))
    return Deed(title, line, httpx_lines(_service(page), "POST", "worlds", body))


def _service(page: Page) -> str:
    return replace(page, world=DEFAULT_WORLD).endpoint


def _setting(page: Page, form: Form) -> Setting:
    """What is not given is as the service was started, and the time now."""
    settings = page.settings
    start = instant(form, "start") or WorldTime(clock.wall_now().replace(microsecond=0))
    profile = form.one_of("profile", *PROFILE_NAMES) if form.optional("profile") else settings.profile
    seed = form.whole("seed", 0, MOST_SEED, settings.seed)
    return Setting(seed, profile, start, settings.rate, form.optional("frozen") is not None)
