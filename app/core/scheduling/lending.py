"""Who waits on a fleet with compute quotas and can start: within its team's quota, or on what others lend (FS-17)."""

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import chain

from app.core.scheduling.admission import as_places, do, grace_ends, move
from app.core.scheduling.budgets import Budget, Shape, Turn
from app.core.scheduling.decisions import Admit, Code, Decision, Fund, Preempt, Unfund
from app.core.scheduling.packing import Pool, fit
from app.core.scheduling.queueing import oldest
from app.core.scheduling.quota import Quotas
from app.core.scheduling.quotas import Count, borrowers, first_to_go, holders, misjudged, set_claims, size
from app.core.scheduling.state import State
from app.core.scheduling.victims import anywhere, cheapest, yields
from app.core.scheduling.workload import Workload

Rank = tuple[object, ...]


def serve_quotas(state: State, made: list[Decision], quotas: Quotas) -> None:
    """What runs is judged anew, then work starts within quotas, then on what is lent, then that without a team."""
    set_claims(state)
    started = True
    while started:
        holding = holders(state)
        _judge(state, made, quotas, holding)
        serving = _Serving(state, made, Count(state, quotas, holding))
        within = serving.all_who_can(serving.rank_within, serving.start_within)
        beyond = serving.all_who_can(serving.rank_beyond, serving.start_beyond)
        stray = serving.all_who_can(lambda workload: workload.turn, serving.start_stray, [state.stray])
        started = within or beyond or stray
    state.roomier = state.stirred = False
    state.fresh = {}


def _judge(state: State, made: list[Decision], quotas: Quotas, holding: list[Workload]) -> None:
    """What a team runs beyond its quota is borrowed, what it runs within is not."""
    for workload in misjudged(state, quotas, holding):
        if workload.funded:
            do(state, made, Unfund(state.now, workload.id, workload.leaf or "", Code.OVER_QUOTA))
        else:
            do(state, made, Fund(state.now, workload.id, Code.WITHIN_QUOTA))


class _Heads:
    """Of each shape that waits in a leaf the next in turn; one that cannot start stands for all behind it."""

    def __init__(self, leaf: Budget) -> None:
        self.leaf = leaf
        self.heap: list[tuple[Turn, Shape]] = [(turns[0], shape) for shape, turns in leaf.queue.items()]
        heapify(self.heap)

    def take(self, state: State) -> Workload:
        return state.workloads[self.heap[0][0][3]]

    def started(self) -> None:
        _, shape = heappop(self.heap)
        if turns := self.leaf.queue.get(shape):
            heappush(self.heap, (turns[0], shape))


class _Serving:
    """One round over all who wait."""

    def __init__(self, state: State, made: list[Decision], count: Count) -> None:
        self.state = state
        self.made = made
        self.count = count
        self.quotas = count.quotas

    def all_who_can(
        self, rank: Callable[[Workload], Rank], start: Callable[[Workload], bool], leaves: list[Budget] | None = None
    ) -> bool:
        """Try the lowest rank first, each shape of a leaf until one of it cannot start; whether anybody started."""
        lines = [_Heads(leaf) for leaf in (leaves or self.state.root.leaves) if leaf.queue]
        ranks = [rank(line.take(self.state)) for line in lines]
        any_started = False
        while lines:
            at = ranks.index(min(ranks))
            line = lines[at]
            if start(line.take(self.state)):
                line.started()
                any_started = True
            else:
                heappop(line.heap)
                if line.heap:
                    ranks[at] = rank(line.take(self.state))  # nobody else's has changed
                    continue
            if not line.heap:
                del lines[at], ranks[at]
            if any_started:
                ranks = [rank(line.take(self.state)) for line in lines]
        return any_started

    def rank_within(self, workload: Workload) -> Rank:
        """By what waits longest below, so that a priority moves no other team; by priority without fair share."""
        if not self.quotas.fair_share:
            return -workload.priority, workload.submit, workload.id
        return oldest(self.state, self.state.leaf_of(workload)), workload.leaf

    def rank_beyond(self, workload: Workload) -> Rank:
        """By what its team would borrow with it, by weight."""
        if not self.quotas.fair_share:
            return self.rank_within(workload)
        return *self.count.share(workload.leaf or "", size(workload)), *self.rank_within(workload)

    def start_within(self, workload: Workload) -> bool:
        team, gpus = workload.leaf or "", size(workload)
        if self.count.over(team, gpus):
            return False
        if not self.count.lacking(team, gpus) and self._start(workload, funded=True, code=Code.WITHIN_QUOTA):
            return True
        return self._evict(workload)

    def start_beyond(self, workload: Workload) -> bool:
        """On what is lent, or where work of its own team yields to it."""
        team, gpus = workload.leaf or "", size(workload)
        if not self.count.over(team, gpus):
            return False
        if self.count.refusal(team, gpus) is None and self._start(workload, funded=False, code=Code.BORROWED):
            return True
        return self._evict(workload)

    def start_stray(self, workload: Workload) -> bool:
        return self.count.is_free(None, size(workload)) and self._start(workload, funded=False, code=Code.FREE)

    def _pools(self, workload: Workload) -> list[Pool]:
        return self.state.pools_for(workload.shape, self.state.now + workload.min_runtime)

    def _start(self, workload: Workload, *, funded: bool, code: Code) -> bool:
        pools = self._pools(workload)
        if sum([pool.room(workload.gpus) for pool in pools]) < workload.replicas:
            return False
        places = fit(pools, workload.gpus, workload.replicas)
        if places is None:
            return False
        now = self.state.now
        until = now + workload.min_runtime if funded else now
        do(self.state, self.made, Admit(now, workload.id, as_places(places), funded, until, code))
        self.count.start(workload)
        return True

    def _evict(self, workload: Workload) -> bool:
        """Who borrows leaves for it, and so does work of its own team that yields and is in its way."""
        state, team = self.state, workload.leaf or ""
        over = self.count.over(team, size(workload))
        own = self._own(workload) if self.quotas.by_team[team].preempts else []
        if sum(size(victim) for victim in own) < over:
            return False
        needed = 0
        while sum(size(victim) for victim in own[:needed]) < over:
            needed += 1
        unfunded = chain(cheapest(state, state.stray.unfunded, anywhere), borrowers(state, self.count.copy()))
        others = (victim for victim in unfunded if victim.leaf != team)
        room = _Room(state, workload, self._pools(workload), over, self.count.lacking(team, size(workload)))
        victims = room.fewest(chain(own[:needed], others, own[needed:]))
        if victims is None:
            return False
        self._commit(workload, victims, room.places())
        return True

    def _own(self, workload: Workload) -> list[Workload]:
        leaf = self.state.leaf_of(workload)
        workloads = self.state.workloads
        own = [name for name in chain(leaf.unfunded, leaf.expired) if yields(workloads[name], workload)]
        return first_to_go(self.state, own)

    def _commit(self, workload: Workload, victims: list[Workload], places: dict[str, int]) -> None:
        state = self.state
        ends = tuple((victim.id, grace_ends(state, victim)) for victim in victims)
        due = max(end for _, end in ends)
        own = any(victim.leaf == workload.leaf for victim in victims)
        code = Code.LOWER_PRIORITY if own else Code.QUOTA_RECLAIMED
        do(state, self.made, Preempt(state.now, workload.id, ends, as_places(places), due, code))
        self.count.start(workload)
        for victim in victims:
            self.count.stop(victim)
        for victim in victims:
            move(state, self.made, victim, Code.DEFRAGMENTED)
            if victim.claim:
                self.count.start(victim)


