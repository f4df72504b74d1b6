"""A tree of budgets becomes the wanted one by changes that are each possible (FS-1, CT-10)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget_plan import Wanted, changes_to
from app.core.budget_tree import ROOT, Change, Limit, Period, Tree, Unit, grown, shifted
from app.core.errors import Conflict, Invalid, NotFound
from app.core.scheduling.history import ChangeKind

MONTHLY = Limit(100, Unit.GPU_HOURS, Period.MONTH)


def planted(*wanted: Wanted) -> Tree:
    tree = Tree()
    for change in changes_to([], wanted):
        tree.do(change)
    return tree


def shape(tree: Tree) -> dict[str, tuple[str, int, tuple[Limit, ...]]]:
    return {node.name: (node.parent, node.weight, node.limits) for node in tree.nodes()}


@st.composite
def trees(draw: st.DrawFn) -> list[Wanted]:
    names = draw(st.permutations("abcdefg"))[: draw(st.integers(0, 7))]
    wanted = [
        Wanted(
            name,
            draw(st.sampled_from([ROOT, *names[:place]])),
            draw(st.integers(0, 3)),
            draw(st.sampled_from([(), (MONTHLY,)])),
        )
        for place, name in enumerate(names)
    ]
    return list(draw(st.permutations(wanted)))


@given(trees(), trees())
def test_every_tree_becomes_every_other(one: list[Wanted], other: list[Wanted]) -> None:
    """Also where parent and child change places; and a second time nothing is left to do."""
    tree = planted(*one)
    for change in changes_to(tree.nodes(), other):
        tree.do(change)
    assert shape(tree) == {each.name: (each.parent, each.weight, each.limits) for each in other}
    assert changes_to(tree.nodes(), other) == []
    claims = {ROOT: Fraction(1)}
    for node in tree.nodes():
        claims[node.name] = claims[node.parent] * node.fraction
        assert node.claim == claims[node.name]
        assert tree.state.paths[node.name] == tree.state.budgets[node.name].path()


def test_fractions_and_claims_are_exact() -> None:
    """FS-1: the product of the fractions on the path."""
    tree = planted(Wanted("x", ROOT, 2), Wanted("y", ROOT, 1), Wanted("z", "x", 1), Wanted("w", "x", 2))
    assert [(node.name, node.fraction, node.claim, node.is_leaf) for node in tree.nodes()] == [
        ("x", Fraction(2, 3), Fraction(2, 3), False),
        ("w", Fraction(2, 3), Fraction(4, 9), True),
        ("z", Fraction(1, 3), Fraction(2, 9), True),
        ("y", Fraction(1, 3), Fraction(1, 3), True),
    ]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ([Wanted("a", "a", 1)], "below itself"),
        ([Wanted("a", "b", 1), Wanted("b", "a", 1)], "below itself"),
        ([Wanted("a", "nobody", 1)], "not there"),
        ([Wanted("a", ROOT, 1), Wanted("a", ROOT, 2)], "twice"),
    ],
)
def test_what_is_no_tree_is_refused(wanted: list[Wanted], told: str) -> None:
    with pytest.raises(Invalid, match=told):
        changes_to([], wanted)


@pytest.mark.parametrize("name", ["A", "-a", "a.b", "a" * 64, "(none)"])
def test_a_name_is_one_that_a_label_can_have(name: str) -> None:
    with pytest.raises(Invalid, match="label"):
        planted(Wanted(name, ROOT, 1))


def test_weight_moves_between_siblings_alone() -> None:
    """CT-10: the claims of others stay."""
    tree = planted(Wanted("a", ROOT, 3), Wanted("b", ROOT, 1), Wanted("c", ROOT, 4), Wanted("below", "c", 1))
    for change in shifted(tree, "a", "b", 2):
        tree.do(change)
    assert {node.name: node.claim for node in tree.nodes() if node.parent == ROOT} == {
        "a": Fraction(1, 8),
        "b": Fraction(3, 8),
        "c": Fraction(1, 2),
    }
    with pytest.raises(Invalid, match="no siblings"):
        shifted(tree, "a", "below", 1)
    with pytest.raises(Invalid, match="weight of 1"):
        shifted(tree, "a", "b", 2)
    with pytest.raises(NotFound, match="Did you mean below"):
        shifted(tree, "a", "belo", 1)


def test_a_budget_that_work_is_charged_to_is_neither_split_nor_deleted() -> None:
    tree = grown(changes_to([], [Wanted("a", ROOT, 1), Wanted("b", ROOT, 1)]), ["a"])
    with pytest.raises(Conflict, match="charged to budget a"):
        tree.do(Change(ChangeKind.CREATE, "c", "a", 1))
    with pytest.raises(Conflict, match="has budgets or workloads"):
        tree.do(changes_to(tree.nodes(), [Wanted("b", ROOT, 1)])[0])
