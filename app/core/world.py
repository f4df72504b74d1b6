"""A world: a universe with its own seed, timings and clock (CT-0, CT-1)."""

from dataclasses import dataclass

from app.core.times import WorldTime
from app.core.timings import PROFILES, Timings


@dataclass(frozen=True, slots=True)
class World:
    """A world as it is at the moment of reading; `now` is its time then."""

    name: str
    seed: int
    profile: str
    started_at: WorldTime
    rate: float
    frozen: bool
    leased: bool
    epoch: int
    now: WorldTime

    @property
    def timings(self) -> Timings:
        return PROFILES[self.profile]
