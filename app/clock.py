"""The only reader of clocks and of entropy. Two kinds of time that never mix: the world's, and the wall's.

`WorldTime` is what users see and pay for; it comes from a row in Postgres and is handed on as `now`.
`WallTime` belongs to our own processes: leases, heartbeats, back-off, signature age.
"""

import asyncio
import secrets
import time
from datetime import UTC, datetime
from typing import NewType

WallTime = NewType("WallTime", datetime)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""No world's clock goes further: what follows an instant must be representable too."""


def wall_now() -> WallTime:
    """The machine's wall clock, UTC."""
    return WallTime(datetime.now(UTC))


def monotonic() -> float:
    """Seconds on a clock that only goes forward, for durations inside one process."""
    return time.monotonic()


async def sleep(seconds: float) -> None:
    """Let other work run for `seconds` of wall time."""
    await asyncio.sleep(seconds)


def random_token(bytes_: int = 8) -> str:
    """Hex of the operating system's entropy, for names of processes; never for anything a world holds."""
    return secrets.token_hex(bytes_)
