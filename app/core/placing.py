"""Which node each replica of a gang gets: the whole gang at one instant, or none of it and the reason (VX-24).

Plain values, whoever asks. A node's GPUs may be shared by replicas of several workloads; a replica's are on one node.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heappop, heappush


@dataclass(frozen=True, slots=True)
class Host:
    """A node: `gpus` GPUs of `model` in all, of which `taken` are somebody's; without GPUs its model is None.

    One that is not `ready` takes nobody now, but may later.
    """

    name: str
    model: str | None
    gpus: int
    taken: int = 0
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Need:
    """A replica that needs `gpus` GPUs of `model` on one node. Without GPUs it needs a node and takes none of it."""

    replica: str
    model: str | None
    gpus: int


class Reason(StrEnum):
    """Why a gang is held; the one that will last longest, where there are several."""

    NO_NODE = "no-node"
    NO_SUCH_GPU = "no-such-gpu"
    NODES_TOO_SMALL = "nodes-too-small"
    FLEET_TOO_SMALL = "fleet-too-small"
    NODES_NOT_READY = "nodes-not-ready"
    GPUS_IN_USE = "gpus-in-use"
    BEHIND_OTHERS = "behind-others"


@dataclass(frozen=True, slots=True)
class Hold:
    """The gang waits, and why."""

    reason: Reason
    message: str

    @property
    def hopeless(self) -> bool:
        """True when it would not fit though every node were ready and free."""
        return self.reason in (Reason.NO_NODE, Reason.NO_SUCH_GPU, Reason.NODES_TOO_SMALL, Reason.FLEET_TOO_SMALL)


Placement = Mapping[str, str]
"""The node of each replica, by name."""


class Room:
    """The free GPUs of a fleet during one decision. Of equal nodes the one that comes first is taken."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self.hosts = list(hosts)
        ready = [host for host in self.hosts if host.ready]
        self._bare = [host.name for host in ready if not host.gpus] or [host.name for host in ready]
        self._rank = {host.name: (place, host.name) for place, host in enumerate(ready)}
        self._model = {host.name: host.model for host in ready}
        self._free = {host.name: host.gpus - host.taken for host in ready}
        self._stacks: dict[str | None, dict[int, list[tuple[int, str]]]] = {}
        for name in self._free:
            self._stack(name)

    def place(self, needs: Sequence[Need]) -> Placement | Hold:
        """Take what the gang needs; nothing is taken when one of its replicas finds no node."""
        found = self._fit(needs)
        return _hold(self.hosts, needs) if found is None else found

    def fits(self, needs: Sequence[Need]) -> bool:
        """Whether there was room; it is taken if so."""
        return self._fit(needs) is not None

    def _fit(self, needs: Sequence[Need]) -> Placement | None:
        found: dict[str, str] = {}
        for need in sorted(needs, key=lambda need: -need.gpus):
            name = self._fullest(need) if need.gpus else self._any(len(found))
            if name is None:
                for other in needs:
                    if other.replica in found:
                        self._take(found[other.replica], -other.gpus)
                return None
            found[need.replica] = name
            self._take(name, need.gpus)
        return {need.replica: found[need.replica] for need in needs}

    def _fullest(self, need: Need) -> str | None:
        """The node with the fewest free GPUs that are enough, so that whole nodes stay whole."""
        stacks = self._stacks.get(need.model, {})
        for free in sorted(stacks):
            if free >= need.gpus and (name := self._first(stacks[free], free)) is not None:
                return name
        return None

    def _first(self, stack: list[tuple[int, str]], free: int) -> str | None:
        while stack and self._free[stack[0][1]] != free:
            heappop(stack)  # it has other room since
        return stack[0][1] if stack else None

    def _any(self, turn: int) -> str | None:
        """One node after the other, of those without GPUs if there are any."""
        return self._bare[turn % len(self._bare)] if self._bare else None

    def _take(self, name: str, gpus: int) -> None:
        if gpus:
            self._free[name] -= gpus
            self._stack(name)

    def _stack(self, name: str) -> None:
        stacks = self._stacks.setdefault(self._model[name], {})
        heappush(stacks.setdefault(self._free[name], []), self._rank[name])


def place(hosts: Iterable[Host], needs: Sequence[Need]) -> Placement | Hold:
    """The placement of one gang: best fit, the largest replicas first.

    That finds one whenever there is one, as long as each number of GPUs divides the next larger one, as those of all
    machine types do.
    """
    return Room(hosts).place(needs)


def hopeless(hosts: Sequence[Host], needs: Sequence[Need]) -> Hold | None:
    """Why the gang would find no place though every node were ready and free; None if it would find one."""
    hold = _hold(hosts, needs)
    return hold if hold.hopeless else None


def _hold(hosts: Sequence[Host], needs: Sequence[Need]) -> Hold:
    """Why the gang finds no place on these nodes."""
    if not hosts:
        return Hold(Reason.NO_NODE, "The cluster has no node that takes jobs. Give it an instance group for them.")
    largest: dict[str | None, int] = {}
    for host in hosts:
        largest[host.model] = max(largest.get(host.model, 0), host.gpus)
    for need in (need for need in needs if need.gpus):
        if need.model not in largest:
            text = f"No node of the cluster has GPUs of model {need.model}. Ask for another model, or add such nodes."
            return Hold(Reason.NO_SUCH_GPU, text)
        if need.gpus > (most := largest[need.model]):
            text = (
                f"{need.replica} needs {need.gpus} GPUs of one node, and the largest of model {need.model} has {most}."
            )
            return Hold(Reason.NODES_TOO_SMALL, f"{text} Use smaller machines, or add larger nodes.")
    free = [replace(host, taken=0) for host in hosts]
    wanted = sum(need.gpus for need in needs)
    if not Room(replace(host, ready=True) for host in free).fits(needs):
        text = f"The cluster's nodes together are too small for all {len(needs)} replicas, {wanted} GPUs, at once."
        return Hold(Reason.FLEET_TOO_SMALL, f"{text} Raise the instance count, or ask for fewer replicas.")
    if not Room(free).fits(needs):
        return Hold(Reason.NODES_NOT_READY, "Too few nodes are Running. It starts when they are.")
    return Hold(Reason.GPUS_IN_USE, f"Others use the GPUs; {wanted} are needed at once. It starts when they are free.")
