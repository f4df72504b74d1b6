"""Which of those that wait are worth a try in a pass: counted, without a look at any host (FS-6, FS-15)."""

from collections.abc import Collection

from app.core.scheduling.budgets import Budget, Shape
from app.core.scheduling.packing import Pool
from app.core.scheduling.queueing import leaves_where
from app.core.scheduling.state import State
from app.core.scheduling.victims import any_yields, may_evict
from app.core.scheduling.workload import Workload


class Gate:
    """What is known at the beginning of a pass about shapes and leaves; what fails meanwhile is remembered."""

    __slots__ = ("_evicting", "_failed", "_holders", "_open", "_pools", "fresh", "review", "state")

    def __init__(self, state: State, fresh: dict[str, None], *, review: bool) -> None:
        self.state = state
        self.review = review
        self.fresh = fresh
        self._evicting: dict[str, bool] = {}
        self._failed: dict[str | None, list[tuple[int, int, int]]] = {}
        self._open: dict[Shape, bool] = {}
        """Whether there is room without anybody funded who leaves."""
        self._pools: dict[tuple[bool, str, str, int], list[Pool]] = {}
        self._holders: dict[Shape, str] = {}
        for name in state.reservations:
            self._holders.setdefault(state.workloads[name].shape, name)

    def opens(self, shapes: set[Shape] | None, *, funded: bool) -> bool:
        """Look at these shapes, or at all that wait; whether any of them may start."""
        self._open.clear()
        for group, waiting in self.state.shapes.items():
            if group[0] is funded:
                self._look(waiting if shapes is None else [shape for shape in shapes if shape in waiting])
        opened = self._open
        if True in opened.values():
            return True
        return bool(opened) and self._has_preemptor()

    def _look(self, shapes: Collection[Shape]) -> None:
        """They are of one group: alike but for how many replicas they have, and how long they are protected."""
        first: Shape | None = next(iter(shapes), None)
        if first is None:
            return
        funded, gpus, _, model, zone, _ = first
        pools = self.state.all_pools(model, zone)
        room = self._room(pools, gpus, funded=funded)
        evicts = funded and (self.review or bool(self.fresh))
        yielding = sum([pool.room_after_expired(gpus) for pool in pools]) if evicts else 0
        if not room and not yielding:
            return
        everywhere = not any(pool.reserved for pool in pools)
        for shape in shapes:
            if shape[2] <= room and (everywhere or self.has_room(shape)):
                self._open[shape] = True
            elif shape[2] <= yielding and (everywhere or self._may_have_room(shape)):
                self._open[shape] = False

    @staticmethod
    def _room(pools: list[Pool], gpus: int, *, funded: bool) -> int:
        if len(pools) == 1:
            return pools[0].room_after_unfunded(gpus) if funded else pools[0].room(gpus)
        if funded:
            return sum([pool.room_after_unfunded(gpus) for pool in pools])
        return sum([pool.room(gpus) for pool in pools])

    def has_room(self, shape: Shape) -> bool:
        """Whether such work fits on free GPUs and, if it is funded, on those of unfunded work."""
        return self._room(self._pools_for(shape), shape[1], funded=shape[0]) >= shape[2]

    def _may_have_room(self, shape: Shape) -> bool:
        return sum([pool.room_after_expired(shape[1]) for pool in self._pools_for(shape)]) >= shape[2]

    def _pools_for(self, shape: Shape) -> list[Pool]:
        state, holder = self.state, self._holders.get(shape)
        if holder is not None and holder in state.reservations:
            return state.pools_for(shape, state.now + shape[5], holder)
        key = (shape[0], shape[3], shape[4], shape[5] if state.reservations else 0)
        pools = self._pools.get(key)
        if pools is None:
            pools = self._pools[key] = state.pools_for(shape, state.now + shape[5])
        return pools

    def _has_preemptor(self) -> bool:
        """Whether the first of any of these shapes in a leaf may evict somebody by fair share."""
        state = self.state
        for shape in self._open:
            for leaf in leaves_where(state, shape):
                name = leaf.queue[shape][0][3]
                if self.may_evict(leaf, name) and any_yields(state, state.workloads[name]):
                    return True
        return False

    def shapes(self, root: Budget) -> dict[Budget, list[Shape]]:
        """By leaf below the root, those that are worth a try."""
        state, found = self.state, dict[Budget, list[Shape]]()
        for shape, has_room in self._open.items():
            for leaf in leaves_where(state, shape):
                if (leaf is state.stray) is (root is state.stray) and (
                    has_room or self.may_evict(leaf, leaf.queue[shape][0][3])
                ):
                    found.setdefault(leaf, []).append(shape)
        return found

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
        known = self._evicting.get(leaf.id)
        if known is None:
            known = self._evicting[leaf.id] = may_evict(self.state, leaf)
        return known
