"""The world's clock: read, freeze, resume, rate, advance (CT-1)."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator

from app import clock
from app.core.errors import Conflict
from app.core.times import to_iso
from app.core.world import MOST_RATE, World
from app.usecases import clocks
from app.usecases.clocks import Goal
from app.wire.control.vocabulary import STRICT, Instant, ServiceOf, WorldOf

router = APIRouter(tags=["clock"])
LONGEST_S = 3.0e11
DEFAULT_WALL_S = 300.0
LOOK_SECONDS = 0.5
"""Wall time between two looks whether the client still waits."""


class Clock(BaseModel):
    """Where a world's clock stands, and whether it runs."""

    world: str
    now: str = Field(examples=["2026-01-31T12:00:00.000Z"])
    frozen: bool
    rate: float = Field(description="Virtual seconds in a second of the wall, while it runs.")
    profile: str
    started_at: str
    advancing: bool = Field(description="Somebody advances the world at this moment.")
    next_due: str | None = Field(description="The earliest instant at which something happens.")


class ClockChange(BaseModel):
    """What to change; what is left out stays."""

    model_config = STRICT
    frozen: bool | None = None
    rate: float | None = Field(default=None, gt=0, le=MOST_RATE)


class Advance(BaseModel):
    """How far, by exactly one of `by`, `to` and `next`; and when to stop early."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"by": 10800}, {"to": "2026-02-01T00:00:00Z"}]}}
    by: float | None = Field(default=None, ge=0, le=LONGEST_S, description="Virtual seconds.")
    to: Instant | None = None
    next: bool | None = Field(default=None, description="To the next instant at which something is due.")
    max_events: int | None = Field(default=None, ge=1, description="Stop after so many pieces of work.")
    max_wall_seconds: float | None = Field(default=None, gt=0, le=86_400)

    @model_validator(mode="after")
    def _one_goal(self) -> "Advance":
        if sum((self.by is not None, self.to is not None, self.next is True)) != 1:
            raise ValueError("say how far by exactly one of 'by', 'to' and 'next'")
        return self

    def goal(self) -> Goal:
        by = None if self.by is None else timedelta(milliseconds=round(self.by * 1000))
        wall = DEFAULT_WALL_S if self.max_wall_seconds is None else self.max_wall_seconds
        return Goal(by, self.to, self.max_events, wall)


class Advanced(BaseModel):
    """Where the clock was and is, and what happened on the way."""

    before: str
    after: str
    settled: bool = Field(description="False when a limit or a failing cluster stopped it early; advance again.")
    counts: dict[str, int]
    reason: str | None = Field(description="Why it is not settled.")


@router.get("/clock", summary="Read the clock")
async def read_clock(service: ServiceOf, world: WorldOf) -> Clock:
    found, due = await service.db.run(clocks.read_with_next, world)
    return Clock(**clock_of(found), next_due=to_iso(due) if due else None)


@router.post("/clock", summary="Freeze, resume, set the rate")
async def change_clock(change: ClockChange, service: ServiceOf, world: WorldOf) -> Clock:
    await service.db.run(clocks.set_clock, world, frozen=change.frozen, rate=change.rate)
    return await read_clock(service, world)


@router.post("/clock/advance", summary="Move the clock forward and settle everything due on the way")
async def advance_clock(advance: Advance, service: ServiceOf, world: WorldOf, request: Request) -> Advanced:
    """Returns when all is done, which may take long: there is no request deadline. A client that hangs up ends it;
    the clock then stays where it has got to."""
    owner = f"{service.name}-{clock.random_token(4)}"
    done = await _while_asked(
        request,
        clocks.advance(service.db, world, advance.goal(), service.policy, owner, service.settings.lease_seconds),
    )
    counts = {name: number for name, number in sorted(done.counts.items()) if number}
    return Advanced(
        before=to_iso(done.before), after=to_iso(done.after), settled=done.settled, counts=counts, reason=done.reason
    )


async def _while_asked(request: Request, work: Coroutine[Any, Any, clocks.Advanced]) -> clocks.Advanced:
    """What `work` gives, unless its client has gone."""
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait({task}, timeout=LOOK_SECONDS)
        if not task.done() and await request.is_disconnected():
            task.cancel()
            await asyncio.wait({task})
            raise Conflict("The client went away, so the advance was given up. Advance again to go on.")
    return task.result()


def clock_of(world: World) -> dict[str, Any]:
    """A world's clock as the API shows it."""
    return {
        "world": world.name,
        "now": to_iso(world.now),
        "frozen": world.frozen,
        "rate": world.rate,
        "profile": world.profile,
        "started_at": to_iso(world.started_at),
        "advancing": world.leased,
    }
