"""Answers kept by client token, so that a repeated request has one effect."""

from typing import Any, NamedTuple

from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx

_ROW = "world = $1 AND account = $2 AND region = $3 AND operation = $4 AND token = $5"


class Kept(NamedTuple):
    """What was asked with the token, and what was answered."""

    request_hash: str
    answer: Any


async def claim(
    tx: Tx, scope: Scope, operation: str, token: str, request_hash: str, now: WorldTime, until: WorldTime
) -> Kept | None:
    """None when the token is ours to use; else what it was used for. A rival's claim is waited for."""
    key = (scope.world, scope.account, scope.region, operation, token)
    await tx.execute(
        "DELETE FROM idempotency WHERE world = $1 AND account = $2 AND region = $3 AND expires_at <= $4", *key[:3], now
    )
    ours = await tx.fetchval(
        """INSERT INTO idempotency (world, account, region, operation, token, request_hash, answer, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, '{}', $7) ON CONFLICT DO NOTHING RETURNING true""",
        *key,
        request_hash,
        until,
    )
    if ours:
        return None
    row = await tx.fetchrow(f"SELECT request_hash, answer FROM idempotency WHERE {_ROW}", *key)
    return Kept(*row) if row else None


async def keep(tx: Tx, scope: Scope, operation: str, token: str, answer: Any) -> None:
    await tx.execute(
        f"UPDATE idempotency SET answer = $6 WHERE {_ROW}",
        scope.world,
        scope.account,
        scope.region,
        operation,
        token,
        answer,
    )
