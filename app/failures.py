"""Failures of ours, whichever surface they happen on: what they are, and how the log tells them."""

import logging
from collections.abc import Mapping

import asyncpg

from app.store.db import CONNECTION_LOST


def is_database_away(error: BaseException) -> bool:
    """Whether `error` says that Postgres is unreachable, closing, out of resources or too slow, not that we erred."""
    if isinstance(error, asyncpg.InterfaceError):
        return "clos" in str(error)  # "connection is closed", "pool is closing": its only sign
    return isinstance(
        error,
        (
            *CONNECTION_LOST,
            TimeoutError,
            asyncpg.OperatorInterventionError,
            asyncpg.InsufficientResourcesError,
            asyncpg.TransactionRollbackError,
            asyncpg.IdleInTransactionSessionTimeoutError,
        ),
    )


def report(log: logging.Logger, error: Exception, facts: Mapping[str, object]) -> None:
    """One line for a database that is away, which is known by its name; of all else the whole trace is wanted."""
    if is_database_away(error):
        log.warning("the database is away", extra={"facts": {**facts, "error": type(error).__name__}})
    else:
        log.error("request failed", exc_info=error, extra={"facts": facts})
