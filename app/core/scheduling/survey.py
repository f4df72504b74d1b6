"""What all explanations of one instant have in common, each part counted once, when it is first asked for (FS-13)."""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

from app.core.scheduling.budgets import Budget, Ratio, Turn
from app.core.scheduling.lending import teams_in_turn
from app.core.scheduling.packing import Host
from app.core.scheduling.queueing import leaves_in_order
from app.core.scheduling.quotas import Count, count
from app.core.scheduling.reservations import protected_work_over
from app.core.scheduling.state import State
from app.core.scheduling.workload import Workload

Kind = tuple[str, str]
"""GPU model and zone that a workload wants, empty for any."""
ALL, FREE, YIELDING = "all", "free", "yielding"
_GPUS: Final[Mapping[str, Callable[[Host], int]]] = {
    ALL: lambda host: host.gpus,
    FREE: lambda host: host.free,
    YIELDING: lambda host: host.room + host.unfunded + host.expired,
}
"""Of a host: all its GPUs, those that are free, and those that would be if all left that may be made to."""


class Survey:
    """The state is not changed while this is used."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._hosts: dict[tuple[Kind, bool], list[Host]] = {}
        self._slots: dict[tuple[Kind, bool, int, str], int] = {}
        self._largest: dict[Kind, int] = {}
        self._free: dict[Kind, int] = {}
        self._over: dict[Kind, list[tuple[int, int, int]]] = {}
        self._earliest: dict[tuple[Kind, int, int], int | None] = {}
        self._turns: dict[str, list[Turn]] = {}
        self._ratios: dict[str, Ratio] = {}

    def hosts(self, workload: Workload, *, healthy: bool = False) -> list[Host]:
        """Where it may run: of its GPU model and its zone."""
        (model, zone), key = _kind(workload), (_kind(workload), healthy)
        if key not in self._hosts:
            self._hosts[key] = [
                host
                for host in self.state.hosts.values()
                if model in ("", host.model) and zone in ("", host.zone) and (not healthy or host.state == Host.HEALTHY)
            ]
        return self._hosts[key]

    def largest(self, workload: Workload) -> int:
        """GPUs of the largest host where it may run."""
        kind = _kind(workload)
        if kind not in self._largest:
            self._largest[kind] = max((host.gpus for host in self.hosts(workload)), default=0)
        return self._largest[kind]

    def fits(self, workload: Workload, gpus: str, *, healthy: bool = True) -> bool:
        """Whether such GPUs have places for all its replicas."""
        key = _kind(workload), healthy, workload.gpus, gpus
        if key not in self._slots:
            of = _GPUS[gpus]
            hosts = self.hosts(workload, healthy=healthy)
            self._slots[key] = sum(max(0, of(host)) // workload.gpus for host in hosts)
        return self._slots[key] >= workload.replicas

    def free(self, workload: Workload) -> int:
        """GPUs that are free where it may run."""
        kind = _kind(workload)
        if kind not in self._free:
            self._free[kind] = sum(max(0, host.free) for host in self.hosts(workload, healthy=True))
        return self._free[kind]

    def holder(self, workload: Workload) -> str | None:
        """For whom hosts are reserved where it may run."""
        pools = (host.pool for host in self.hosts(workload, healthy=True))
        return next((pool.reserved for pool in pools if pool is not None and pool.reserved), None)

    def earliest(self, workload: Workload) -> int | None:
        """When so many hosts are free of protected work as the gang needs; None: there are not so many."""
        kind = _kind(workload)
        key = kind, workload.gpus, workload.replicas
        if key not in self._earliest:
            if kind not in self._over:
                healthy = self.hosts(workload, healthy=True)
                self._over[kind] = sorted(
                    (protected_work_over(self.state, host), host.number, host.gpus) for host in healthy
                )
            self._earliest[key] = _reached(self._over[kind], workload)
        return self._earliest[key]

    def ratio(self, budget: Budget) -> Ratio:
        """The budget's, or on a split fleet what its team uses and its quota."""
        if budget.id not in self._ratios:
            if self.state.quotas is None:
                self._ratios[budget.id] = self.state.ratio(budget)
            else:
                self._ratios[budget.id] = self.count.used[budget.id], self.state.quotas.by_team[budget.id].gpus
        return self._ratios[budget.id]

    @cached_property
    def count(self) -> Count:
        """What teams with quotas use."""
        return count(self.state)

    @cached_property
    def leaves_in_turn(self) -> list[str]:
        """The leaves with waiting work, the first to be served first."""
        state = self.state
        if state.quotas is not None:
            return teams_in_turn(state, state.quotas)
        return [leaf.id for leaf in leaves_in_order(state, state.root, lambda budget: budget.waiting_below)]

    def before(self, workload: Workload) -> str | None:
        """Who waits in its leaf just before it."""
        leaf = self.state.leaf_of(workload)
        if leaf.id not in self._turns:
            self._turns[leaf.id] = sorted(turn for turns in leaf.queue.values() for turn in turns)
        turns = self._turns[leaf.id]
        place = bisect_left(turns, workload.turn)
        return turns[place - 1][3] if place else None


def _kind(workload: Workload) -> Kind:
    return workload.model, workload.zone


def _reached(over: list[tuple[int, int, int]], workload: Workload) -> int | None:
    slots = 0
    for at, _, gpus in over:
        slots += gpus // workload.gpus
        if slots >= workload.replicas:
            return at
    return None
