"""Water-filling against pouring drop by drop, and against what defines max-min."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from app.simulate.filling import fill, fill_tree
from app.simulate.shares import Group, Tree
from app.simulate.workloads import Share

quick = settings(max_examples=60, deadline=None)


def test_what_one_leaves_the_others_have_by_weight() -> None:
    """By hand: 12 GPUs, weights 1:2:3; the third asks for 2 alone, the other ten go 1:2, but the first wants 3."""
    assert fill(12, [1, 2, 3], [3, 20, 2]) == [3, 7, 2]
    assert fill(12, [1, 2, 3], [20, 20, 2]) == [Fraction(10, 3), Fraction(20, 3), 2]


def test_weight_zero_has_what_nobody_else_wants() -> None:
    assert fill(10, [1, 0], [6, 9]) == [6, 4]
    assert fill(10, [1, 0], [20, 9]) == [10, 0]


@quick
@given(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 20)), min_size=1, max_size=6),
)
def test_nobody_can_get_more_without_taking_from_a_poorer_one(amount: int, several: list[tuple[int, int]]) -> None:
    """The definition of weighted max-min, which has one solution."""
    weights, demands = [w for w, _ in several], [d for _, d in several]
    given_ = fill(amount, weights, demands)
    assert sum(given_) == min(amount, sum(demands))
    for mine, weight, demand in zip(given_, weights, demands, strict=True):
        assert 0 <= mine <= demand
        if mine < demand:
            assert all(theirs / other <= mine / weight for theirs, other in zip(given_, weights, strict=True))


SHARES = [
    Share("a", "", 3),
    Share("b", "", 1),
    Share("a1", "a", 1),
    Share("a2", "a", 2),
    Share("b1", "b", 1),
    Share("b2", "b", 4),
]


def _pour(tree: Tree, drops: int, demands: dict[str, int]) -> dict[str, int]:
    """Drop by drop to the child with the least by weight that still wants some."""
    given_ = dict.fromkeys(tree.groups, 0)

    def wants(group: Group) -> bool:
        if group.children:
            return any(wants(child) for child in group.children)
        return given_[group.id] < demands.get(group.id, 0)

    for _ in range(drops):
        group = tree.root
        if not wants(group):
            break
        while group.children:
            hungry = [child for child in group.children if wants(child)]
            group = min(hungry, key=lambda child: (Fraction(given_[child.id], child.weight), child.id))
        for each in group.path:
            given_[each.id] += 1
    return given_


@quick
@given(st.integers(0, 30), st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_a_tree_fills_as_drops_do(amount: int, wanted: list[int]) -> None:
    """A hundred drops a GPU; on a level a drop may be off by as many as there are siblings."""
    tree = Tree(SHARES)
    demands = dict(zip(["a1", "a2", "b1", "b2"], wanted, strict=True))
    exact = fill_tree(tree.root, amount, demands)
    poured = _pour(tree, amount * 100, {leaf: demand * 100 for leaf, demand in demands.items()})
    for name, drops in poured.items():
        assert abs(exact[name] * 100 - drops) <= 8
