"""Advances that outlast their request: the page goes on, and shows how far they are."""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass

from app import clock
from app.console.deeds import Deeds
from app.core.errors import Conflict, DomainError
from app.core.times import WorldTime, millis, to_iso
from app.failures import is_database_away, report
from app.service import Service
from app.usecases import clocks
from app.usecases.clocks import Advanced, Goal

PATIENCE_SECONDS = 0.5
"""Wall time for which a posted form waits for its advance before the page goes on without."""
MOST_WALL_SECONDS = 3600.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Travel:
    task: "asyncio.Task[None]"
    start: WorldTime
    target: WorldTime | None


class Journeys:
    """The advances that this process makes for its pages, at most one a world."""

    def __init__(self, service: Service, deeds: Deeds) -> None:
        self._service, self._deeds = service, deeds
        self._travels: dict[str, _Travel] = {}

    def of(self, world: str) -> tuple[WorldTime, WorldTime | None] | None:
        """From where, and up to where if that is known; None when none is under way."""
        travel = self._travels.get(world)
        return None if travel is None else (travel.start, travel.target)

    async def begin(self, world: str, goal: Goal, number: int) -> None:
        """Advance; comes back when that is done, or goes on. The deed `number` is told what came of it.
        Conflict while another is under way."""
        if world in self._travels:
            raise Conflict(f"World '{world}' is being advanced. Wait until that is done, or stop it.")
        found, due = await self._service.db.run(clocks.read_with_next, world)
        target = goal.to if goal.to is not None else due if goal.by is None else WorldTime(found.now + goal.by)
        task = asyncio.create_task(self._travel(world, goal, number))
        self._travels[world] = _Travel(task, found.now, target)
        task.add_done_callback(lambda _: self._travels.pop(world, None))
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)

    async def stop(self, world: str) -> bool:
        """Give it up where it has got to; False when none is under way."""
        travel = self._travels.get(world)
        if travel is None:
            return False
        travel.task.cancel()
        await asyncio.wait({travel.task})
        return True

    async def _travel(self, world: str, goal: Goal, number: int) -> None:
        service = self._service
        owner = f"{service.name}-{clock.random_token(4)}"
        try:
            done = await clocks.advance(service.db, world, goal, service.policy, owner, service.settings.lease_seconds)
        except asyncio.CancelledError:
            self._deeds.end(world, number, "Stopped; the clock stays where it has got to.", failed=False)
            raise
        except DomainError as error:
            self._deeds.end(world, number, error.message, failed=True)
        except Exception as error:
            text = "The database is away" if is_database_away(error) else f"It failed ({type(error).__name__})"
            self._deeds.end(world, number, f"{text}; the clock stays where it has got to.", failed=True)
            report(log, error, {"world": world})
        else:
            self._deeds.end(world, number, told(done), failed=not done.settled)


def told(done: Advanced) -> str:
    """Where the clock is now, and what happened on the way."""
    if not done.settled:
        return f"Stopped early at {to_iso(done.after)}: {done.reason}."
    hours, rest = divmod(millis(done.before, done.after) // 1000, 3600)
    far = f"{hours} h {rest // 60} min {rest % 60} s" if hours else f"{rest // 60} min {rest % 60} s"
    counts = Counter({name.replace("_", " "): number for name, number in done.counts.items() if number})
    happened = ", ".join(f"{number:,} {name}" for name, number in counts.most_common(5))
    return f"The clock moved on by {far}, to {to_iso(done.after)}. " + (happened or "Nothing was due on the way.")
