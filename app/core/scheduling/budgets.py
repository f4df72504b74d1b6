"""The tree of budgets on one fleet: claims, use in the window, and who is how far from its share (FS-1, FS-2)."""

from fractions import Fraction
from math import gcd

from app.core.scheduling.usage import Series

Ratio = tuple[int, int]
"""Numerator and denominator, neither negative; a denominator of zero is more than any number."""

Shape = tuple[bool, int, int, str, str, int]
"""Funded, GPUs of a replica, replicas, model, zone, minimum runtime: what decides where a workload fits."""
Group = tuple[bool, int, str, str]
"""What shapes have in common that differ only in replicas and minimum runtime."""
Turn = tuple[int, int, int, str]
"""Priority negated, completed slices, submit time, id."""


def is_less(one: Ratio, other: Ratio) -> bool:
    """Whether the first is the lower; two without a claim are equal."""
    if not one[1] or not other[1]:
        return bool(one[1]) and not other[1]
    return one[0] * other[1] < other[0] * one[1]


def is_ahead_by(margin: int, low: Ratio, high: Ratio) -> bool:
    """Whether `high` is at least `low` plus the margin, in millionths; nobody without a claim is ahead (FS-8)."""
    if not low[1]:
        return False
    if not high[1]:
        return True
    return 1_000_000 * high[0] * low[1] >= (1_000_000 * low[0] + margin * low[1]) * high[1]


