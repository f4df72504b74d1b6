"""Our own processes: who lives, who holds which lease, and the pulse that tells a gap without any. Wall time only."""

from datetime import timedelta

import asyncpg

from app.store.db import Tx

ALIVE = "seen_wall > clock_timestamp() - interval '5 seconds'"


async def beat(tx: Tx, name: str, kind: str, passes: int) -> None:
    """Say that the process lives and how many passes it has made."""
    await tx.execute(
        """INSERT INTO process (name, kind, started_wall, seen_wall, passes)
        VALUES ($1, $2, clock_timestamp(), clock_timestamp(), $3)
        ON CONFLICT (name) DO UPDATE SET seen_wall = clock_timestamp(), passes = $3""",
        name,
        kind,
        passes,
    )


async def leave(tx: Tx, name: str) -> None:
    await tx.execute("DELETE FROM process WHERE name = $1", name)


async def forget_dead(tx: Tx) -> None:
    await tx.execute("DELETE FROM process WHERE seen_wall < clock_timestamp() - interval '1 minute'")


async def cut_off_stopped(tx: Tx, seconds: float) -> int:
    """End the sessions of ours that have been in the middle of a statement's messages for so long; how many they were.

    Postgres ends what is idle in a transaction by itself, but no timeout of it (before version 17) applies while it
    waits for the rest of a statement, and a process that is stopped right there would keep its locks.
    """
    cut: int = await tx.fetchval(
        """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND application_name LIKE 'windtunnel%'
            AND state = 'active' AND wait_event = 'ClientRead'
            AND state_change <= clock_timestamp() - make_interval(secs => $1)""",
        seconds,
    )
    return cut


async def living(tx: Tx) -> list[asyncpg.Record]:
    """The processes that were seen in the last five seconds."""
    return await tx.fetch(
        f"""SELECT name, kind, started_wall, seen_wall, passes FROM process WHERE {ALIVE}
        ORDER BY kind, started_wall, name"""
    )


async def last_pulse(tx: Tx) -> timedelta | None:
    """Wall time since any process last took the pulse; locks it until the transaction ends."""
    since: timedelta | None = await tx.fetchval("SELECT clock_timestamp() - seen_wall FROM pulse FOR UPDATE")
    return since


async def take_pulse(tx: Tx) -> None:
    await tx.execute(
        """INSERT INTO pulse (one, seen_wall) VALUES (true, clock_timestamp())
        ON CONFLICT (one) DO UPDATE SET seen_wall = clock_timestamp()"""
    )


async def hold(tx: Tx, name: str, owner: str, epoch: int | None, seconds: float) -> int | None:
    """Renew the lease of `epoch`, or take it when it is free; the epoch that is held, or None.

    The epochs of a row begin behind those of any former row of the name, since a holder of that may still write.
    """
    held: int | None = await tx.fetchval(
        """UPDATE lease SET until_wall = clock_timestamp() + make_interval(secs => $4)
        WHERE name = $1 AND owner = $2 AND epoch = $3 RETURNING epoch""",
        name,
        owner,
        epoch,
        seconds,
    )
    if held is not None:
        return held
    taken: int | None = await tx.fetchval(
        """INSERT INTO lease AS l (name, owner, epoch, until_wall, passes)
        VALUES ($1, $2, extract(epoch FROM clock_timestamp()) * 1000, clock_timestamp() + make_interval(secs => $3), 0)
        ON CONFLICT (name) DO UPDATE SET owner = $2, epoch = l.epoch + 1, until_wall = excluded.until_wall
        WHERE l.until_wall <= clock_timestamp() RETURNING epoch""",
        name,
        owner,
        seconds,
    )
    return taken


async def count_pass(tx: Tx, name: str, epoch: int) -> bool:
    """Count a pass under the lease; False when the lease is no longer ours, and nothing may be written."""
    done = await tx.execute(
        "UPDATE lease SET passes = passes + 1 WHERE name = $1 AND epoch = $2 AND until_wall > clock_timestamp()",
        name,
        epoch,
    )
    return done == "UPDATE 1"


async def leases(tx: Tx) -> list[asyncpg.Record]:
    return await tx.fetch(
        "SELECT name, owner, epoch, until_wall, passes, until_wall > clock_timestamp() AS held FROM lease ORDER BY name"
    )
