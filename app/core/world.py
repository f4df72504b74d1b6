"""A world: a universe with its own seed, timings and clock (CT-0, CT-1)."""

from dataclasses import dataclass

from app.core import naming
from app.core.naming import Naming
from app.core.times import WorldTime
from app.core.timings import PROFILES, Timings

MOST_RATE = 1_000_000.0
"""Virtual seconds in a second of the wall."""
MOTO = "moto"
"""The profile whose worlds answer as moto does: names are ids, and nothing takes time (docs/moto.md)."""
_PACE = {MOTO: "instant"}
PROFILE_NAMES = (*PROFILES, MOTO)


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
    read_lag: int = 0
    """Seconds of its time by which DescribeCluster counts late."""

    def may_be_moved(self, epoch: int | None) -> bool:
        """Whether who holds the lease `epoch` may do what is due in it; a worker without one stands still while anybody
        holds it, and in a frozen world, where only an advance moves anything."""
        if epoch is not None:
            return self.leased and self.epoch == epoch
        return not self.frozen and not self.leased

    @property
    def timings(self) -> Timings:
        return PROFILES[_PACE.get(self.profile, self.profile)]

    @property
    def naming(self) -> Naming:
        """What its new clusters are called."""
        return naming.MOTO if self.profile == MOTO else naming.VENDOR


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the clock of a world was when the snapshot was saved, `at` an instant of the world's own time."""

    name: str
    at: WorldTime
    seed: int
    profile: str
    started_at: WorldTime
    rate: float
    frozen: bool
