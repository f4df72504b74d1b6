"""Who waits and can start: on free GPUs, or where others have to leave (FS-3, FS-6 to FS-10)."""

from collections.abc import Iterable

from app.core.scheduling.applying import apply
from app.core.scheduling.budgets import Budget, Shape
from app.core.scheduling.decisions import Admit, Code, Decision, Move, Places, Preempt, Unreserve
from app.core.scheduling.packing import Pool, fit
from app.core.scheduling.queueing import Line
from app.core.scheduling.quotas import may_move
from app.core.scheduling.state import State
from app.core.scheduling.victims import Choice, for_gang, may_evict, standing
from app.core.scheduling.workload import Status, Workload


def as_places(places: dict[str, int]) -> Places:
    """The places as a value, in the order of hosts' names."""
    return tuple(sorted(places.items()))


def do(state: State, made: list[Decision], decision: Decision) -> None:
    """The decision is made and done."""
    apply(state, decision)
    made.append(decision)


def start_those_who_wait(state: State, made: list[Decision], *, review: bool) -> None:
    """Funded work in turn, then unfunded work on what is left free; what a start leaves over is offered again."""
    while state.roomier or state.fresh or review:
        every, state.roomier = state.roomier, False
        fresh, state.fresh = state.fresh, {}
        shapes = {state.workloads[name].shape for name in fresh if name in state.workloads}
        gate = _Gate(state, review, fresh, shapes)
        funded = [shape for shape in (state.shapes if every or review else shapes) if shape[0]]
        _start(state, made, state.root, gate, funded)
        for root in (state.root, state.stray):
            if root.waiting_below:
                unfunded = [shape for shape in (state.shapes if every else shapes) if not shape[0]]
                _start(state, made, root, _Gate(state, False, {}, set()), unfunded)
        review = False


def begin_review(state: State) -> bool:
    """Whether this pass looks at all who wait for whom they may evict by fair share, not only at new ones (FS-15)."""
    if not state.stirred and state.now < state.reviewed_at + state.policy.tick:
        return False
    state.reviewed_at, state.stirred = state.now, False
    return True


class _Gate:
    """Which shapes of a leaf are worth a try: counted, without a look at any host."""

    def __init__(self, state: State, review: bool, fresh: dict[str, None], fresh_shapes: set[Shape]) -> None:
        self.state = state
        self.review = review
        self.fresh = fresh
        self.fresh_shapes = fresh_shapes
        self._evicting: dict[str, bool] = {}
        self._failed: dict[str | None, list[tuple[int, int, int]]] = {}
        self._open: dict[Shape, bool] = {}
        """Whether there is room without anybody funded who leaves."""
        self._pools: dict[tuple[bool, str, str, int], list[Pool]] = {}

    def open(self, shapes: Iterable[Shape]) -> bool:
        """Look at these; whether any is worth a try."""
        for shape in shapes:
            self._look(shape)
        return bool(self._open)

    def _look(self, shape: Shape) -> None:
        funded, gpus, replicas, _, _, _ = shape
        if self.has_room(shape):
            self._open[shape] = True
        elif funded and (self.review or shape in self.fresh_shapes):
            pools = self._pools_for(shape)
            if sum([pool.room_after_expired(gpus) for pool in pools]) >= replicas:
                self._open[shape] = False

    def _pools_for(self, shape: Shape) -> list[Pool]:
        state = self.state
        for name in state.reservations:
            if state.workloads[name].shape == shape:
                return state.pools_for(shape, state.now + shape[5], name)
        key = (shape[0], shape[3], shape[4], shape[5] if state.reservations else 0)
        if key not in self._pools:
            self._pools[key] = state.pools_for(shape, state.now + shape[5])
        return self._pools[key]

    def shapes(self, leaf: Budget) -> list[Shape]:
        """Those of the leaf that are worth a try."""
        queue = leaf.queue
        return [
            shape
            for shape, has_room in self._open.items()
            if shape in queue and (has_room or self.may_evict(leaf, queue[shape][0][3]))
        ]

    def has_room(self, shape: Shape) -> bool:
        """Whether such work fits on free GPUs and, if it is funded, on those of unfunded work."""
        pools, gpus = self._pools_for(shape), shape[1]
        if shape[0]:
            return sum([pool.room_after_unfunded(gpus) for pool in pools]) >= shape[2]
        return sum([pool.room(gpus) for pool in pools]) >= shape[2]

    def failed(self, workload: Workload) -> None:
        """Nobody yields to it: nor to what is behind it in its leaf and asks for no less."""
        self._failed.setdefault(workload.leaf, []).append((workload.gpus, workload.replicas, workload.min_runtime))

    def is_worth_a_look(self, workload: Workload) -> bool:
        """Whether the workload may evict by fair share, and nothing smaller of its leaf has failed to."""
        gpus, replicas, minimum = workload.gpus, workload.replicas, workload.min_runtime
        for one, several, shortest in self._failed.get(workload.leaf, ()):
            if one <= gpus and several <= replicas and shortest <= minimum:
                return False
        return self.may_evict(self.state.leaf_of(workload), workload.id)

    def may_evict(self, leaf: Budget, name: str) -> bool:
        """Whether the workload is to be looked at, and could evict anybody, by fair share."""
        if not self.review and name not in self.fresh:
            return False
        if leaf.id not in self._evicting:
            self._evicting[leaf.id] = may_evict(self.state, leaf)
        return self._evicting[leaf.id]


