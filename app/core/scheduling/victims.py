"""Whom a funded gang may evict, in which order, and the fewest of them that make room (FS-7, FS-8)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise

from app.core.scheduling.budgets import Budget, is_ahead_by
from app.core.scheduling.decisions import Standing
from app.core.scheduling.packing import Host, Pool, fit
from app.core.scheduling.queueing import in_order, leaves_from_the_top
from app.core.scheduling.quotas import borrowers, count
from app.core.scheduling.state import State
from app.core.scheduling.workload import Workload

Choice = tuple[list[Workload], dict[str, int]]
"""The victims, and where the gang is then."""


def more(state: State, workload: Workload) -> int:
    """What K grows by when the gang starts."""
    return workload.gpus * workload.replicas * max(workload.min_runtime, state.policy.least_commitment)


Reach = Callable[[Host], bool]
"""Whether a replica of the gang may find room on the host, if all leave who may."""


def unfunded(state: State, reach: Reach) -> Iterator[Workload]:
    """The unfunded work within reach, that without a budget first, then the leaves from the highest ratio down."""
    if state.stray.unfunded:
        yield from cheapest(state, state.stray.unfunded, reach)
    if state.quotas is not None:
        yield from borrowers(state, count(state))
        return
    if state.root.unfunded_below:
        for leaf in leaves_from_the_top(state, state.root, _unfunded_below):
            yield from cheapest(state, leaf.unfunded, reach)


def funded(state: State, workload: Workload) -> list[tuple[Budget, list[str]]]:
    """The expired work that yields to the workload, by leaf, from the highest ratio down (FS-8)."""
    path = state.paths[workload.leaf]
    extra = more(state, workload)
    if not state.ratio(path[0], extra)[1]:
        return []  # no claim: FS-2
    found: list[tuple[Budget, list[str]]] = []
    for leaf in _yielding(state, path, len(path) - 1, extra):
        if leaf is not path[0]:
            found.append((leaf, list(leaf.expired)))
        elif state.policy.yields_in_leaf:
            names = [name for name in leaf.expired if yields(state.workloads[name], workload)]
            if names:
                found.append((leaf, names))
    return found


def yields(victim: Workload, workload: Workload) -> bool:
    """Whether one yields to the other within their leaf, once its protection is over (FS-8)."""
    if victim.priority != workload.priority:
        return victim.priority < workload.priority
    return victim.slices > workload.slices


def _yielding(state: State, path: list[Budget], depth: int, extra: int) -> Iterator[Budget]:
    """Leaves below `path[depth]`, from the highest ratio down, that are far enough ahead of the path."""
    if not depth:
        yield path[0]
        return
    mine = path[depth - 1]
    ratio, margin = state.ratio(mine, extra), state.policy.margin
    able = [
        child
        for child in path[depth].children.values()
        if child.expired_below and (child is mine or is_ahead_by(margin, ratio, state.ratio(child)))
    ]
    for child in reversed(in_order(state, able)):
        if child is mine:
            yield from _yielding(state, path, depth - 1, extra)
        else:
            yield from leaves_from_the_top(state, child, _expired_below)


def any_yields(state: State, workload: Workload) -> bool:
    """Whether anything funded yields to the workload, be it enough or not (FS-8)."""
    path, extra = state.paths[workload.leaf], more(state, workload)
    leaf, margin = path[0], state.policy.margin
    if not state.ratio(leaf)[1]:
        return False
    if leaf.expired and state.policy.yields_in_leaf:
        workloads = state.workloads
        if any(yields(workloads[name], workload) for name in leaf.expired):
            return True
    for mine, parent in pairwise(path):
        if parent.expired_below > mine.expired_below:
            ratio = state.ratio(mine, extra)
            for child in parent.children.values():
                if child.expired_below and child is not mine and is_ahead_by(margin, ratio, state.ratio(child)):
                    return True
    return False


def may_evict(state: State, leaf: Budget) -> bool:
    """Whether anything funded could yield to the smallest gang of the leaf."""
    path = state.paths[leaf.id]
    if state.policy.yields_in_leaf and leaf.expired:
        return True
    for mine, parent in pairwise(path):
        if parent.expired_below == mine.expired_below:
            continue
        ratio = state.ratio(mine)
        for child in parent.children.values():
            if (
                child is not mine
                and child.expired_below
                and is_ahead_by(state.policy.margin, ratio, state.ratio(child))
            ):
                return True
    return False


def anywhere(_: Host) -> bool:
    """Every host is within reach."""
    return True


def after_unfunded(gpus: int, pools: list[Pool]) -> Reach:
    """Hosts with room for so many GPUs once all unfunded work has left; nobody on another helps."""
    return lambda host: host.room + host.unfunded >= gpus and host.pool in pools


def after_expired(gpus: int, pools: list[Pool]) -> Reach:
    """Likewise once all expired work has left, too."""
    return lambda host: host.room + host.unfunded + host.expired >= gpus and host.pool in pools


def cheapest(state: State, names: Iterable[str], reach: Reach) -> list[Workload]:
    """Who loses the least since a checkpoint comes first (FS-7), of those that are on a host within reach."""
    now, hosts = state.now, state.hosts
    workloads = []
    for name in names:
        workload = state.workloads[name]
        for place in workload.places:
            if reach(hosts[place]):
                workloads.append(workload)
                break
    workloads.sort(key=lambda workload: (workload.lost(now), workload.id))
    return workloads


def _expired_below(budget: Budget) -> int:
    return budget.expired_below


def _unfunded_below(budget: Budget) -> int:
    return budget.unfunded_below


def for_gang(state: State, workload: Workload, replicas: int, pools: list[Pool], *, fair_share: bool) -> Choice | None:
    """The victims for so many replicas of the gang: unfunded ones if they suffice, else by fair share, too."""
    gpus = workload.gpus
    if sum([pool.room_after_unfunded(gpus) for pool in pools]) >= replicas:
        return choose(state, gpus, replicas, pools, unfunded(state, after_unfunded(gpus, pools)))
    if not fair_share or sum([pool.room_after_expired(gpus) for pool in pools]) < replicas:
        return None
    yielding = funded(state, workload)
    if not _may_suffice(state, yielding, gpus * replicas, pools):
        return None
    reach = after_expired(gpus, pools)
    expired = (victim for _, names in yielding for victim in cheapest(state, names, reach) if victim is not workload)
    return choose(state, gpus, replicas, pools, chain(unfunded(state, reach), expired))


def _may_suffice(state: State, yielding: list[tuple[Budget, list[str]]], wanted: int, pools: list[Pool]) -> bool:
    """Whether there are as many GPUs as wanted at all, wherever they are."""
    if not yielding:
        return False
    found = sum([pool.free for pool in pools]) + state.stray.unfunded_gpus
    for leaf in state.root.leaves:
        if found >= wanted:
            return True
        found += leaf.unfunded_gpus
    workloads = state.workloads
    for leaf, names in yielding:
        if len(names) == len(leaf.expired):
            found += leaf.expired_gpus
        else:
            found += sum([workloads[name].segment_gpus for name in names])
    return found >= wanted


def choose(state: State, gpus: int, replicas: int, pools: list[Pool], candidates: Iterable[Workload]) -> Choice | None:
    """The first candidates that make room, less those that it does without: none of the rest is dispensable (FS-7)."""
    short = replicas - sum(pool.room(gpus) for pool in pools)
    gain: dict[str, int] = {}
    chosen: list[Workload] = []
    for victim in candidates:
        made = _change(state, victim, gain, gpus, pools, 1)
        if made is not None:
            chosen.append(victim)
            short -= made
        if short <= 0:
            break
    else:
        return None
    for victim in reversed(chosen[:-1]):
        lost = -(_change(state, victim, gain, gpus, pools, -1) or 0)
        if short + lost <= 0:
            chosen.remove(victim)
            short += lost
        else:
            _change(state, victim, gain, gpus, pools, 1)
    return chosen, _places(state, gpus, replicas, pools, gain)


def _change(
    state: State, victim: Workload, gain: dict[str, int], gpus: int, pools: list[Pool], sign: int
) -> int | None:
    """How many more replicas fit when the victim leaves (or stays after all); None: it is on none of these hosts."""
    made: int | None = None
    for name, replicas in victim.places.items():
        host = state.hosts[name]
        if host.pool not in pools:
            continue
        before = gain.get(name, 0)
        after = gain[name] = before + sign * replicas * victim.gpus
        made = (made or 0) + max(0, host.room + after) // gpus - max(0, host.room + before) // gpus
    return made


def _places(state: State, gpus: int, replicas: int, pools: list[Pool], gain: dict[str, int]) -> dict[str, int]:
    """Where the victims leave first, and what is free besides."""
    found: dict[str, int] = {}
    hosts = [state.hosts[name] for name, gained in gain.items() if gained]
    for host in sorted(hosts, key=lambda host: (host.room + gain[host.id], host.number)):
        several = min(replicas, max(0, host.room + gain[host.id]) // gpus)
        if several:
            found[host.id] = several
            replicas -= several
    if replicas:
        found.update(fit(pools, gpus, replicas, {host.id for host in hosts}) or {})
    return found


def standing(state: State, workload: Workload, victim: Workload) -> Standing | None:
    """How the two stand below their lowest common ancestor; None when it is their leaf, or the victim has none."""
    if victim.leaf is None or victim.leaf == workload.leaf or not victim.funded:
        return None
    mine, theirs = state.paths[workload.leaf], state.paths[victim.leaf]
    depth = 1
    while mine[-depth] is theirs[-depth]:
        depth += 1
    one, other = mine[-depth], theirs[-depth]
    return Standing(one.id, state.ratio(one, more(state, workload)), other.id, state.ratio(other))
