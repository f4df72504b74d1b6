"""One piece of due work, tried: what is wrong with it must not stop the others, and what is not its fault is tried
again as a whole."""

from collections import Counter
from collections.abc import Awaitable, Callable

import asyncpg

from app.store.db import CONNECTION_LOST, Tx

Work = Callable[[], Awaitable[Counter[str]]]
Otherwise = Callable[[Exception], Awaitable[Counter[str]]]
_NOT_ITS_FAULT = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, *CONNECTION_LOST)


async def attempt(tx: Tx, work: Work, otherwise: Otherwise) -> Counter[str]:
    """Do the work, all of it or nothing; `otherwise` what follows from its failure.

    A deadlock or a lost connection is raised: then the whole transaction is tried again. But a value of its own that
    the driver cannot send is its fault, though the driver calls that an interface error.
    """
    try:
        async with tx.transaction():
            return await work()
    except Exception as error:
        if isinstance(error, _NOT_ITS_FAULT) and not isinstance(error, ValueError):
            raise
        return await otherwise(error)


def told(error: Exception) -> str:
    """The error as a row keeps it."""
    return f"{type(error).__name__}: {error}"[:500]
