"""What one transaction may take, and what the server is."""

from app.store.db import Tx


async def allow(tx: Tx, seconds: int) -> None:
    """Let each statement of this transaction run so long: for whole worlds, which are larger than any request."""
    await tx.execute(f"SET LOCAL statement_timeout = '{seconds}s'")
    await tx.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{seconds}s'")


async def see_one_state(tx: Tx) -> None:
    """Let this transaction, which has done nothing yet, see what was committed by now and nothing later."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


async def server_version(tx: Tx) -> str:
    """PostgreSQL's version, as `17.2`."""
    version: str = await tx.fetchval("SHOW server_version")
    return version
