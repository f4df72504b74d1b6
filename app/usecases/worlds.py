"""Worlds: create, fork, drop, empty, export and compare (CT-0, CT-2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from app.core.errors import Conflict, InUse, Invalid, NotFound
from app.core.scope import DEFAULT_WORLD
from app.core.times import WorldTime, to_iso
from app.core.world import MOTO, World
from app.store import contents, copies, sessions, snapshots, worlds
from app.store.db import Tx

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
LONG_SECONDS = 120
"""How long one statement over a whole world may run."""
MOST_DIFFERENCES = 1000
MOST_EXPORTED = 96 * 1024 * 1024
"""Bytes of objects in an export, where each takes two characters: such a file can still be imported (CT-14)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a world begins: its chance, its timings and its clock."""

    seed: int
    profile: str
    start: WorldTime
    rate: float
    frozen: bool

    @property
    def facts(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in ("seed", "profile", "start", "rate", "frozen")}


async def exists(tx: Tx, name: str) -> bool:
    return await worlds.read(tx, name) is not None


async def profile_of(tx: Tx, name: str) -> str | None:
    """The world's profile, or None without the world."""
    world = await worlds.read(tx, name)
    return None if world is None else world.profile


async def listed(tx: Tx) -> list[World]:
    """Every world, by name."""
    return await worlds.all_worlds(tx)


async def create(tx: Tx, name: str, setting: Setting) -> World:
    """An empty world. InUse if there is one of that name."""
    _check_name(name)
    await _insert(tx, name, setting)
    return await _existing(tx, name)


async def found(tx: Tx, name: str, setting: Setting) -> bool:
    """Make the world unless another process has just done so; True if it was us. Waits for that process's commit."""
    return await _inserted(tx, name, setting)


async def adjust(tx: Tx, name: str, *, profile: str | None, rate: float | None, frozen: bool | None) -> None:
    """Change what is given, unless the world is so already or somebody advances it. Conflict: it has had clusters,
    which are named in another way than those of the profile would be."""
    world = await _existing(tx, name)
    if profile not in (None, world.profile):
        if MOTO in (profile, world.profile) and await worlds.has_clusters(tx, name):
            raise Conflict(
                f"World '{name}' has the profile {world.profile} and clusters that are named accordingly, so it cannot "
                f"take the profile {profile}. Make a world with `windtunnel world create NAME --profile {profile}`,"
                " or begin in another data directory or with --ephemeral."
            )
        await worlds.set_profile(tx, name, str(profile))
    if rate in (None, world.rate) and frozen in (None, world.frozen):
        return
    world = await locked(tx, name)
    if not world.leased:
        state = world.frozen if frozen is None else frozen
        await worlds.set_clock(tx, name, world.now, rate=rate or world.rate, frozen=state)


async def fork(tx: Tx, source: str, name: str, *, frozen: bool, rate: float | None) -> World:
    """A copy of all that `source` is at this instant, ids included; its clock goes on from there."""
    _check_name(name)
    await sessions.allow(tx, LONG_SECONDS)
    origin = await locked(tx, source)
    start = Setting(origin.seed, origin.profile, origin.started_at, origin.rate, frozen)
    await _insert(tx, name, start)
    await worlds.set_clock(tx, name, origin.now, rate=rate or origin.rate, frozen=frozen)
    await copies.copy_rows(tx, source, name)
    return await _existing(tx, name)


async def drop(tx: Tx, name: str) -> None:
    """Remove the world, all that it owns, and its snapshots."""
    if name == DEFAULT_WORLD:
        raise Conflict(f"World '{name}' is the one that clients find without a path; it cannot be dropped. Reset it.")
    await sessions.allow(tx, LONG_SECONDS)
    check_rests(await locked(tx, name))
    for snapshot in await snapshots.of_world(tx, name):
        await snapshots.remove(tx, name, snapshot.name)
    await worlds.remove(tx, name)


