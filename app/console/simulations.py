"""Small simulations that this process runs on demand of its pages, in a process of their own."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.errors import Conflict
from app.core.scheduling.policy import DAY
from app.failures import report
from app.simulate import processes
from app.simulate.cases import Case, Result
from app.simulate.generator import generate
from app.simulate.lab import Lab

MOST_GPUS, MOST_DAYS, MOST_POLICIES = 256, 7, 4
"""So much that an answer is there within a minute or two of one core."""
GPUS_PER_NODE = 8
MOST = 20
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A generated laboratory of so many GPUs, watched for so many days after one of warm-up, under these policies."""

    gpus: int
    days: int
    seed: int
    policies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """`results` has one for each policy; it and `error` are None while it runs."""

    number: int
    wanted: Wanted
    results: Sequence[Result] | None = None
    error: str | None = None

    @property
    def is_open(self) -> bool:
        return self.results is None and self.error is None


class Simulations:
    """The newest ones by number; at most one runs."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Simulation] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def newest(self) -> list[Simulation]:
        """The newest first."""
        return list(reversed(self._kept.values()))

    def find(self, number: int) -> Simulation | None:
        return self._kept.get(number)

    def begin(self, wanted: Wanted) -> Simulation:
        """Conflict while another runs."""
        if self._task is not None:
            raise Conflict("Another simulation runs in this process. Wait for its results.")
        number = max(self._kept, default=0) + 1
        self._kept[number] = Simulation(number, wanted)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        task = self._task = asyncio.create_task(self._run(number))
        task.add_done_callback(lambda _: setattr(self, "_task", None))
        return self._kept[number]

    async def _run(self, number: int) -> None:
        begun = self._kept[number]
        try:
            results = await asyncio.to_thread(processes.solve_all, cases(begun.wanted), 1, lambda _: None)
            self._kept[number] = replace(begun, results=results)
        except Exception as error:
            self._kept[number] = replace(begun, error=f"It failed ({type(error).__name__}); the log names the cause.")
            report(log, error, {"simulation": number})


def cases(wanted: Wanted) -> list[Case]:
    """One for each policy, of the same laboratory."""
    lab = replace(Lab(), nodes=wanted.gpus // GPUS_PER_NODE, warmup=DAY, measured=wanted.days * DAY)
    return [Case(policy, partial(generate, lab, wanted.seed)) for policy in wanted.policies]
