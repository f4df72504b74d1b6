"""Jobs that wait, by leaf and shape, so that a pass asks once a shape whether there is room."""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Mapping
from heapq import merge
from itertools import islice, repeat

from app.simulate.workloads import Job

Key = tuple[int, int, str]
"""The place within a leaf, lowest first."""

Shape = tuple[bool, str, int, int]
"""Whether it is funded, GPU model, GPUs a replica, replicas: jobs of one shape fit in the same places."""

Order = Callable[[Job], Key]


def by_priority(job: Job) -> Key:
    """What its owner wrote, then the submit time."""
    return (-job.priority, job.submit, job.id)


def by_submit(job: Job) -> Key:
    return (0, job.submit, job.id)


def is_funded(job: Job) -> bool:
    """Whether it asked to be charged and protected (FS-3)."""
    return job.leaf is not None and job.min_runtime > 0


def shape_of(job: Job) -> Shape:
    return (is_funded(job), job.model, job.gpus, job.replicas)


class Queue:
    """Who waits. A leaf with nobody in it is not listed, and neither is a shape."""

    def __init__(self, order: Order = by_priority) -> None:
        self.order = order
        self.jobs: dict[str, Job] = {}
        self.leaves: dict[str, dict[Shape, list[Key]]] = {}
        """By leaf, "" for none; the keys of one shape in order."""
        self.shapes: dict[Shape, int] = {}
        """How many wait, by shape."""

    def push(self, job: Job) -> None:
        shape = shape_of(job)
        self.jobs[job.id] = job
        insort(self.leaves.setdefault(job.leaf or "", {}).setdefault(shape, []), self.order(job))
        self.shapes[shape] = self.shapes.get(shape, 0) + 1

    def remove(self, job: Job) -> None:
        shape, leaf = shape_of(job), job.leaf or ""
        del self.jobs[job.id]
        keys = self.leaves[leaf][shape]
        del keys[bisect_left(keys, self.order(job))]
        if not keys:
            del self.leaves[leaf][shape]
            if not self.leaves[leaf]:
                del self.leaves[leaf]
        self.shapes[shape] -= 1
        if not self.shapes[shape]:
            del self.shapes[shape]

    def first(self, leaf: str, fits: Callable[[Shape], bool]) -> Job | None:
        """The first of the leaf whose shape fits."""
        heads = [keys[0] for shape, keys in self.leaves.get(leaf, {}).items() if fits(shape)]
        return self.jobs[min(heads)[2]] if heads else None

    def heads(self, leaf: str, fits: Callable[[Shape], bool]) -> list[Job]:
        """The first of each shape of the leaf that fits, in order."""
        return [
            self.jobs[key[2]]
            for key in sorted(keys[0] for shape, keys in self.leaves.get(leaf, {}).items() if fits(shape))
        ]

    def line(self, ranks: Mapping[str, int], shapes: Collection[Shape], depth: int) -> list[Job]:
        """So many of those of these shapes, leaves by rank, then by their keys."""
        found = merge(
            *[
                zip(repeat(ranks.get(leaf, 0)), keys, strict=False)
                for leaf, waiting in self.leaves.items()
                for shape, keys in waiting.items()
                if shape in shapes
            ]
        )
        return [self.jobs[key[2]] for _, key in islice(found, depth)]

    def head(self, ranks: Mapping[str, int], shapes: Collection[Shape]) -> Job | None:
        """The first of that line."""
        found = [
            (ranks.get(leaf, 0), keys[0])
            for leaf, waiting in self.leaves.items()
            for shape, keys in waiting.items()
            if shape in shapes
        ]
        return self.jobs[min(found)[1][2]] if found else None
