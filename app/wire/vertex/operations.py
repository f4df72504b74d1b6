"""Long-running operations, flat or under the resource that they are about (VX-18). All of them are over."""

from typing import Any

from app.core.google import GoogleOperation
from app.core.listing_filter import Vocabulary
from app.core.scope import Scope
from app.core.times import to_millis
from app.core.world import World
from app.store.db import Tx
from app.usecases import google_operations as operations
from app.wire.google.proto import Message
from app.wire.google.scalars import rfc3339
from app.wire.vertex.listing import Listable, Listing, moment
from app.wire.vertex.messages.requests import ListOperationsRequest, Named, WaitOperationRequest
from app.wire.vertex.names import full
from app.wire.vertex.rpc import OPERATIONS, Context, rpc

_EMPTY = {"@type": "type.googleapis.com/google.protobuf.Empty"}
_VOCABULARY = Vocabulary(flags=frozenset({"done"}))
_DELETED = "DeleteOperationMetadata"
Answer = dict[str, Any]


@rpc(OPERATIONS, "GET operations/*", Named)
async def get_operation(ctx: Context, req: Named) -> Answer:
    return shown(ctx, await ctx.service.db.run(operations.get, ctx.scope, ctx.name.id, _owner(ctx)))


@rpc(OPERATIONS, "GET operations", ListOperationsRequest)
async def list_operations(ctx: Context, req: ListOperationsRequest) -> Answer:
    owner = ctx.name.local.removesuffix("operations").rstrip("/")
    listing = Listing[GoogleOperation](ctx, req, "operations", of=Message, vocabulary=_VOCABULARY)

    async def fetch(after: Any, limit: int) -> Any:
        return await ctx.service.db.run(operations.page, ctx.scope, owner, moment(after), limit)

    way = Listable[GoogleOperation](
        position=lambda one: (to_millis(one.created_at), one.operation_id),
        facts=lambda one: {"done": True},
        shown=lambda one: shown(ctx, one),
    )
    return await listing.answer(fetch, way)


@rpc(OPERATIONS, "DELETE operations/*", Named)
async def delete_operation(ctx: Context, req: Named) -> Answer:
    await ctx.service.db.run(operations.delete, ctx.scope, ctx.name.id, _owner(ctx))
    return {}


@rpc(OPERATIONS, "POST operations/*:cancel", Named, body="*")
async def cancel_operation(ctx: Context, req: Named) -> Answer:
    """Nothing: what is over cannot be cancelled, which is no error."""
    await ctx.service.db.run(operations.get, ctx.scope, ctx.name.id, _owner(ctx))
    return {}


@rpc(OPERATIONS, "POST operations/*:wait", WaitOperationRequest, body="*")
async def wait_operation(ctx: Context, req: WaitOperationRequest) -> Answer:
    """The operation, at once: it is over."""
    return shown(ctx, await ctx.service.db.run(operations.get, ctx.scope, ctx.name.id, _owner(ctx)))


def _owner(ctx: Context) -> str:
    """The resource above the operation in its name; nothing for a flat name."""
    return "/".join(ctx.name.path[:-2])


def shown(ctx: Context, one: GoogleOperation) -> Answer:
    """google.longrunning.Operation."""
    at = rfc3339(one.created_at)
    response = {"@type": ctx.type_url(one.response_kind), **one.response} if one.response_kind else _EMPTY
    return {
        "name": full(ctx.scope, one.owner, "operations", one.operation_id),
        "metadata": {"@type": ctx.type_url(one.kind), "genericMetadata": {"createTime": at, "updateTime": at}},
        "done": True,
        "response": response,
    }


async def deleted(tx: Tx, scope: Scope, world: World, owner: str) -> GoogleOperation:
    """The operation that has deleted `owner`: the deletion is done when it is told of."""
    return await operations.done(tx, scope, world, owner, _DELETED)
