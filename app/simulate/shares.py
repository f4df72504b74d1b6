"""The tree of shares as the other schedulers see it, with what runs and waits below each node."""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from app.simulate.workloads import Share


class Group:
    """A node of the tree. `running` and `waiting` are GPUs of work that counts, of all that is below it."""

    __slots__ = ("children", "id", "parent", "path", "running", "waiting", "weight")

    def __init__(self, name: str, parent: "Group | None", weight: int) -> None:
        self.id = name
        self.parent = parent
        self.weight = weight
        self.children: list[Group] = []
        self.running = self.waiting = 0
        self.path: tuple[Group, ...] = (self,) if parent is None else (*parent.path, self)
        """From the root down to itself."""
        if parent is not None:
            parent.children.append(self)

    @property
    def claim(self) -> Fraction:
        """Its part of the fleet: the product of the fractions on its path."""
        found = Fraction(1)
        for group in self.path[1:]:
            total = sum(sibling.weight for sibling in group.parent.children) if group.parent else 0
            found *= Fraction(group.weight, total) if total else 0
        return found


class Tree:
    """All groups by name; the root is ""."""

    def __init__(self, shares: Sequence[Share]) -> None:
        self.root = Group("", None, 1)
        self.groups = {"": self.root}
        below: dict[str, list[Share]] = {}
        for share in shares:
            below.setdefault(share.parent, []).append(share)
        found = [self.root]
        for group in found:
            for share in below.get(group.id, ()):
                self.groups[share.id] = Group(share.id, group, share.weight)
                found.append(self.groups[share.id])
        self.leaves = [group for group in found if not group.children]

    def run(self, leaf: str, gpus: int) -> None:
        """So many more GPUs run for the leaf."""
        for group in self.groups[leaf].path:
            group.running += gpus

    def wait(self, leaf: str, gpus: int) -> None:
        """So many more GPUs wait for the leaf."""
        for group in self.groups[leaf].path:
            group.waiting += gpus

    def above(self, leaves: Collection[str]) -> set[str]:
        """The leaves and all groups above them."""
        return {group.id for leaf in leaves for group in self.groups[leaf].path}


def fork(one: Group, other: Group) -> Iterator[tuple[Group, Group]]:
    """The two groups below the lowest common ancestor of two leaves; nothing when they are the same leaf."""
    for mine, theirs in zip(one.path, other.path, strict=False):
        if mine is not theirs:
            yield mine, theirs
            return
