"""Resources of Google's APIs that are documents here: kept as they were given, and without an effect (VX-18)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.core.errors import InUse, NotFound
from app.core.google import Document, resource_id
from app.core.scope import Scope
from app.core.world import World
from app.store import google
from app.store.db import Tx
from app.usecases.clusters import hold_world, world_of


async def create(
    tx: Tx, scope: Scope, collection: str, given_id: str | None, body: Mapping[str, Any]
) -> tuple[Document, World]:
    """Keep `body` under the id, or under one that the service makes. InUse when the name is taken."""
    world = await hold_world(tx, scope)
    parent = collection.rpartition("/")[0]
    if parent:
        await _get(tx, scope, parent)
    attempt = 0
    while True:
        subject = f"{scope.account}/{scope.region}/{collection}/{world.now.isoformat()}/{attempt}"
        identity = given_id or resource_id(world.seed, subject, "google-document")
        made = Document(f"{collection}/{identity}", collection, world.now, world.now, body)
        if await google.insert_document(tx, scope, made):
            return made, world
        if given_id:
            kind = collection.rpartition("/")[2]
            raise InUse(f"There is a {kind}/{given_id} already. Choose another id, or delete it.")
        attempt += 1


async def get(tx: Tx, scope: Scope, name: str) -> Document:
    await world_of(tx, scope)
    return await _get(tx, scope, name)


async def _get(tx: Tx, scope: Scope, name: str, *, lock: bool = False) -> Document:
    found = await google.document(tx, scope, name, lock=lock)
    if found is None:
        raise NotFound(f"There is no {name} in project {scope.account}, location {scope.region}.")
    return found


async def page(tx: Tx, scope: Scope, collection: str, after: Sequence[Any] | None, limit: int) -> list[Document]:
    """Newest first. NotFound without the parent."""
    await world_of(tx, scope)
    if parent := collection.rpartition("/")[0]:
        await _get(tx, scope, parent)
    return await google.documents(tx, scope, collection, after, limit)


async def change(tx: Tx, scope: Scope, name: str, changes: Mapping[str, Any]) -> Document:
    """Set members of the body; None takes one away."""
    world = await hold_world(tx, scope)
    found = await _get(tx, scope, name, lock=True)
    body = {key: value for key, value in {**found.body, **changes}.items() if value is not None}
    changed = replace(found, body=body, updated_at=world.now)
    await google.save_document(tx, scope, changed)
    return changed


async def delete(tx: Tx, scope: Scope, name: str) -> World:
    """Take the document away, with all below it."""
    world = await hold_world(tx, scope)
    await _get(tx, scope, name, lock=True)
    await google.delete_documents(tx, scope, name)
    return world
