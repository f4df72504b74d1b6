"""Connections and transactions. Statements are whole SQL and asyncpg carries them (docs/decisions/0003).

SQLAlchemy describes the tables (`app.store.tables`), which Alembic makes; executing through it would cost several
times what the driver does, and importing it a third of a second in each process.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

import asyncpg
import orjson
from asyncpg.pool import PoolConnectionProxy

from app import clock
from app.core.chance import below

P = ParamSpec("P")
T = TypeVar("T")
if TYPE_CHECKING:
    Tx = PoolConnectionProxy[asyncpg.Record]
else:
    Tx = PoolConnectionProxy
"""A connection inside a transaction. Only `Database` begins and commits one."""

ATTEMPTS = 8
BACKOFF_SECONDS = 0.02
IDLE_SECONDS = 10.0
"""For so long a transaction may wait for its client; who is stopped in one loses it (RL-6)."""
_RETRIED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
CONNECTION_LOST = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""What the driver raises on a connection that the server has closed: the last when it was closed behind our back."""


class Database:
    """A pool of connections to the one Postgres."""

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool

    @classmethod
    async def connect(cls, dsn: str, *, size: int, name: str = "windtunnel", statement_timeout: float = 5.0) -> Self:
        """A pool of at most `size` connections; `statement_timeout` in seconds of wall time."""
        pool = await asyncpg.create_pool(
            dsn,
            min_size=1,
            max_size=size,
            init=_prepare,
            reset=_keep,
            max_inactive_connection_lifetime=0,
            server_settings={
                "application_name": name,
                "timezone": "UTC",
                "jit": "off",
                "statement_timeout": str(round(statement_timeout * 1000)),
                "idle_in_transaction_session_timeout": str(round(IDLE_SECONDS * 1000)),
            },
        )
        return cls(pool)

    async def close(self) -> None:
        await self._pool.close()

    def connection(self) -> AbstractAsyncContextManager[Tx]:
        """A connection outside any transaction: each statement stands alone."""
        return self._pool.acquire()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """A connection in a transaction that commits at the end."""
        async with self._pool.acquire() as connection, connection.transaction():
            yield connection

    async def run(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work` in one transaction, again when Postgres asks for it (40001, 40P01)."""
        for attempt in range(1, ATTEMPTS):
            try:
                async with self.transaction() as tx:
                    return await work(tx, *args, **kwargs)
            except _RETRIED:
                spread = 1 + below(attempt, clock.random_token(), "transaction", 10) / 10
                await clock.sleep(BACKOFF_SECONDS * 2**attempt * spread)
        async with self.transaction() as tx:
            return await work(tx, *args, **kwargs)


async def _prepare(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: b"\x01" + orjson.dumps(value),
        decoder=lambda raw: orjson.loads(raw[1:]),
        format="binary",
    )


async def _keep(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Sessions hold no state of ours, so a connection goes back without a round trip."""