async def reset(tx: Tx, name: str, changed: Mapping[str, Any]) -> World:
    """Empty the world and begin it again with its seed, profile, start, rate and clock state, except for `changed`.

    Its snapshots stay.
    """
    await sessions.allow(tx, LONG_SECONDS)
    old = await locked(tx, name)
    check_rests(old)
    facts: dict[str, Any] = {
        "seed": old.seed,
        "profile": old.profile,
        "start": old.started_at,
        "rate": old.rate,
        "frozen": old.frozen,
    }
    await worlds.remove(tx, name)
    await _insert(tx, name, Setting(**facts | dict(changed)))
    return await _existing(tx, name)


async def export(tx: Tx, name: str) -> dict[str, Any]:
    """All of the world that is not wall time, as JSON values; equal worlds give equal values, whatever their names.

    Client tokens are left out: an SDK draws them at random, and they say nothing of the world. Conflict: its objects
    have too many bytes for a file.
    """
    await sessions.allow(tx, LONG_SECONDS)
    world = await locked(tx, name)
    if (size := await contents.size(tx, name)) > MOST_EXPORTED:
        raise Conflict(
            f"The objects of world '{name}' have {size} bytes, and an export holds at most {MOST_EXPORTED}. Delete "
            "some of its buckets' objects, or keep the world as a snapshot or a fork."
        )
    rows = {str(table): rows async for table, rows in copies.export_rows(tx, name)}
    return {"format": copies.FORMAT, "tables": rows, "world": facts_of(world)}


def facts_of(world: World) -> dict[str, Any]:
    """What a world is, without its name."""
    return {
        "seed": world.seed,
        "profile": world.profile,
        "started_at": to_iso(world.started_at),
        "rate": world.rate,
        "frozen": world.frozen,
        "now": to_iso(world.now),
    }


async def compare(tx: Tx, one: str, other: str) -> list[dict[str, Any]]:
    """Where the two differ: table, key, and either whose row it is or the columns with both values."""
    await sessions.allow(tx, LONG_SECONDS)
    facts = [facts_of(await locked(tx, name)) for name in (one, other)]
    mine, theirs = [
        {str(table): rows async for table, rows in copies.export_rows(tx, name, _summed)} for name in (one, other)
    ]
    keys = {table.name: table.key for table in await copies.owned(tx)}
    found = _compared("world", {}, *facts)
    for table, rows in mine.items():
        left, right = (_by_key(keys[table], side) for side in (rows, theirs[table]))
        for key in sorted(left.keys() | right.keys(), key=repr):
            named = dict(zip(keys[table], key, strict=True))
            if key not in left or key not in right:
                found.append({"table": table, "key": named, "only_in": one if key in left else other})
            else:
                found += _compared(table, named, left[key], right[key])
    return found


def _summed(value: bytes) -> str:
    """What tells bytes from others, and is shorter than they are."""
    return f"sha256:{sha256(value).hexdigest()}"


def _by_key(key: list[str], rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[name] for name in key): row for row in rows}


def _compared(table: str, key: dict[str, Any], left: dict[str, Any], right: dict[str, Any]) -> list[dict[str, Any]]:
    columns = {name: [left[name], right[name]] for name in left if left[name] != right[name]}
    return [{"table": table, "key": key, "columns": columns}] if columns else []


def check_rests(world: World) -> None:
    """Conflict while somebody advances the world."""
    if world.leased:
        raise Conflict(f"World '{world.name}' is being advanced. Try again when the advance has returned.")


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise Invalid(
            f"'{name[:80]}' cannot name a world: up to 63 of a-z, 0-9 and '-', beginning with a letter or digit."
        )


async def _insert(tx: Tx, name: str, setting: Setting) -> None:
    if not await _inserted(tx, name, setting):
        raise InUse(f"There is a world '{name}' already. Choose another name, or drop or reset that one.")


async def _inserted(tx: Tx, name: str, setting: Setting) -> bool:
    return await worlds.insert_world(tx, name, **setting.facts)


async def _existing(tx: Tx, name: str) -> World:
    world = await worlds.read(tx, name)
    if world is None:
        raise NotFound(f"There is no world '{name}'. Create it with `windtunnel world create {name}`.")
    return world


async def locked(tx: Tx, name: str) -> World:
    """The world, which nobody reads on or moves until this transaction ends. NotFound."""
    await _existing(tx, name)
    world = await worlds.lock(tx, name)
    if world is None:
        raise NotFound(f"There is no world '{name}' any more.")
    return world