class Budget:
    """A node of the tree. Its claim is its weight over its siblings' weights, times its parent's claim."""

    __slots__ = (
        "_line",
        "_line_ends",
        "_owed",
        "_owed_ends",
        "born",
        "children",
        "claims",
        "committed",
        "committed_gpus",
        "expired",
        "expired_below",
        "expired_gpus",
        "id",
        "leaves",
        "limits",
        "no_reservation_until",
        "oldest",
        "parent",
        "protected",
        "protected_gpus",
        "queue",
        "rated",
        "rated_at",
        "unfunded",
        "unfunded_below",
        "unfunded_gpus",
        "usage",
        "waiting_below",
        "weight",
    )

    def __init__(self, name: str, parent: "Budget | None", weight: int, born: int) -> None:
        self.id = name
        self.parent = parent
        self.children: dict[str, Budget] = {}
        self.leaves: list[Budget] = [self]
        self.weight = weight
        self.born = born
        self.usage = Series()
        self.usage.add(born - 1, 0)  # before it was born nothing was used, whatever is used at that instant
        self.claims: list[tuple[int, int, int, int]] = []
        """Since when, the capacity's integral by then, and the claim from then on as a fraction."""
        self.committed = self.committed_gpus = 0
        """K at an instant t is `committed - committed_gpus * t`."""
        self.protected = self.protected_gpus = 0
        """What protection will still cost, likewise."""
        self.limits: list[Limit] = []
        self.queue: dict[Shape, list[Turn]] = {}
        """Who waits, by shape, each list in the order of turns."""
        self.oldest: list[tuple[int, str]] = []
        """A heap of submit times; entries of those that wait no more are dropped when they come up."""
        self.expired: dict[str, None] = {}
        self.unfunded: dict[str, None] = {}
        self.expired_below = self.unfunded_below = self.waiting_below = 0
        self.expired_gpus = self.unfunded_gpus = 0
        self.no_reservation_until = 0
        self._line: tuple[int, int, int, int, int] = (0, 0, 1, 0, 0)
        """U scaled, at zero and its slope; the scale; E scaled, at zero and its slope."""
        self.rated: Ratio = (0, 0)
        self.rated_at = -1
        """The instant that the ratio was worked out for."""
        self._line_ends = 0
        """When the line holds no more; it is drawn anew after a change of capacity or claims."""
        self._owed: tuple[int, int, int, int, int] = (1, 0, 0, 0, 0)
        """Its part that use does not move: the scale; what is added to U for the time before birth, and E, likewise."""
        self._owed_ends = 0

    @property
    def is_leaf(self) -> bool:
        return not self.children

    def path(self) -> "list[Budget]":
        """From itself up to the root."""
        found: list[Budget] = []
        node: Budget | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        return found

    def find_leaves(self) -> "list[Budget]":
        """Every budget without children below it, itself if it has none; kept until the tree changes."""
        found = [leaf for child in self.children.values() for leaf in child.find_leaves()]
        self.leaves = found or [self]
        return self.leaves

    def rate(self, now: int, window: int, capacity: Series) -> None:
        """`rated` is (U + K) / E over the window before now (FS-2)."""
        if now >= self._line_ends:
            self._draw(now, window, capacity)
        used, rises, scale, owed, grows = self._line
        self.rated = (used + rises * now + scale * (self.committed - self.committed_gpus * now), owed + grows * now)
        self.rated_at = now

    def rated_with(self, more: int) -> Ratio:
        """The ratio that was worked out last, with `more` GPU-time added to K."""
        return self.rated[0] + self._line[2] * more, self.rated[1]

    def charge(self, now: int, gpus: int) -> None:
        """So many more GPUs are funded from now on: U rises faster, and is what it was."""
        self.usage.add(now, gpus)
        if now < self._line_ends:
            used, rises, scale, owed, grows = self._line
            self._line = (used - scale * gpus * now, rises + scale * gpus, scale, owed, grows)

    def used(self, now: int, since: int) -> int:
        """U: the funded GPU-time between the two."""
        return self.usage.total(now) - self.usage.total_at(since)

    def _draw(self, now: int, window: int, capacity: Series) -> None:
        """U and E as lines over time, and when they bend next: where something leaves the window."""
        if now >= self._owed_ends:
            self._owe(now, window, capacity)
        value, slope = self.usage.line()
        gone, gone_slope, bends = self.usage.line_at(now - window)
        scale, par, par_rises, owed, grows = self._owed
        used, rises = value - gone + gone_slope * window, slope - gone_slope
        self._line = (scale * used + par, scale * rises + par_rises, scale, owed, grows)
        self._line_ends = self._owed_ends if bends is None else min(bends + window, self._owed_ends)

    def _owe(self, now: int, window: int, capacity: Series) -> None:
        """The part of the line that stands on the capacity and the claims alone."""
        since, fleet_born, claims = now - window, capacity.born, self.claims
        if fleet_born is None or not claims:
            self._owed, self._owed_ends = (1, 0, 0, 0, 0), now + 1
            return
        while len(claims) > 1 and claims[1][0] <= since:
            del claims[0]
        if len(claims) > 1:
            self._owed, self._owed_ends = self._of_several_claims(since, now, capacity), now + 1
            return
        whole, whole_slope = capacity.line()
        begun, begun_slope, begun_bends = capacity.line_at(since)
        begun -= begun_slope * window
        _, then, top, bottom = claims[0]
        ends = [now + window] if begun_bends is None else [begun_bends + window]
        par = par_rises = 0
        born = max(self.born, fleet_born)
        if born > since:
            par = top * (capacity_at_birth(self.born, fleet_born, then) - begun)
            par_rises = -top * begun_slope
            ends.append(born + window)
        self._owed = (bottom, par, par_rises, top * (whole - begun), top * (whole_slope - begun_slope))
        self._owed_ends = min(ends)

    def _of_several_claims(self, since: int, now: int, capacity: Series) -> tuple[int, int, int, int, int]:
        """That part while the claim changes within the window: it holds at this instant."""
        whole, begun, claims = capacity.total(now), capacity.total_at(since), self.claims
        fleet_born = capacity.born or 0
        _, _, top, bottom = claims[0]
        before = 0
        if max(self.born, fleet_born) > since:
            before = capacity_at_birth(self.born, fleet_born, claims[0][1]) - begun
        ends = [*(claim[1] for claim in claims[1:]), whole]
        starts = [begun, *(claim[1] for claim in claims[1:])]
        owed = sum(
            (
                Fraction(claim[2] * (end - start), claim[3])
                for claim, start, end in zip(claims, starts, ends, strict=True)
            ),
            Fraction(0),
        )
        scale = owed.denominator * bottom // gcd(owed.denominator, bottom)
        return scale, top * before * (scale // bottom), 0, owed.numerator * (scale // owed.denominator), 0

    def forget_cache(self) -> None:
        """Something that a ratio stands on has changed."""
        self._line_ends = self._owed_ends = 0
        self.rated_at = -1


def capacity_at_birth(born: int, fleet_born: int, then: int) -> int:
    """The capacity's integral when the later of a budget and its fleet was born; a fleet's begins with zero."""
    return then if born > fleet_born else 0


class Limit:
    """At most so much GPU-time may be charged to a budget, from when it was set (FS-3)."""

    __slots__ = ("amount", "base")

    def __init__(self, amount: int, base: int) -> None:
        self.amount = amount
        self.base = base
        """What had been charged by then, less what other fleets have charged since."""

    def left(self, budget: Budget, now: int) -> int:
        """What is neither charged nor reserved for protected time."""
        charged = budget.usage.total(now) - self.base
        return self.amount - charged - (budget.protected - budget.protected_gpus * now)
