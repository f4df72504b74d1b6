"""Who waits in which leaf, and whose turn it is between leaves and within one (FS-2)."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cmp_to_key, partial
from heapq import heapify, heappop, heappush
from itertools import pairwise

from app.core.scheduling.budgets import Budget, Group, Ratio, Shape, Turn, is_less
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload

_SPARE = 64
"""So many entries of those that wait no more a leaf may have besides those of as many as wait."""


def enqueue(state: State, workload: Workload) -> None:
    """The workload waits from now on."""
    path = state.paths[workload.leaf]
    leaf, shape = path[0], workload.shape
    waiting = leaf.queue.get(shape)
    if waiting is None:
        leaf.queue[shape] = [workload.turn]
        state.shapes.setdefault(_group(shape), {}).setdefault(shape, {})[leaf] = None
    else:
        insort(waiting, workload.turn)
    heappush(leaf.oldest, (workload.submit, workload.id))
    if len(leaf.oldest) > 2 * leaf.waiting_below + _SPARE:
        leaf.oldest = sorted({entry for entry in leaf.oldest if entry[1] == workload.id or _waits(state, *entry)})
    for budget in path:
        budget.waiting_below += 1
    workload.status = Status.WAITING
    state.touched[workload.id] = None
    state.fresh[workload.id] = None
    if workload.wants_funds and workload.gpus * workload.replicas > state.largest_host:
        at = workload.queued_at + state.policy.reservation_wait
        state.reserve_at = at if state.reserve_at is None else min(state.reserve_at, at)


def _group(shape: Shape) -> Group:
    funded, gpus, _, model, zone, _ = shape
    return funded, gpus, model, zone


def dequeue(state: State, workload: Workload) -> None:
    """The workload waits no more."""
    path = state.paths[workload.leaf]
    leaf, shape = path[0], workload.shape
    waiting = leaf.queue[shape]
    del waiting[bisect_left(waiting, workload.turn)]
    if not waiting:
        del leaf.queue[shape]
        _forget(state, leaf, shape)
    for budget in path:
        budget.waiting_below -= 1
    state.fresh.pop(workload.id, None)


def _forget(state: State, leaf: Budget, shape: Shape) -> None:
    group = _group(shape)
    alike = state.shapes[group]
    del alike[shape][leaf]
    if not alike[shape]:
        del alike[shape]
        if not alike:
            del state.shapes[group]


def leaves_where(state: State, shape: Shape) -> Iterable[Budget]:
    """The leaves where such work waits, that without a budget among them."""
    return state.shapes[_group(shape)][shape]


def oldest(state: State, budget: Budget) -> int:
    """The oldest submit time of anything that waits below the budget."""
    times = []
    for leaf in budget.leaves:
        heap = leaf.oldest
        while heap and not _waits(state, *heap[0]):
            heappop(heap)
        if heap:
            times.append(heap[0][0])
    return min(times, default=state.now)


def _waits(state: State, submit: int, name: str) -> bool:
    workload = state.workloads.get(name)
    return workload is not None and workload.status is Status.WAITING and workload.submit == submit


def in_order(state: State, budgets: Iterable[Budget]) -> list[Budget]:
    """Siblings, the one whose turn it is first; ties go by the oldest submit time waiting below, then by id."""
    several = list(budgets)
    if len(several) < 2:
        return several
    rated: list[tuple[int, Ratio, Budget]] = []
    for budget in several:
        ratio = state.ratio(budget)
        rated.append(((ratio[0] << _DIGITS) // ratio[1] if ratio[1] else _NO_CLAIM, ratio, budget))
    rated.sort(key=_first)
    if any(one[0] == other[0] for one, other in pairwise(rated)):
        rated.sort(key=cmp_to_key(partial(_compare_rated, state)))
    return [budget for _, _, budget in rated]


_DIGITS = 40
"""Ratios that differ in so many binary digits need no closer look: rounding down keeps their order."""
_NO_CLAIM = 1 << 200


def _first(rated: tuple[int, Ratio, Budget]) -> int:
    return rated[0]


def _compare_rated(state: State, one: tuple[int, Ratio, Budget], other: tuple[int, Ratio, Budget]) -> int:
    return _compare(state, one[1:], other[1:])


def _compare(state: State, one: tuple[Ratio, Budget], other: tuple[Ratio, Budget]) -> int:
    if is_less(one[0], other[0]):
        return -1
    if is_less(other[0], one[0]):
        return 1
    return -1 if (oldest(state, one[1]), one[1].id) < (oldest(state, other[1]), other[1].id) else 1


def head(leaf: Budget, *, funded: bool) -> Turn | None:
    """Whose turn it is within the leaf."""
    return min((waiting[0] for shape, waiting in leaf.queue.items() if shape[0] is funded), default=None)


def leaves_in_order(state: State, budget: Budget, counts: Callable[[Budget], int]) -> list[Budget]:
    """The leaves below for which something is counted, the lowest ratio first at every level."""
    if not budget.children:
        return [budget] if counts(budget) else []
    found: list[Budget] = []
    for child in in_order(state, [child for child in budget.children.values() if counts(child)]):
        found += leaves_in_order(state, child, counts)
    return found


def leaves_from_the_top(state: State, budget: Budget, counts: Callable[[Budget], int]) -> Iterator[Budget]:
    """Likewise the highest ratio first; what is not asked for is not put in order."""
    if not budget.children:
        if counts(budget):
            yield budget
        return
    for child in reversed(in_order(state, [child for child in budget.children.values() if counts(child)])):
        yield from leaves_from_the_top(state, child, counts)


class Line:
    """Those that wait and may be able to start, in turn; whoever starts moves its budgets back (FS-2)."""

    __slots__ = ("_active", "_heads", "_leaves", "root", "state")

    def __init__(self, state: State, root: Budget, shapes: Mapping[Budget, Iterable[Shape]]) -> None:
        self.state = state
        self.root = root
        self._heads: dict[str, list[tuple[Turn, Shape]]] = {}
        self._leaves: dict[str, Budget] = {}
        for leaf, several in shapes.items():
            queue = leaf.queue
            heads = self._heads[leaf.id] = [(queue[shape][0], shape) for shape in several]
            heapify(heads)
            self._leaves[leaf.id] = leaf
        self._active: dict[str, int] = {}
        """How many leaves below a budget have heads; counted when there are several."""
        if len(self._leaves) > 1:
            for name in self._leaves:
                for budget in state.paths[name]:
                    self._active[budget.id] = self._active.get(budget.id, 0) + 1

    def first(self) -> Workload | None:
        """Whose turn it is."""
        leaves = self._leaves
        if not leaves:
            return None
        leaf = self._leaf() if len(leaves) > 1 else next(iter(leaves.values()))
        return self.state.workloads[self._heads[leaf.id][0][0][3]]

    def _leaf(self) -> Budget:
        budget, active, state = self.root, self._active, self.state
        while budget.children:
            able = [child for child in budget.children.values() if active.get(child.id)]
            budget = able[0]
            if len(able) > 1:
                lowest = state.ratio(budget)
                for child in able[1:]:
                    ratio = state.ratio(child)
                    if _compare(state, (ratio, child), (lowest, budget)) < 0:
                        lowest, budget = ratio, child
        return budget

    def started(self, workload: Workload) -> None:
        """It has left the queue; the next of its shape may be able to start, too."""
        leaf = self.state.leaf_of(workload)
        heads = self._heads[leaf.id]
        _, shape = heappop(heads)
        if waiting := leaf.queue.get(shape):
            heappush(heads, (waiting[0], shape))
        elif not heads:
            self._close(leaf)

    def blocked(self, workload: Workload) -> None:
        """Neither it nor anybody behind it of its leaf and shape starts in this pass."""
        leaf = self.state.leaf_of(workload)
        heads = self._heads[leaf.id]
        heappop(heads)
        if not heads:
            self._close(leaf)

    def nobody(self, shape: Shape) -> None:
        """Of no leaf anybody of that shape can start in this pass."""
        for name, heads in list(self._heads.items()):
            left = [entry for entry in heads if entry[1] != shape]
            if len(left) < len(heads):
                heapify(left)
                self._heads[name] = left
                if not left:
                    self._close(self._leaves[name])

    def _close(self, leaf: Budget) -> None:
        del self._heads[leaf.id], self._leaves[leaf.id]
        if self._active:
            for budget in self.state.paths[leaf.id]:
                self._active[budget.id] -= 1
