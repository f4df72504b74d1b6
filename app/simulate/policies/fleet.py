"""The hosts of a simulated fleet, and the gangs that run on them whole."""

from collections.abc import Collection, Iterable

from app.core.scheduling.packing import Host, Pool, fit
from app.simulate.workloads import Job, Node


class Gang:
    """A job that runs. `yields`: whoever needs the room may take it."""

    __slots__ = ("job", "places", "start", "yields")

    def __init__(self, job: Job, start: int, places: dict[str, int], *, yields: bool) -> None:
        self.job = job
        self.start = start
        self.places = places
        self.yields = yields


class Fleet:
    """Hosts in pools by GPU model. A host that drains is in no pool, so that nothing new starts there."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.pools: dict[str, Pool] = {}
        self.draining: dict[str, None] = {}
        self.running: dict[str, Gang] = {}
        self.yielding: dict[str, Gang] = {}
        """Those that yield, the oldest first."""
        self.nominal = 0
        """GPUs of all hosts that there have ever been, broken or not."""
        self._numbers: dict[str, int] = {}
        self._all: list[Pool] = []

    @property
    def capacity(self) -> int:
        """GPUs of the hosts that take work, and those held on hosts that drain."""
        held = sum(host.gpus - host.free for host in map(self.hosts.__getitem__, self.draining))
        return held + sum(host.gpus for pool in self.pools.values() for host in pool.hosts.values())

    def add(self, node: Node) -> None:
        """The host takes work."""
        if node.id not in self._numbers:
            self._numbers[node.id] = len(self._numbers)
            self.nominal += node.gpus
        host = self.hosts.get(node.id)
        if host is None:
            host = self.hosts[node.id] = Host(node.id, self._numbers[node.id], node.gpus, node.model, node.zone)
        self.draining.pop(node.id, None)
        if host.pool is None:
            self.pools.setdefault(node.model, Pool(node.model, "", None)).put(host)
            self._all = list(self.pools.values())

    def drain(self, name: str) -> None:
        """The host takes nothing new."""
        host = self.hosts.get(name)
        if host is not None and host.pool is not None:
            host.pool.take(host)
            self.draining[name] = None

    def remove(self, name: str) -> None:
        """The host is gone, and nothing runs on it any more."""
        host = self.hosts.pop(name, None)
        self.draining.pop(name, None)
        if host is not None and host.pool is not None:
            host.pool.take(host)

    def on(self, name: str) -> list[Gang]:
        """What runs on the host."""
        host = self.hosts.get(name)
        return [self.running[job] for job in host.residents] if host is not None else []

    def pools_for(self, model: str) -> list[Pool]:
        if model:
            return [self.pools[model]] if model in self.pools else []
        return self._all

    def has_room(self, model: str, gpus: int, replicas: int) -> bool:
        """Whether such a gang fits on free GPUs."""
        return sum([pool.room(gpus) for pool in self.pools_for(model)]) >= replicas

    def has_room_after_yielding(self, model: str, gpus: int, replicas: int) -> bool:
        """Whether it would, if all that yields were gone."""
        return sum([pool.room_after_unfunded(gpus) for pool in self.pools_for(model)]) >= replicas

    def has_room_outside(self, passed_over: Collection[str], model: str, gpus: int, replicas: int) -> bool:
        """Likewise on other hosts than these."""
        hosts = [host for pool in self.pools_for(model) for host in pool.hosts.values() if host.id not in passed_over]
        return sum([(host.free + host.unfunded) // gpus for host in hosts]) >= replicas

    def find(self, job: Job, passed_over: Collection[str] = ()) -> dict[str, int] | None:
        """Free places for the whole gang, the fullest hosts first."""
        return fit(self.pools_for(job.model), job.gpus, job.replicas, passed_over)

    def occupy(self, gang: Gang) -> None:
        self.running[gang.job.id] = gang
        if gang.yields:
            self.yielding[gang.job.id] = gang
        for name, count in gang.places.items():
            self.hosts[name].residents[gang.job.id] = count
            self._change(name, -count * gang.job.gpus, yields=gang.yields)

    def vacate(self, gang: Gang) -> None:
        del self.running[gang.job.id]
        self.yielding.pop(gang.job.id, None)
        for name, count in gang.places.items():
            if name in self.hosts:
                del self.hosts[name].residents[gang.job.id]
                self._change(name, count * gang.job.gpus, yields=gang.yields)

    def _change(self, name: str, free: int, *, yields: bool) -> None:
        host = self.hosts[name]
        unfunded = -free if yields else 0
        if host.pool is not None:
            host.pool.change(host, free, unfunded, 0)
        else:
            host.free += free
            host.unfunded += unfunded

    def victims(self, job: Job, candidates: Iterable[Gang], passed_over: Collection[str] = ()) -> list[Gang] | None:
        """Enough of the candidates, the first ones first, that the job fits when they have left; none dispensable."""
        gpus, missing = job.gpus, job.replicas
        free = {
            host.id: host.free
            for pool in self.pools_for(job.model)
            for host in pool.hosts.values()
            if host.id not in passed_over
        }
        missing -= sum([left // gpus for left in free.values()])
        chosen: list[Gang] = []
        for gang in candidates:
            if missing <= 0:
                break
            if not gang.places.keys().isdisjoint(free):
                chosen.append(gang)
                missing -= _give(gang, gpus, free, 1)
        if missing > 0:
            return None
        for gang in reversed(chosen[:-1]):
            lost = -_give(gang, gpus, free, -1)
            if missing + lost > 0:
                _give(gang, gpus, free, 1)
            else:
                missing += lost
                chosen.remove(gang)
        return chosen


def _give(gang: Gang, gpus: int, free: dict[str, int], sign: int) -> int:
    """How many replicas of so many GPUs fit more when the gang leaves (1) or stays after all (-1)."""
    won = 0
    for name, count in gang.places.items():
        if name in free:
            before = free[name]
            free[name] = before + sign * count * gang.job.gpus
            won += free[name] // gpus - before // gpus
    return won
