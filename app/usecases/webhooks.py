"""Webhooks: add, list, try and remove them, by world (CT-8). What they are sent is in `app.usecases.delivering`."""

from typing import Any

import asyncpg

from app import clock
from app.core.announcements import arn_of, envelope
from app.core.chance import digest
from app.core.errors import Invalid, LimitExceeded, NotFound
from app.core.ids import uuid_of
from app.core.webhooks import target
from app.store import outbox, webhooks, worlds
from app.store.db import Database, Tx
from app.usecases import announcements, clocks
from app.usecases.posting import post, sender

MOST = 100
SECRET_BYTES = 32
PREFIX = "wh-"
TEST = "Windtunnel Test"


def number_of(webhook_id: str) -> int:
    """The number in `wh-3`. NotFound for what is no webhook's id."""
    digits = webhook_id.removeprefix(PREFIX)
    if webhook_id == digits or not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
        raise _missing(webhook_id)
    return int(digits)


def _missing(webhook_id: str) -> NotFound:
    return NotFound(f"There is no webhook '{webhook_id[:40]}' in this world. `windtunnel webhook list` shows them.")


async def add(
    tx: Tx, world: str, url: str, secret: str | None, filters: tuple[str | None, str | None], hosts: tuple[str, ...]
) -> tuple[str, str]:
    """A webhook for what happens from now on: its id and its secret, which is told this once.

    Invalid for a target elsewhere than on this machine, unless its host is among `hosts`.
    """
    target(url, hosts)
    what = announcements.wanted(*filters)
    if await worlds.keep(tx, world) is None:
        raise NotFound(f"There is no world '{world}'. Create it with `windtunnel world create {world}`.")
    head = await outbox.arrange(tx, world)
    if await webhooks.count(tx, world) >= MOST:
        raise LimitExceeded(f"World '{world}' has {MOST} webhooks, and no more may be. Remove one that is not needed.")
    secret = secret or clock.random_token(SECRET_BYTES)
    number = await webhooks.add(tx, world, url, secret, what, (head, announcements.LAST))
    return f"{PREFIX}{number}", secret


async def every(tx: Tx) -> list[tuple[str, int]]:
    """World and number of every webhook."""
    return await webhooks.keys(tx)


async def listed(tx: Tx, world: str) -> list[asyncpg.Record]:
    """The world's webhooks with their counts, never with their secrets."""
    await clocks.read(tx, world)
    return await webhooks.listed(tx, world)


async def remove(tx: Tx, world: str, webhook_id: str) -> None:
    """What is under way to it still arrives. NotFound without it."""
    if not await webhooks.remove(tx, world, number_of(webhook_id)):
        raise _missing(webhook_id)


async def attempts(tx: Tx, world: str, webhook_id: str, limit: int) -> list[asyncpg.Record]:
    """What was sent to it last, the newest first. NotFound without it."""
    number = number_of(webhook_id)
    if await webhooks.get(tx, world, number) is None:
        raise _missing(webhook_id)
    return await webhooks.attempts(tx, world, number, limit)


async def test(db: Database, world: str, webhook_id: str, hosts: tuple[str, ...], owner: tuple[str, str]) -> int | None:
    """Send it one envelope of a type of our own, now. The answer's status; Invalid when it did not go well."""
    hook = await db.run(webhooks.get, world, number_of(webhook_id))
    if hook is None:
        raise _missing(webhook_id)
    now = (await db.run(clocks.read, world)).now
    own = uuid_of(digest(0, clock.random_token(), "test-envelope", 16))
    made: dict[str, Any] = envelope(own, TEST, now, arn_of(*owner, "0" * 12), {"WebhookId": webhook_id}, "windtunnel")
    async with sender() as client:
        status, error = await post(client, hook.url, hook.secret, made, hosts)
    if error is not None:
        raise Invalid(f"Webhook '{webhook_id}' did not take the test: {error}. Look at what listens there.")
    return status