def _start(state: State, made: list[Decision], root: Budget, gate: _Gate, shapes: list[Shape]) -> None:
    if not gate.open(shapes):
        return
    line = Line(state, root, gate.shapes)
    while (workload := line.first()) is not None:
        fair_share = workload.wants_funds and gate.is_worth_a_look(workload)
        if not fair_share and not gate.has_room(workload.shape):
            if workload.wants_funds:
                line.blocked(workload)
            else:
                line.nobody(workload.shape)
        elif try_start(state, made, workload, fair_share=fair_share):
            line.started(workload)
        else:
            line.blocked(workload)
            if fair_share:
                gate.failed(workload)


def can_pay(state: State, workload: Workload) -> Budget | None:
    """The first budget on the path that cannot pay for the minimum runtime; None: all can (FS-3)."""
    if workload.wants_funds and state.limited:
        price = workload.gpus * workload.replicas * workload.min_runtime
        for budget in state.paths[workload.leaf]:
            if any(limit.left(budget, state.now) < price for limit in budget.limits):
                return budget
    return None


def try_start(state: State, made: list[Decision], workload: Workload, *, fair_share: bool) -> bool:
    """Bind the gang, or evict for it, if that is possible now."""
    if can_pay(state, workload) is not None:
        return False
    now, gpus, replicas = state.now, workload.gpus, workload.replicas
    pools = state.pools_for(workload.shape, now + workload.min_runtime, workload.id)
    if sum([pool.room(gpus) for pool in pools]) >= replicas:
        places = fit(pools, gpus, replicas) or {}
        admit(state, made, workload, places, Code.FREE)
        return True
    if not workload.wants_funds:
        return False
    until = now + state.policy.funded_grace + workload.min_runtime
    pools = state.pools_for(workload.shape, until, workload.id)
    choice = for_gang(state, workload, replicas, pools, fair_share=fair_share)
    if choice is None:
        return False
    evict_for(state, made, workload, choice)
    return True


def admit(state: State, made: list[Decision], workload: Workload, places: dict[str, int], code: Code) -> None:
    """The gang starts now, protected if it is funded."""
    now = state.now
    funded = workload.wants_funds or (state.quotas is not None and workload.status is Status.HELD)
    until = now + workload.min_runtime if funded else now
    do(state, made, Admit(now, workload.id, as_places(places), funded, until, code))
    if workload.id in state.reservations:
        do(state, made, Unreserve(now, workload.id, Code.STARTED))


def grace_ends(state: State, victim: Workload) -> int:
    policy = state.policy
    return state.now + (policy.funded_grace if victim.funded else policy.unfunded_grace)


def evict_for(state: State, made: list[Decision], workload: Workload, choice: Choice, code: Code | None = None) -> None:
    """The victims get their grace, the gang what they leave; who fits elsewhere is moved (FS-7, FS-10)."""
    victims, places = choice
    ends = tuple((victim.id, grace_ends(state, victim)) for victim in victims)
    due = max(end for _, end in ends)
    worst = next((victim for victim in victims if victim.funded), None)
    if code is None:
        code = Code.UNFUNDED_YIELDS if worst is None else Code.FAIR_SHARE
    where = standing(state, workload, worst) if worst is not None else None
    do(state, made, Preempt(state.now, workload.id, ends, as_places(places), due, code, where))
    for victim in victims:
        move(state, made, victim, Code.DEFRAGMENTED)


def move(state: State, made: list[Decision], victim: Workload, code: Code) -> None:
    """Give the evicted gang another place, if there is one and it has not been moved of late (FS-10)."""
    now = state.now
    if victim.moved_at is not None and now < victim.moved_at + state.policy.move_interval:
        return
    pools = [pool for pool in state.pools_for(victim.shape, now, None) if _may_move_to(pool)]
    if sum(pool.room(victim.gpus) for pool in pools) < victim.replicas or not may_move(state, victim):
        return
    places = fit(pools, victim.gpus, victim.replicas)
    if places is not None:
        do(state, made, Move(now, victim.id, as_places(places), victim.leaves_at, code))


def _may_move_to(pool: Pool) -> bool:
    """A reservation's hosts are not filled with work that was there before it (FS-9)."""
    return pool.reserved is None