def teams_in_turn(state: State, quotas: Quotas) -> list[str]:
    """The teams with waiting work: those with quota left for the next of it first."""
    serving = _Serving(state, [], Count(state, quotas, holders(state)))
    ranked: list[tuple[Rank, str]] = []
    for leaf in state.root.leaves:
        if leaf.queue:
            workload = _Heads(leaf).take(state)
            beyond = serving.count.over(leaf.id, size(workload)) > 0
            rank = serving.rank_beyond(workload) if beyond else serving.rank_within(workload)
            ranked.append(((beyond, *rank), leaf.id))
    return [name for _, name in sorted(ranked)]


class _Room:
    """Whether enough have left: for the gang to fit, for its team's quota, and for what others hold back."""

    def __init__(self, state: State, workload: Workload, pools: list[Pool], over: int, lacking: int) -> None:
        self.state = state
        self.workload = workload
        self.pools = pools
        self.gain: dict[str, int] = {}
        """GPUs that leave, by host."""
        self.replicas = workload.replicas - sum(pool.room(workload.gpus) for pool in pools)
        """How many have no place yet."""
        self.over = over
        self.lacking = lacking

    def fewest(self, candidates: Iterable[Workload]) -> list[Workload] | None:
        """The first that make room, less those that it does without (FS-7)."""
        chosen = self._first(iter(candidates))
        if chosen is None:
            return None
        for victim in reversed(chosen[:-1]):
            self._take(victim, -1)
            if self._is_enough():
                chosen.remove(victim)
            else:
                self._take(victim, 1)
        return chosen

    def _first(self, candidates: Iterator[Workload]) -> list[Workload] | None:
        chosen: list[Workload] = []
        while not self._is_enough():
            victim = next(candidates, None)
            if victim is None:
                return None
            self._take(victim, 1)
            chosen.append(victim)
        return chosen

    def _is_enough(self) -> bool:
        return self.replicas <= 0 and self.over <= 0 and self.lacking <= 0

    def _take(self, victim: Workload, sign: int) -> None:
        """The victim leaves, or stays after all."""
        self.lacking -= sign * size(victim)
        if victim.leaf == self.workload.leaf:
            self.over -= sign * size(victim)
        for name, count in victim.places.items():
            if self.state.hosts[name].pool in self.pools:
                before = self._replicas_on(name)
                self.gain[name] = self.gain.get(name, 0) + sign * count * victim.gpus
                self.replicas -= self._replicas_on(name) - before

    def _replicas_on(self, name: str) -> int:
        return max(0, self.state.hosts[name].room + self.gain.get(name, 0)) // self.workload.gpus

    def places(self) -> dict[str, int]:
        """Where the victims leave, the fullest host first, and what is free besides."""
        found: dict[str, int] = {}
        left, hosts = self.workload.replicas, self.state.hosts
        names = [name for name, gained in self.gain.items() if gained]
        for name in sorted(names, key=lambda name: (self._replicas_on(name), hosts[name].number)):
            count = min(left, self._replicas_on(name))
            if count:
                found[name] = count
                left -= count
        if left:
            found.update(fit(self.pools, self.workload.gpus, left, names) or {})
        return found
