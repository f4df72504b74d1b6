"""Requests with a client token: repeated within 8 hours they have one effect (HP-31)."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

from app.core.errors import Conflict, DomainError
from app.core.scope import Scope
from app.core.times import WorldTime, after
from app.store import idempotency
from app.store.db import Tx

TOKEN_LIFE = timedelta(hours=8)


async def answered(
    tx: Tx,
    scope: Scope,
    operation: str,
    token: str | None,
    asked: object,
    now: WorldTime,
    mismatch: type[DomainError] = Conflict,
) -> Any | None:
    """The answer that the same request has had already, or None when it is the first with its token. `mismatch` when
    the token came with another request."""
    if token is None:
        return None
    digest = sha256(repr(asked).encode()).hexdigest()
    kept = await idempotency.claim(tx, scope, operation, token, digest, now, after(now, TOKEN_LIFE))
    if kept is None:
        return None
    if kept.request_hash != digest:
        raise mismatch("ClientToken was used with other parameters within the last 8 hours. Use a new token.")
    return kept.answer


async def keep(tx: Tx, scope: Scope, operation: str, token: str | None, answer: Any) -> None:
    """Remember the answer of the first request with its token."""
    if token is not None:
        await idempotency.keep(tx, scope, operation, token, answer)
