"""Weighted max-min shares of a divisible amount by water-filling down a tree (Bertsekas, Gallager: Data Networks)."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from app.simulate.shares import Group

Amount = int | Fraction


def fill(amount: Amount, weights: Sequence[int], demands: Sequence[Amount]) -> list[Fraction]:
    """Nobody gets more than it demands, and what one leaves the others have by weight. Weight 0 gets what is left over.

    The water's level rises for all alike; whoever's demand it reaches first, in proportion to its weight, drops out.
    """
    given = [Fraction(0)] * len(weights)
    left = Fraction(amount)
    for several in ([w > 0 for w in weights], [w == 0 for w in weights]):
        open_ = [i for i, counts in enumerate(several) if counts and demands[i] > 0]
        total = sum(weights[i] or 1 for i in open_)
        for i in sorted(open_, key=lambda i: (Fraction(demands[i]) / (weights[i] or 1), i)):
            weight = weights[i] or 1
            given[i] = min(Fraction(demands[i]), left * weight / total)
            left -= given[i]
            total -= weight
    return given


def fill_tree(root: Group, amount: Amount, demands: Mapping[str, Amount]) -> dict[str, Fraction]:
    """The share of every group below the root, and the root's; demands are those of leaves, by name."""
    wanted: dict[str, Amount] = {}
    _add_up(root, demands, wanted)
    found = {root.id: min(Fraction(amount), Fraction(wanted[root.id]))}
    groups = [root]
    for group in groups:
        children = group.children
        parts = fill(found[group.id], [c.weight for c in children], [wanted[c.id] for c in children])
        found.update(zip([child.id for child in children], parts, strict=True))
        groups += children
    return found


def _add_up(group: Group, demands: Mapping[str, Amount], wanted: dict[str, Amount]) -> Amount:
    if group.children:
        total: Amount = 0
        for child in group.children:
            total += _add_up(child, demands, wanted)
    else:
        total = demands.get(group.id, 0)
    wanted[group.id] = total
    return total
