"""A client token has one effect (RL-8)."""

import asyncio

from app.core.scope import Scope
from app.store import idempotency
from app.store.db import Database, Tx
from app.store.idempotency import Kept
from tests.core.builders import T0, at

EIGHT_HOURS = at(hours=8)


async def test_the_second_gets_the_first_one_s_answer(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        assert await idempotency.claim(tx, scope, "Add", "t", "hash", T0, EIGHT_HOURS) is None
        await idempotency.keep(tx, scope, "Add", "t", {"n": 1})
        assert await idempotency.claim(tx, scope, "Add", "t", "hash", T0, EIGHT_HOURS) == Kept("hash", {"n": 1})
        assert await idempotency.claim(tx, scope, "Add", "t", "other", T0, EIGHT_HOURS) == Kept("hash", {"n": 1})


async def test_tokens_belong_to_an_operation_and_an_account(database: Database, scope: Scope) -> None:
    """RL-22."""
    async with database.transaction() as tx:
        assert await idempotency.claim(tx, scope, "Add", "t", "hash", T0, EIGHT_HOURS) is None
        assert await idempotency.claim(tx, scope, "Other", "t", "hash", T0, EIGHT_HOURS) is None
        foreign = Scope(scope.world, "444455556666", scope.region)
        assert await idempotency.claim(tx, foreign, "Add", "t", "hash", T0, EIGHT_HOURS) is None


async def test_a_token_expires_in_the_world_s_time(database: Database, scope: Scope) -> None:
    """HP-31: eight hours."""
    async with database.transaction() as tx:
        assert await idempotency.claim(tx, scope, "Add", "t", "hash", T0, EIGHT_HOURS) is None
        assert await idempotency.claim(tx, scope, "Add", "t", "other", at(hours=7.9), EIGHT_HOURS) is not None
        assert await idempotency.claim(tx, scope, "Add", "t", "other", EIGHT_HOURS, at(hours=16)) is None


async def test_of_many_at_once_one_has_the_effect(database: Database, scope: Scope) -> None:
    """RL-8: the others wait for it and get its answer."""

    async def once(tx: Tx, caller: int) -> int:
        kept = await idempotency.claim(tx, scope, "Add", "t", "hash", T0, EIGHT_HOURS)
        if kept is not None:
            return int(kept.answer["caller"])
        await idempotency.keep(tx, scope, "Add", "t", {"caller": caller})
        return caller

    answers = await asyncio.gather(*(database.run(once, caller) for caller in range(20)))
    assert len(set(answers)) == 1
