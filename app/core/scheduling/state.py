"""One fleet, its budgets and its workloads at an instant; what holds GPUs is counted where it is changed (FS-14)."""

from dataclasses import dataclass
from heapq import heappop, heappush

from app.core.errors import Invalid
from app.core.scheduling.budgets import Budget, Group, Ratio, Shape
from app.core.scheduling.packing import Host, Pool
from app.core.scheduling.policy import Policy
from app.core.scheduling.quota import Quotas
from app.core.scheduling.usage import Segment, Series
from app.core.scheduling.workload import Evictable, Status, Workload

Timer = tuple[int, str, int]
"""When, for which workload, and its epoch when the timer was set."""


@dataclass(slots=True)
class Reservation:
    """The hosts that a large gang waits for; from `due`, the T of FS-9, it may evict there."""

    workload: str
    leaf: str
    hosts: tuple[str, ...]
    since: int
    due: int


class State:
    """What `schedule` looks at and changes. Whoever keeps it calls events and passes in the order of time."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.quotas: Quotas | None = None
        """None: the fleet is split by budgets."""
        self.now = 0
        self.hosts: dict[str, Host] = {}
        self.host_count = 0
        self.largest_host = 0
        """GPUs of the largest host there is."""
        self.pools: dict[tuple[str, str, str | None], Pool] = {}
        self._all_pools: dict[tuple[str, str], list[Pool]] = {}
        """By the model and zone that are wanted; likewise those that are open to all, and those that are reserved."""
        self._open_pools: dict[tuple[str, str], list[Pool]] = {}
        self._kept_pools: dict[tuple[str, str], list[Pool]] = {}
        self.draining: dict[str, None] = {}
        self.capacity = Series()
        self.root = Budget("", None, 1, 0)
        self.root.claims.append((0, 0, 1, 1))
        self.stray = Budget("(none)", None, 0, 0)
        """Where unfunded work without a budget waits and runs; it is no part of the tree."""
        self.budgets: dict[str, Budget] = {"": self.root}
        self.retired: dict[str, Budget] = {}
        self.limited: dict[str, Budget] = {}
        self.paths: dict[str | None, list[Budget]] = {"": [self.root], None: [self.stray]}
        self.workloads: dict[str, Workload] = {}
        self.shapes: dict[Group, dict[Shape, dict[Budget, None]]] = {}
        """The leaves where each shape waits, alike shapes together."""
        self.reservations: dict[str, Reservation] = {}
        self.holes: dict[str, None] = {}
        self.ledger: list[Segment] = []
        """Segments that have closed; whoever keeps the state takes them away."""
        self.capacity_log: list[tuple[int, int]] = []
        """Likewise each change of C: when, and C from then on."""
        self.touched: dict[str, None] = {}
        """Likewise whose kept facts have changed; who is no workload any more has ended."""
        self.touched_hosts: dict[str, None] = {}
        self.applied = 0
        """The number of the last change of the tree that was applied."""
        self.late: dict[int, int] = {}
        """Changes of the tree that were applied later than they say: by number, when."""
        self.team_log: list[tuple[int, int, str, int | None]] = []
        """When a team got a quota of its own, and of how many GPUs, or lost it; each with `applied` at that time."""
        self.released: dict[str, None] = {}
        """Who was held and waits again since the last pass, as a node took the GPUs away."""
        self.fresh: dict[str, None] = {}
        """Who has begun to wait since the last pass."""
        self.roomier = True
        """Whether GPUs have become free, or unfunded, or limits have, since a pass last looked who could start."""
        self.stirred = False
        """Whether something has happened since that may let those who wait evict funded work."""
        self.reviewed_at = 0
        """When a pass last looked at all of them (FS-15)."""
        self.reserve_at: int | None = None
        """When the next large gang will have waited long enough to reserve."""
        self.commitments: list[Timer] = []
        self.protections: list[Timer] = []
        self.warnings: list[Timer] = []
        self.graces: list[Timer] = []
        self.claims: list[Timer] = []

    # Time

    def advance(self, now: int) -> None:
        """Time is `now`: commitments and protections that ended by then are over."""
        if now < self.now:
            raise Invalid(f"The scheduler is at {self.now} ms and cannot go back to {now} ms.")
        self.now = now
        if self.commitments and self.commitments[0][0] <= now:
            while (workload := self.due(self.commitments)) is not None:
                self.uncommit(workload)
        if not self.protections or self.protections[0][0] > now:
            return
        while (workload := self.due(self.protections)) is not None:
            self.unprotect(workload)
            if workload.status is Status.RUNNING and workload.evictable is Evictable.NO:
                workload.slices += 1
                self.mark(workload, Evictable.EXPIRED)
                self.stirred = True

    def due(self, timers: list[Timer]) -> Workload | None:
        """Take the next workload whose timer is due."""
        while timers and timers[0][0] <= self.now:
            _, name, epoch = heappop(timers)
            workload = self.workloads.get(name)
            if workload is not None and workload.epoch == epoch:
                return workload
        return None

    def next_of(self, timers: list[Timer]) -> int | None:
        """When the next timer that still means something is due."""
        while timers:
            at, name, epoch = timers[0]
            workload = self.workloads.get(name)
            if workload is not None and workload.epoch == epoch:
                return at
            heappop(timers)
        return None

    # What budgets count

    def ratio(self, budget: Budget, more: int = 0) -> Ratio:
        """(U + K) / E of the budget now, with `more` GPU-time in K."""
        if budget.rated_at != self.now:
            budget.rate(self.now, self.policy.window, self.capacity)
        return budget.rated_with(more) if more else budget.rated

    def leaf_of(self, workload: Workload) -> Budget:
        return self.paths[workload.leaf][0]

    def commit(self, workload: Workload, gpus: int, until: int) -> None:
        """K counts so many GPUs of the workload until then (FS-2)."""
        self.uncommit(workload)
        workload.committed_until = until
        if until <= self.now:
            return
        heappush(self.commitments, (until, workload.id, workload.epoch))
        workload.committed_gpus = gpus
        for budget in self.paths[workload.leaf]:
            budget.committed += gpus * until
            budget.committed_gpus += gpus
            budget.rated_at = -1

    def uncommit(self, workload: Workload) -> None:
        self.touched[workload.id] = None
        gpus = workload.committed_gpus
        if gpus:
            for budget in self.paths[workload.leaf]:
                budget.committed -= gpus * workload.committed_until
                budget.committed_gpus -= gpus
                budget.rated_at = -1
        workload.committed_gpus = workload.committed_until = 0

    def protect(self, workload: Workload, gpus: int, until: int) -> None:
        """Limits count so many GPUs of the workload as reserved until then (FS-3)."""
        self.unprotect(workload)
        workload.protected_until = until
        if until <= self.now:
            return
        workload.protected_gpus = gpus
        for budget in self.paths[workload.leaf]:
            budget.protected += gpus * until
            budget.protected_gpus += gpus
        heappush(self.protections, (until, workload.id, workload.epoch))

    def unprotect(self, workload: Workload) -> None:
        self.touched[workload.id] = None
        gpus = workload.protected_gpus
        if gpus:
            for budget in self.paths[workload.leaf]:
                budget.protected -= gpus * workload.protected_until
                budget.protected_gpus -= gpus
            workload.protected_gpus = 0
            if self.limited and workload.protected_until > self.now:
                self.roomier = True  # what was reserved of a limit is left for others

    def charge(self, workload: Workload, gpus: int, *, funded: bool) -> None:
        """The workload holds so many GPUs from now on: its segment ends and another begins (FS-14)."""
        self.touched[workload.id] = None
        held, now = workload.segment_gpus, self.now
        if held and now > workload.segment_at:
            was = workload.segment_funded
            segment = Segment(workload.leaf, workload.id, workload.attempt, held, workload.segment_at, now, was)
            self.ledger.append(segment)
        change = (gpus if funded else 0) - (held if workload.segment_funded else 0)
        if change:
            for budget in self.paths[workload.leaf]:
                budget.charge(now, change)
        workload.segment_at, workload.segment_gpus, workload.segment_funded = now, gpus, funded

    def mark(self, workload: Workload, kind: Evictable) -> None:
        """The workload may be a victim as that from now on."""
        if workload.evictable is not kind:
            self._count_evictable(workload, -1)
            workload.evictable = kind
            self._count_evictable(workload, 1)

    def _count_evictable(self, workload: Workload, sign: int) -> None:
        kind = workload.evictable
        if kind is Evictable.NO:
            return
        unfunded = kind is Evictable.UNFUNDED
        path = self.paths[workload.leaf]
        held = path[0].unfunded if unfunded else path[0].expired
        if sign > 0:
            held[workload.id] = None
        else:
            del held[workload.id]
        for budget in path:
            if unfunded:
                budget.unfunded_below += sign
            else:
                budget.expired_below += sign
        leaf = path[0]
        for name, count in workload.places.items():
            gpus = sign * count * workload.gpus
            if unfunded:
                leaf.unfunded_gpus += gpus
                self.turn_over(self.hosts[name], 0, gpus, 0)
            else:
                leaf.expired_gpus += gpus
                self.turn_over(self.hosts[name], 0, 0, gpus)

    # What hosts count

    def turn_over(self, host: Host, free: int, unfunded: int = 0, expired: int = 0, leaving: int = 0) -> None:
        """So many more of the host's GPUs are free, unfunded, expired, about to be left."""
        if host.pool is not None:
            host.pool.change(host, free, unfunded, expired, leaving)
            if free > 0 and host.room + host.unfunded > 0:
                self.roomier = True
            return
        host.free += free
        host.unfunded += unfunded
        host.expired += expired
        host.leaving += leaving

    def change_capacity(self, gpus: int) -> None:
        """C is so many GPUs more from now on (FS-2)."""
        begins = self.capacity.born is None
        if gpus or not begins:
            self.capacity.add(self.now, gpus)
        if gpus:
            if self.capacity_log and self.capacity_log[-1][0] == self.now:
                self.capacity_log.pop()
            self.capacity_log.append((self.now, self.capacity.slope))
        for budget in self.budgets.values():
            budget.forget_cache()

    def pool(self, host: Host, reserved: str | None) -> None:
        """The host takes work again, or for that reservation alone."""
        self.unpool(host)
        self.roomier = True
        key = (host.model, host.zone, reserved)
        if key not in self.pools:
            self.pools[key] = Pool(*key)
            self._all_pools.clear()
        self.pools[key].put(host)

    def unpool(self, host: Host) -> None:
        """The host takes no work."""
        pool = host.pool
        if pool is not None:
            pool.take(host)
            if not pool.hosts:
                del self.pools[pool.model, pool.zone, pool.reserved]
                self._all_pools.clear()

    def pools_for(self, shape: Shape, until: int, holder: str | None = None) -> list[Pool]:
        """Where such a workload may start, if its protection then ends at `until`: hosts that nobody reserved first.

        A reserved host takes its holder, unfunded work, and what is over by T (FS-9).
        """
        funded, _, _, model, zone, _ = shape
        every = self.all_pools(model, zone)
        kept = self._kept_pools[model, zone]
        if not kept:
            return every
        found = self._open_pools[model, zone].copy()
        for pool in kept:
            name = pool.reserved or ""
            if not funded or name == holder or until <= self.reservations[name].due:
                found.append(pool)
        return found

    def all_pools(self, model: str, zone: str) -> list[Pool]:
        """Those of the model and zone, any if they are empty: first what nobody reserved."""
        found = self._all_pools.get((model, zone))
        if found is None:
            fitting = [pool for key, pool in self.pools.items() if model in ("", key[0]) and zone in ("", key[1])]
            opened = self._open_pools[model, zone] = [pool for pool in fitting if pool.reserved is None][::-1]
            kept = self._kept_pools[model, zone] = [pool for pool in fitting if pool.reserved is not None]
            found = self._all_pools[model, zone] = opened + kept
        return found
