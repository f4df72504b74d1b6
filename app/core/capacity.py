"""How many instances of a type exist, and who gets them (CT-4). A type without a pool is unlimited."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from app.core.times import WorldTime

WHOLE_REGION = ""
"""The zone of a pool that counts all zones of its region together."""


@dataclass(frozen=True, slots=True)
class Pool:
    """`total` machines of one type in a region or a zone, `used` of them granted. Lowering `total` evicts nothing.

    `freed_at` is when a machine last came free. Since then only grants were made, so what is free now has been free
    all the time from there.
    """

    region: str
    zone: str
    instance_type: str
    total: int
    used: int
    freed_at: WorldTime | None = None

    @property
    def free(self) -> int:
        return max(0, self.total - self.used)


@dataclass(frozen=True, slots=True)
class Want:
    """A node that wants a machine: of the first type that has one, in the first zone that has one."""

    subject: str
    instance_types: Sequence[str]
    zones: Sequence[str]


@dataclass(frozen=True, slots=True)
class Grant:
    """A machine of `instance_type` in `zone`, which has been free since `since` (None: for ever).

    One of a training plan names the reserved capacity that it is of, and the UltraServer that it is in, if any.
    """

    instance_type: str
    zone: str
    since: WorldTime | None = None
    reservation: str | None = None
    server: int | None = None


class Stock:
    """The pools of one region during one decision. It counts what is taken and given back.

    `known` names the types whose pools were looked for: of any other, nothing may be taken for unlimited.
    """

    def __init__(self, pools: Iterable[Pool], known: Collection[str]) -> None:
        self._known = frozenset(known)
        self._pools = {(pool.instance_type, pool.zone): pool for pool in pools}
        self._deltas: dict[tuple[str, str], int] = {}
        self._freed: dict[tuple[str, str], WorldTime] = {
            key: pool.freed_at for key, pool in self._pools.items() if pool.freed_at is not None
        }

    def take(self, want: Want) -> Grant | None:
        """Grant a machine, or None when no type has one left in any of the zones."""
        for instance_type in want.instance_types:
            for zone in want.zones:
                if all(self._free(key) > 0 for key in self._limits(instance_type, zone)):
                    self._count(instance_type, zone, 1)
                    return Grant(instance_type, zone, self._free_since(instance_type, zone))
        return None

    def take_all(self, wants: Iterable[Want]) -> list[Grant] | None:
        """Grant a machine to each, or to none of them."""
        before = dict(self._deltas)
        grants: list[Grant] = []
        for want in wants:
            grant = self.take(want)
            if grant is None:
                self._deltas = before
                return None
            grants.append(grant)
        return grants

    def give_back(self, instance_type: str, zone: str, at: WorldTime) -> None:
        """The machine is free again from `at` on."""
        self._count(instance_type, zone, -1)
        for key in self._limits(instance_type, zone):
            self._freed[key] = max(at, self._freed.get(key, at))

    @property
    def deltas(self) -> dict[tuple[str, str], int]:
        """The change of `used` by (instance type, zone), without zeros."""
        return {key: delta for key, delta in self._deltas.items() if delta}

    @property
    def freed(self) -> dict[str, WorldTime]:
        """The limited types of which more came free than was taken, each with the last moment when one did."""
        types: dict[str, WorldTime] = {}
        for key, at in self._freed.items():
            if self._deltas.get(key, 0) < 0:
                types[key[0]] = max(at, types.get(key[0], at))
        return types

    def freed_at(self, key: tuple[str, str]) -> WorldTime | None:
        """When a machine of the pool last came free."""
        return self._freed.get(key)

    def _free_since(self, instance_type: str, zone: str) -> WorldTime | None:
        times = [self._freed.get(key) for key in self._limits(instance_type, zone)]
        return max((time for time in times if time is not None), default=None)

    def _limits(self, instance_type: str, zone: str) -> list[tuple[str, str]]:
        if instance_type not in self._known:
            raise LookupError(f"the pools of {instance_type} were not looked for")
        keys = ((instance_type, zone), (instance_type, WHOLE_REGION))
        return [key for key in keys if key in self._pools]

    def _free(self, key: tuple[str, str]) -> int:
        pool = self._pools[key]
        return pool.total - pool.used - self._deltas.get(key, 0)

    def _count(self, instance_type: str, zone: str, amount: int) -> None:
        for key in self._limits(instance_type, zone):
            self._deltas[key] = self._deltas.get(key, 0) + amount
