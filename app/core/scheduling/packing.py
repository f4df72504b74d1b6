"""Free GPUs by host, indexed so that `is there room` and `where` cost no walk over the fleet (FS-10)."""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable
from typing import Final


class Host:
    """A node of the fleet. `free` may be below zero while GPUs that leave are already held for somebody."""

    __slots__ = (
        "claims",
        "expired",
        "free",
        "gpus",
        "id",
        "leaving",
        "model",
        "number",
        "pool",
        "residents",
        "state",
        "unfunded",
        "zone",
    )

    HEALTHY: Final = "healthy"
    DRAINING: Final = "draining"
    DRAINED: Final = "drained"

    def __init__(self, name: str, number: int, gpus: int, model: str, zone: str) -> None:
        self.id = name
        self.number = number
        self.gpus = gpus
        self.model = model
        self.zone = zone
        self.state = self.HEALTHY
        self.free = gpus
        self.unfunded = self.expired = 0
        """GPUs of unfunded and of expired funded work that nobody has evicted yet."""
        self.leaving = 0
        """GPUs of those on their way out; what is free below zero is held of these."""
        self.residents: dict[str, int] = {}
        self.claims: dict[str, int] = {}
        self.pool: Pool | None = None

    @property
    def room(self) -> int:
        """GPUs that victims on the host add to: none if what is free below zero is held of GPUs about to be left."""
        return self.free if self.free >= 0 else min(0, self.free + self.leaving)


class Pool:
    """Hosts that take the same work: of one model and zone, and kept for one reservation or for none."""

    __slots__ = ("free", "hosts", "model", "reserved", "slots", "soft", "stacks", "yielding", "zone")

    def __init__(self, model: str, zone: str, reserved: str | None) -> None:
        self.model = model
        self.zone = zone
        self.reserved = reserved
        self.hosts: dict[str, Host] = {}
        self.free = 0
        self.stacks: dict[int, list[tuple[int, str]]] = {}
        self.slots: dict[int, int] = {}
        """By GPUs of a replica: how many replicas the free GPUs hold."""
        self.soft: dict[int, int] = {}
        """Likewise if all unfunded work left."""
        self.yielding: dict[int, int] = {}
        """Likewise if all unfunded and all expired work left."""

    def room(self, gpus: int) -> int:
        """How many replicas of so many GPUs there is room for."""
        if gpus not in self.slots:
            self._learn(gpus)
        return self.slots[gpus]

    def room_after_unfunded(self, gpus: int) -> int:
        if gpus not in self.soft:
            self._learn(gpus)
        return self.soft[gpus]

    def room_after_expired(self, gpus: int) -> int:
        if gpus not in self.yielding:
            self._learn(gpus)
        return self.yielding[gpus]

    def _learn(self, gpus: int) -> None:
        self.slots[gpus] = self.soft[gpus] = self.yielding[gpus] = 0
        for host in self.hosts.values():
            self._count(host, gpus, 1)

    def _count(self, host: Host, gpus: int, sign: int) -> None:
        free = host.free
        if free >= gpus:
            self.slots[gpus] += sign * (free // gpus)
        free = host.room + host.unfunded
        if free >= gpus:
            self.soft[gpus] += sign * (free // gpus)
        free += host.expired
        if free >= gpus:
            self.yielding[gpus] += sign * (free // gpus)

    def put(self, host: Host) -> None:
        """Count the host as it is now."""
        self.hosts[host.id] = host
        host.pool = self
        for gpus in self.slots:
            self._count(host, gpus, 1)
        if host.free > 0:
            self.free += host.free
            insort(self.stacks.setdefault(host.free, []), (host.number, host.id))

    def take(self, host: Host) -> None:
        """Count the host no more; it is as it was when it was put."""
        del self.hosts[host.id]
        host.pool = None
        self._leave(host)

    def _leave(self, host: Host) -> None:
        for gpus in self.slots:
            self._count(host, gpus, -1)
        if host.free > 0:
            self.free -= host.free
            stack = self.stacks[host.free]
            del stack[bisect_left(stack, (host.number, host.id))]

    def change(self, host: Host, free: int, unfunded: int, expired: int, leaving: int = 0) -> None:
        """The host has so many more GPUs free, unfunded, expired and about to be left."""
        before = host.free
        before_soft = (before if before >= 0 else min(0, before + host.leaving)) + host.unfunded
        before_yielding = before_soft + host.expired
        after = before + free
        host.leaving += leaving
        after_soft = (after if after >= 0 else min(0, after + host.leaving)) + host.unfunded + unfunded
        after_yielding = after_soft + host.expired + expired
        if free:
            _recount(self.slots, before, after)
        if before_soft != after_soft:
            _recount(self.soft, before_soft, after_soft)
        if before_yielding != after_yielding:
            _recount(self.yielding, before_yielding, after_yielding)
        host.unfunded += unfunded
        host.expired += expired
        if free:
            host.free = after
            self._restack(host, before, after)

    def _restack(self, host: Host, before: int, after: int) -> None:
        if before > 0:
            self.free -= before
            stack = self.stacks[before]
            del stack[bisect_left(stack, (host.number, host.id))]
        if after > 0:
            self.free += after
            insort(self.stacks.setdefault(after, []), (host.number, host.id))


def _recount(slots: dict[int, int], before: int, after: int) -> None:
    """A host had room on so many GPUs, and has it on so many now; below zero is none."""
    if before < 0:
        before = 0
    if after < 0:
        after = 0
    if before != after:
        for gpus in slots:
            slots[gpus] += after // gpus - before // gpus


def fit(pools: Iterable[Pool], gpus: int, replicas: int, used: Collection[str] = ()) -> dict[str, int] | None:
    """Hosts for all the replicas, the fullest that fit first, or None; `used` hosts are passed over.

    Hosts that fit equally are taken pool by pool, in the order of the fleet.
    """
    found: dict[str, int] = {}
    left = replicas
    several = list(pools)
    sizes = sorted({size for pool in several for size, stack in pool.stacks.items() if size >= gpus and stack})
    for size in sizes:
        for pool in several:
            for _, name in pool.stacks.get(size, ()):
                if name in used:
                    continue
                count = min(left, size // gpus)
                found[name] = count
                left -= count
                if not left:
                    return found
    return None
