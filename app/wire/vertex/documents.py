"""Resources without behaviour: what `aiplatform.init(experiment=…)` asks for, and persistent resources (VX-18).

Metadata stores, contexts and tensorboards are kept as they were given. Nothing reads them but their clients.
"""

import re
from collections.abc import Mapping
from typing import Any

from app.core.google import Document, GoogleOperation
from app.core.listing_filter import Vocabulary
from app.core.scope import Scope
from app.core.times import to_millis
from app.store.db import Tx
from app.usecases import google_documents as documents
from app.usecases import google_operations
from app.wire.google.errors import wrong_field
from app.wire.google.proto import Message, camel
from app.wire.google.scalars import rfc3339
from app.wire.vertex import operations
from app.wire.vertex.listing import Listable, Listing, moment
from app.wire.vertex.messages import requests as messages
from app.wire.vertex.messages.requests import Named
from app.wire.vertex.messages.resources import Context as MetadataContext
from app.wire.vertex.messages.resources import MetadataStore, PersistentResource, Tensorboard
from app.wire.vertex.names import full
from app.wire.vertex.rpc import METADATA, RESOURCES, TENSORBOARDS, Context, rpc

Answer = dict[str, Any]
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_ANY_TEXT = Vocabulary(
    texts=frozenset({"display_name", "schema_title", "schema_version"}),
    times=frozenset({"create_time", "update_time"}),
    flags=frozenset({"is_default"}),
)


@rpc(METADATA, "POST metadataStores", messages.CreateMetadataStoreRequest, body="metadata_store")
async def create_metadata_store(ctx: Context, req: messages.CreateMetadataStoreRequest) -> Answer:
    given = _checked(req.metadata_store_id, "metadata_store_id") or "default"
    return await _created(ctx, "metadataStores", given, req.metadata_store, "MetadataStore")


@rpc(METADATA, "GET metadataStores/*", Named, MetadataStore)
async def get_metadata_store(ctx: Context, req: Named) -> Answer:
    return await _got(ctx)


@rpc(METADATA, "GET metadataStores", messages.PageRequest, messages.ListMetadataStoresResponse)
async def list_metadata_stores(ctx: Context, req: messages.PageRequest) -> Answer:
    return await _listed(ctx, req, "metadataStores", MetadataStore)


@rpc(METADATA, "DELETE metadataStores/*", messages.DeleteMetadataStoreRequest)
async def delete_metadata_store(ctx: Context, req: messages.DeleteMetadataStoreRequest) -> Answer:
    return await _deleted(ctx)


@rpc(METADATA, "POST metadataStores/*/contexts", messages.CreateContextRequest, MetadataContext, body="context")
async def create_context(ctx: Context, req: messages.CreateContextRequest) -> Answer:
    collection = f"{ctx.name.local}/contexts"
    made, _ = await ctx.service.db.run(
        documents.create, ctx.scope, collection, _checked(req.context_id, "context_id"), _body(req.context)
    )
    return _shown(ctx.scope, made)


@rpc(METADATA, "GET metadataStores/*/contexts/*", Named, MetadataContext)
async def get_context(ctx: Context, req: Named) -> Answer:
    return await _got(ctx)


@rpc(METADATA, "GET metadataStores/*/contexts", messages.ListContextsRequest, messages.ListContextsResponse)
async def list_contexts(ctx: Context, req: messages.ListContextsRequest) -> Answer:
    return await _listed(ctx, req, "contexts", MetadataContext)


@rpc(METADATA, "PATCH metadataStores/*/contexts/*", messages.UpdateContextRequest, MetadataContext, body="context")
async def update_context(ctx: Context, req: messages.UpdateContextRequest) -> Answer:
    given = _body(req.context)
    paths = [camel(path) for path in (req.update_mask or "").split(",") if path] or list(given)
    if any("." in path for path in paths):
        raise wrong_field("update_mask", "The update mask takes whole fields here, such as metadata.")
    changes = {path: given.get(path) for path in paths}
    return _shown(ctx.scope, await ctx.service.db.run(documents.change, ctx.scope, ctx.name.local, changes))


@rpc(METADATA, "DELETE metadataStores/*/contexts/*", messages.DeleteContextRequest)
async def delete_context(ctx: Context, req: messages.DeleteContextRequest) -> Answer:
    return await _deleted(ctx)


