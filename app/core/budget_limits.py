"""What limits leave a budget on one fleet, when others charge it too (FS-3). GPU-time is GPUs times milliseconds.

A limit in dollars counts GPU-time at what a GPU of the fleet costs an hour. All of it is exact: integers and fractions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from app.core.budget_tree import ROOT, Change, Limit, Period, Unit
from app.core.scheduling import tree
from app.core.scheduling.history import ChangeKind
from app.core.scheduling.state import State
from app.core.times import WorldTime, from_millis, to_millis

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ALWAYS = 2**62
"""Later than any instant; of a span that has not ended."""


@dataclass(frozen=True, slots=True)
class Span:
    """From `since` until `until` what the leaf was charged counted for a budget: it lay below, or was it."""

    leaf: str
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Use:
    """What a budget has been charged on a fleet in a period, what protection there will still cost, how many GPUs are
    charged there without protection, and how many in all."""

    charged: int = 0
    reserved: int = 0
    spending: int = 0
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """Funded GPUs that a workload on a fleet holds since `since`; `reserved` GPUs are protected until `until`."""

    leaf: str
    gpus: int
    since: int
    reserved: int
    until: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one limit allows on this fleet: GPU-time in all, of which so much is charged here. The other fleets spend
    as many GPUs without protection, counted in GPUs of this one."""

    amount: int
    charged: int
    spending: Fraction


def begins(period: Period, now: int) -> int:
    """When the period began that `now` lies in; all of time began with 1970."""
    if period is Period.ALL:
        return 0
    at = from_millis(now)
    return to_millis(WorldTime(at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)))


def next_month(now: int) -> int:
    """When the next calendar month begins."""
    return begins(Period.MONTH, begins(Period.MONTH, now) + timedelta(days=32) // timedelta(milliseconds=1))


def spans(changes: Iterable[Change], name: str) -> list[Span]:
    """Whose charges counted for the budget, and when: also of leaves that are gone, or were there before the budget
    had others below it."""
    below: dict[str, dict[str, None]] = {ROOT: {}}
    parents: dict[str, str] = {}
    since: dict[str, int] = {}
    found: list[Span] = []
    for change in changes:
        if change.kind not in (ChangeKind.CREATE, ChangeKind.MOVE, ChangeKind.DELETE):
            continue
        one, above = change.name, change.parent
        below.get(parents.pop(one, ROOT), {}).pop(one, None)
        moved = _subtree(below, one)
        if change.kind is not ChangeKind.DELETE:
            parents[one] = above
            below.setdefault(above, {})[one] = None
            below.setdefault(one, {})
            if one == name or above in since:
                since |= {leaf: change.at for leaf in moved if leaf not in since}
        if change.kind is ChangeKind.DELETE or (name not in moved and above not in since):
            found += [Span(leaf, since.pop(leaf), change.at) for leaf in moved if leaf in since]
    return found + [Span(leaf, at, ALWAYS) for leaf, at in since.items()]


def _subtree(below: Mapping[str, Iterable[str]], name: str) -> list[str]:
    found = [name]
    for one in found:
        found += below.get(one, ())
    return found


def use_of(charged: int, holdings: Iterable[Holding], counted: Sequence[Span], since: int, now: int) -> Use:
    """The use on a fleet whose closed segments sum to `charged`, and where workloads hold GPUs."""
    reserved = spending = gpus = 0
    for one in holdings:
        for span in counted:
            if span.leaf == one.leaf:
                charged += one.gpus * max(0, min(span.until, now) - max(span.since, since, one.since))
                if span.until > now:
                    reserved += one.reserved * max(0, one.until - now)
                    spending += one.gpus if one.until <= now else 0
                    gpus += one.gpus
    return Use(charged, reserved, spending, gpus)


def met_at(limit: Limit, left: Fraction, rate: Fraction, now: int) -> int | None:
    """When nothing will be left of a limit in its period, if each millisecond goes on to take so much of it; None: not
    before the period ends."""
    if left <= 0:
        return now
    if not rate:
        return None
    at = now - (-left // rate)
    return at if limit.period is Period.ALL or at < next_month(now) else None


def held_by_day(holdings: Iterable[Holding], counted: Sequence[Span], first: int, now: int) -> dict[int, int]:
    """What those that hold GPUs have been charged since the day that begins at `first`, by the beginning of the day."""
    found: dict[int, int] = {}
    for one in holdings:
        for start in range(first, now, DAY_MS):
            charged = use_of(0, [one], counted, start, min(now, start + DAY_MS)).charged
            if charged:
                found[start] = found.get(start, 0) + charged
    return found


def charged_in(state: State, counted: Sequence[Span], since: int) -> int:
    """What a state adds to the kept segments of its fleet: those that closed since, and what runs."""
    closed = [(one.leaf, one.gpus, one.start, one.end) for one in state.ledger if one.funded]
    running = [
        (one.leaf, one.segment_gpus, one.segment_at, state.now)
        for one in state.workloads.values()
        if one.segment_funded and one.segment_gpus
    ]
    total = 0
    for leaf, gpus, start, end in (*closed, *running):
        for span in counted:
            if span.leaf == leaf:
                total += gpus * max(0, min(span.until, end) - max(span.since, since, start))
    return total


def allowance(
    limit: Limit, charged: int, price: Fraction, elsewhere: Iterable[tuple[Use, Fraction]]
) -> Allowance | None:
    """What the limit allows on a fleet where so much is charged and a GPU costs `price` micro-dollars an hour; of the
    other fleets their use and price. None: what costs nothing is not limited by dollars."""
    if limit.unit is Unit.GPU_HOURS:
        price, others = Fraction(1), [(use, Fraction(1)) for use, _ in elsewhere]
    else:
        others = list(elsewhere)
    if not price:
        return None
    spent = sum(((use.charged + use.reserved) * cost for use, cost in others), Fraction(0))
    amount = (limit.amount * HOUR_MS - spent) / price
    spending = sum((use.spending * cost for use, cost in others), Fraction(0)) / price
    return Allowance(amount.numerator // amount.denominator, charged, spending)


def set_allowances(state: State, name: str, allowed: Sequence[Allowance], now: int) -> bool:
    """The budget is limited so on this fleet; whether that is anything new. What has not changed stirs nobody."""
    budget = state.budgets[name]
    total = budget.usage.total(now)
    wanted = [(one.amount, total - one.charged) for one in allowed]
    if wanted == [(one.amount, one.base) for one in budget.limits]:
        return False
    tree.set_limits(state, name, [(one.amount, one.charged) for one in allowed], now)
    return True


def dry_at(state: State, name: str, allowed: Sequence[Allowance], now: int) -> int | None:
    """When a limit is met, if all go on that spend without protection here and elsewhere; None: nobody here does."""
    budget = state.budgets[name]
    own = budget.usage.slope - budget.protected_gpus
    if not budget.expired_below or own <= 0:
        return None
    times = [  # never at once: what is spent now, the pass has closed
        now + max(1, int(limit.left(budget, now) // (own + one.spending)))
        for limit, one in zip(budget.limits, allowed, strict=True)
        if one.spending
    ]
    return min(times, default=None)
