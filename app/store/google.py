"""Google's operations and documents: their rows."""

from collections.abc import Sequence
from typing import Any

from app.core.google import Document, GoogleOperation
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx
from app.store.rows import Shape, dollars

_OPERATION, _DOCUMENT = Shape(GoogleOperation), Shape(Document)
_TENANT = "world = $1 AND account = $2 AND region = $3"


def _key(scope: Scope) -> tuple[str, str, str]:
    return scope.world, scope.account, scope.region


async def _insert(tx: Tx, table: str, shape: Shape, scope: Scope, value: Any) -> bool:
    row = await tx.fetchrow(
        f"""INSERT INTO {table} (world, account, region, {shape.select})
        VALUES ({dollars(1, 3 + len(shape.columns))}) ON CONFLICT DO NOTHING RETURNING 1""",
        *_key(scope),
        *shape.values(value),
    )
    return row is not None


async def insert_operation(tx: Tx, scope: Scope, operation: GoogleOperation) -> bool:
    """False when there is one with that id."""
    return await _insert(tx, "google_operation", _OPERATION, scope, operation)


async def operation(tx: Tx, scope: Scope, operation_id: str) -> GoogleOperation | None:
    row = await tx.fetchrow(
        f"SELECT {_OPERATION.select} FROM google_operation WHERE {_TENANT} AND operation_id = $4",
        *_key(scope),
        operation_id,
    )
    return GoogleOperation(*row) if row else None


async def operations(
    tx: Tx, scope: Scope, owner: str, after: Sequence[Any] | None, limit: int
) -> list[GoogleOperation]:
    """Up to `limit`, newest first, from behind `after` = (created_at, operation_id); all owners' for an empty owner."""
    rows = await tx.fetch(
        f"""SELECT {_OPERATION.select} FROM google_operation
        WHERE {_TENANT} AND ($4 = '' OR owner = $4)
          AND ($5::timestamptz IS NULL OR (created_at, operation_id) < ($5, $6))
        ORDER BY created_at DESC, operation_id DESC LIMIT $7""",
        *_key(scope),
        owner,
        *(after or (None, None)),
        limit,
    )
    return [GoogleOperation(*row) for row in rows]


async def delete_operation(tx: Tx, scope: Scope, operation_id: str) -> bool:
    """False when there is none."""
    row = await tx.fetchrow(
        f"DELETE FROM google_operation WHERE {_TENANT} AND operation_id = $4 RETURNING 1", *_key(scope), operation_id
    )
    return row is not None


async def forget_operations(tx: Tx, scope: Scope, before: WorldTime) -> None:
    """Delete those begun before that."""
    await tx.execute(f"DELETE FROM google_operation WHERE {_TENANT} AND created_at < $4", *_key(scope), before)


async def insert_document(tx: Tx, scope: Scope, document: Document) -> bool:
    """False when there is one of that name."""
    return await _insert(tx, "google_document", _DOCUMENT, scope, document)


async def document(tx: Tx, scope: Scope, name: str, *, lock: bool = False) -> Document | None:
    row = await tx.fetchrow(
        f"""SELECT {_DOCUMENT.select} FROM google_document WHERE {_TENANT} AND name = $4
        {"FOR UPDATE" if lock else ""}""",
        *_key(scope),
        name,
    )
    return Document(*row) if row else None


async def documents(tx: Tx, scope: Scope, collection: str, after: Sequence[Any] | None, limit: int) -> list[Document]:
    """Up to `limit` of a collection, newest first, from behind `after` = (created_at, name)."""
    rows = await tx.fetch(
        f"""SELECT {_DOCUMENT.select} FROM google_document
        WHERE {_TENANT} AND collection = $4 AND ($5::timestamptz IS NULL OR (created_at, name) < ($5, $6))
        ORDER BY created_at DESC, name DESC LIMIT $7""",
        *_key(scope),
        collection,
        *(after or (None, None)),
        limit,
    )
    return [Document(*row) for row in rows]


async def save_document(tx: Tx, scope: Scope, document: Document) -> None:
    await tx.execute(
        f"UPDATE google_document SET updated_at = $5, body = $6 WHERE {_TENANT} AND name = $4",
        *_key(scope),
        document.name,
        document.updated_at,
        document.body,
    )


async def delete_documents(tx: Tx, scope: Scope, name: str) -> None:
    """The document and all below it."""
    await tx.execute(
        f"DELETE FROM google_document WHERE {_TENANT} AND (name = $4 OR starts_with(name, $4 || '/'))",
        *_key(scope),
        name,
    )
