"""Who waits and can start: on free GPUs, or where others have to leave (FS-3, FS-6 to FS-10)."""

from app.core.scheduling.applying import apply
from app.core.scheduling.budgets import Budget
from app.core.scheduling.decisions import Admit, Code, Decision, Move, Places, Preempt, Unreserve
from app.core.scheduling.gate import Gate
from app.core.scheduling.packing import Pool, fit
from app.core.scheduling.queueing import Line
from app.core.scheduling.quotas import may_move
from app.core.scheduling.state import State
from app.core.scheduling.victims import Choice, any_yields, for_gang, standing
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
        fresh = state.fresh
        if fresh:
            state.fresh = {}
        new = {state.workloads[name].shape for name in fresh if name in state.workloads}
        gate = Gate(state, fresh, review=review)
        if gate.opens(None if every or review else new, funded=True):
            _start(state, made, state.root, gate)
        if (every or not all(shape[0] for shape in new)) and any(pool.free for pool in state.pools.values()):
            gate = Gate(state, {}, review=False)
            for root in (state.root, state.stray):
                if root.waiting_below and gate.opens(None if every else new, funded=False):
                    _start(state, made, root, gate)
        review = False


def begin_review(state: State) -> bool:
    """Whether this pass looks at all who wait for whom they may evict by fair share, not only at new ones (FS-15)."""
    if not state.stirred and state.now < state.reviewed_at + state.policy.tick:
        return False
    state.reviewed_at, state.stirred = state.now, False
    return True


def _start(state: State, made: list[Decision], root: Budget, gate: Gate) -> None:
    line = Line(state, root, gate.shapes(root))
    while (workload := line.first()) is not None:
        fair_share = workload.wants_funds and gate.is_worth_a_look(workload)
        has_room = gate.has_room(workload.shape)
        if has_room or (fair_share and any_yields(state, workload)):
            if try_start(state, made, workload, fair_share=fair_share):
                line.started(workload)
                continue
        elif not workload.wants_funds:
            line.nobody(workload.shape)
            continue
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
    if sum([pool.room(gpus) for pool in pools]) >= replicas and (places := fit(pools, gpus, replicas)) is not None:
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