@rpc(TENSORBOARDS, "POST tensorboards", messages.CreateTensorboardRequest, body="tensorboard")
async def create_tensorboard(ctx: Context, req: messages.CreateTensorboardRequest) -> Answer:
    return await _created(ctx, "tensorboards", None, req.tensorboard, "Tensorboard")


@rpc(TENSORBOARDS, "GET tensorboards/*", Named, Tensorboard)
async def get_tensorboard(ctx: Context, req: Named) -> Answer:
    return await _got(ctx)


@rpc(TENSORBOARDS, "GET tensorboards", messages.ListTensorboardsRequest, messages.ListTensorboardsResponse)
async def list_tensorboards(ctx: Context, req: messages.ListTensorboardsRequest) -> Answer:
    return await _listed(ctx, req, "tensorboards", Tensorboard)


@rpc(TENSORBOARDS, "DELETE tensorboards/*", Named)
async def delete_tensorboard(ctx: Context, req: Named) -> Answer:
    return await _deleted(ctx)


@rpc(
    RESOURCES,
    "GET persistentResources",
    messages.PageRequest,
    messages.ListPersistentResourcesResponse,
)
async def list_persistent_resources(ctx: Context, req: messages.PageRequest) -> Answer:
    """None: they cannot be created here, and a job that names one is refused."""
    return await _listed(ctx, req, "persistentResources", PersistentResource)


@rpc(RESOURCES, "GET persistentResources/*", Named, PersistentResource)
async def get_persistent_resource(ctx: Context, req: Named) -> Answer:
    return await _got(ctx)


async def _created(ctx: Context, collection: str, given_id: str | None, message: Message | None, kind: str) -> Answer:
    """The operation that has created the resource."""

    async def create(tx: Tx) -> GoogleOperation:
        made, world = await documents.create(tx, ctx.scope, collection, given_id, _body(message))
        response = _shown(ctx.scope, made)
        metadata = f"Create{kind}OperationMetadata"
        return await google_operations.done(tx, ctx.scope, world, made.name, metadata, kind, response)

    return operations.shown(ctx, await ctx.service.db.run(create))


def _checked(given: str | None, field: str) -> str | None:
    if given is not None and not _ID.fullmatch(given):
        told = f"'{given[:80]}' is no id for {field}: use up to 128 of a-z, 0-9 and '-', with no hyphen in front."
        raise wrong_field(field, told)
    return given


async def _got(ctx: Context) -> Answer:
    return _shown(ctx.scope, await ctx.service.db.run(documents.get, ctx.scope, ctx.name.local))


async def _deleted(ctx: Context) -> Answer:
    async def delete(tx: Tx) -> GoogleOperation:
        world = await documents.delete(tx, ctx.scope, ctx.name.local)
        return await operations.deleted(tx, ctx.scope, world, ctx.name.local)

    return operations.shown(ctx, await ctx.service.db.run(delete))


async def _listed(ctx: Context, req: Any, key: str, of: type[Message]) -> Answer:
    if getattr(req, "order_by", None) not in (None, "create_time desc", "createTime desc"):
        raise wrong_field("order_by", "Lists are ordered by 'create_time desc'; leave order_by out.")
    collection = "/".join((*ctx.name.path, key))
    listing = Listing[Document](ctx, req, key, of=of, vocabulary=_ANY_TEXT)

    async def fetch(after: Any, limit: int) -> Any:
        return await ctx.service.db.run(documents.page, ctx.scope, collection, moment(after), limit)

    way = Listable[Document](
        position=lambda one: (to_millis(one.created_at), one.name),
        facts=_facts,
        shown=lambda one: _shown(ctx.scope, one),
    )
    return await listing.answer(fetch, way)


def _facts(one: Document) -> dict[str, Any]:
    facts: dict[str, Any] = {
        name: one.body[camel(name)] for name in (*_ANY_TEXT.texts, *_ANY_TEXT.flags) if camel(name) in one.body
    }
    return facts | {"create_time": one.created_at, "update_time": one.updated_at, "labels": one.body.get("labels", {})}


def _body(message: Message | None) -> Mapping[str, Any]:
    given = message.canonical() if message else {}
    return {key: value for key, value in given.items() if key not in ("name", "etag")}


def _shown(scope: Scope, one: Document) -> Answer:
    return {
        "name": full(scope, one.name),
        **one.body,
        "createTime": rfc3339(one.created_at),
        "updateTime": rfc3339(one.updated_at),
    }
