"""Long-running operations of Google's APIs (VX-18). What they do is done when they are told of, so all are over."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from app.core.errors import NotFound
from app.core.google import GoogleOperation, resource_id
from app.core.scope import Scope
from app.core.times import after
from app.core.world import World
from app.store import google
from app.store.db import Tx
from app.usecases.clusters import hold_world, world_of

Body = Mapping[str, Any]

KEPT = timedelta(days=30)
"""How long an operation can be asked for (chosen)."""


async def done(
    tx: Tx, scope: Scope, world: World, owner: str, kind: str, response_kind: str = "", response: Body | None = None
) -> GoogleOperation:
    """Record that something has been done to `owner`; without `response_kind` the response is Empty."""
    await google.forget_operations(tx, scope, after(world.now, -KEPT))
    attempt = 0
    while True:
        subject = f"{scope.account}/{scope.region}/{owner}/{kind}/{world.now.isoformat()}/{attempt}"
        identity = resource_id(world.seed, subject, "google-operation")
        made = GoogleOperation(identity, owner, kind, world.now, response_kind, response or {})
        if await google.insert_operation(tx, scope, made):
            return made
        attempt += 1


async def get(tx: Tx, scope: Scope, operation_id: str, owner: str) -> GoogleOperation:
    """The operation by its id, under its owner or under none."""
    await world_of(tx, scope)
    found = await google.operation(tx, scope, operation_id)
    if found is None or owner not in ("", found.owner):
        raise NotFound(f"The Operation does not exist: {operation_id}. Operations are kept for {KEPT.days} days.")
    return found


async def page(tx: Tx, scope: Scope, owner: str, after: Sequence[Any] | None, limit: int) -> list[GoogleOperation]:
    """Newest first; those of an owner, or all."""
    await world_of(tx, scope)
    return await google.operations(tx, scope, owner, after, limit)


async def delete(tx: Tx, scope: Scope, operation_id: str, owner: str) -> None:
    await hold_world(tx, scope)
    await get(tx, scope, operation_id, owner)
    await google.delete_operation(tx, scope, operation_id)
