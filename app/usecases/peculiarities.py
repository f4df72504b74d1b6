"""What few worlds have and every request would ask for: remembered for a moment, so that others pay nothing for it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from app import clock
from app.core.faults import Rule
from app.core.releases import Releases
from app.store import faults, lag
from app.store.db import Database
from app.usecases.images import known_releases

REMEMBERED_SECONDS = 0.25
"""So late, at most, does a process notice what another has changed."""
MOST_WORLDS = 10_000


class Peculiarities(NamedTuple):
    """The fault rules that strike requests, the releases that there are, and whether counts come late."""

    rules: Sequence[Rule]
    releases: Releases
    late: bool


class _Known(NamedTuple):
    until: float
    found: Peculiarities


class Remembered:
    """The peculiarities of worlds as this process knows them. `monotonic` gives seconds of the wall."""

    def __init__(self, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._monotonic = monotonic
        self._known: dict[str, _Known] = {}
        self._epoch = 0

    def forget(self) -> None:
        """They may have changed: the next request looks."""
        self._known.clear()
        self._epoch += 1

    async def of(self, database: Database, world: str) -> Peculiarities:
        """Those of the world; none of a world that is not there."""
        now = self._monotonic()
        known = self._known.get(world)
        if known is not None:
            if known.until > now:
                return known.found
            # Whoever comes while we look takes what was known: one look a moment, however many ask.
            self._known[world] = _Known(now + REMEMBERED_SECONDS, known.found)
        epoch = self._epoch
        async with database.connection() as tx:
            rules = await faults.request_rules(tx, world)
            found = Peculiarities(rules, await known_releases(tx, world), await lag.is_set(tx, world))
        if epoch == self._epoch:
            if len(self._known) > MOST_WORLDS:
                self._known.clear()
            self._known[world] = _Known(now + REMEMBERED_SECONDS, found)
        return found
