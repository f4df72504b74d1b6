"""What-ifs that this process is asked on its pages: run beside the requests, kept with their answers."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import timedelta

from app import clock
from app.core.errors import Conflict, DomainError
from app.failures import is_database_away, report
from app.service import Service
from app.usecases import what_if
from app.usecases.what_if import Change, Compared, Runner

PATIENCE_SECONDS = 0.5
"""Wall time for which a posted form waits for the answer before the page goes on without."""
MOST_WALL_SECONDS = 600.0
MOST = 50
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """What if `title`, looked at `by` later? `answer` and `error` None: it is under way. `forks` are the worlds that
    it is played in: the one as it is, and the changed one."""

    number: int
    world: str
    title: str
    by: timedelta
    forks: tuple[str, str]
    keep: bool
    answer: Compared | None = None
    error: str | None = None

    @property
    def is_open(self) -> bool:
        return self.answer is None and self.error is None


class Questions:
    """The newest questions by number; at most one is under way."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._kept: OrderedDict[int, Question] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def of(self, world: str) -> list[Question]:
        """Those about the world, the newest first."""
        return [one for one in reversed(self._kept.values()) if one.world == world]

    def find(self, world: str, number: int) -> Question | None:
        found = self._kept.get(number)
        return found if found is not None and found.world == world else None

    async def ask(self, world: str, title: str, change: Change, by: timedelta, *, keep: bool) -> Question:
        """Begin; comes back with the answer if that is quick. Conflict while another is under way."""
        if self._task is not None:
            raise Conflict("Another what-if is under way in this process. Wait for its answer.")
        number, token = max(self._kept, default=0) + 1, clock.random_token(4).lower()
        forks = (f"what-if-{token}-as-is", f"what-if-{token}-changed")
        self._kept[number] = Question(number, world, title, by, forks, keep)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        task = self._task = asyncio.create_task(self._answer(number, change))
        task.add_done_callback(lambda _: setattr(self, "_task", None))
        await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
        return self._kept[number]

    async def _answer(self, number: int, change: Change) -> None:
        asked, service = self._kept[number], self._service
        runner = Runner(
            service.policy,
            f"{service.name}-{clock.random_token(4)}",
            service.settings.lease_seconds,
            MOST_WALL_SECONDS,
        )
        told = asked
        try:
            found = await what_if.compare(service.db, asked.world, asked.forks, change, asked.by, runner)
            told = replace(asked, answer=found)
        except DomainError as error:
            told = replace(asked, error=error.message)
        except Exception as error:
            text = "The database is away." if is_database_away(error) else f"It failed ({type(error).__name__})."
            told = replace(asked, error=text)
            report(log, error, {"world": asked.world})
        finally:
            if told.answer is None or not asked.keep:
                await what_if.drop(service.db, asked.forks)
            self._kept[number] = told
