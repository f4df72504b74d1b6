"""Lines, shares and rounding of the bill, over entries made by hand; and the bill along the calendar."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.metering import charge
from app.core.times import WorldTime
from app.store.ledger import Entry
from app.usecases import bills, costs
from app.usecases.bills import KEYS, lines
from app.usecases.costs import Usage

T0 = WorldTime(datetime(2026, 1, 31, 23, tzinfo=UTC))
P5 = 66_048_000


def at(seconds: float) -> WorldTime:
    return WorldTime(T0 + timedelta(seconds=seconds))


def entry(start: float, end: float | None, **facts: Any) -> Entry:
    given_facts: dict[str, Any] = {
        "account": "111122223333",
        "region": "us-west-2",
        "owner_id": "abcdefghijkl",
        "job_name": None,
        "budget": None,
        "cluster_name": "demo",
        "group": "workers",
        "logical_id": "n-1",
        "number": 1,
        "instance_id": "i-1",
        "instance_type": "ml.p5.48xlarge",
        "micro_usd_per_hour": P5,
        "price_evidence": "published",
        "started_at": at(start),
        "ended_at": None if end is None else at(end),
    }
    return Entry(**given_facts | facts)


def test_a_line_is_rounded_once_however_many_intervals_it_has() -> None:
    """HP-22, CT-6: three times 0.4 micro-dollars are 1.2, so 1; rounded each, they would be 0."""
    tiny = [entry(n, n + 1, number=n, micro_usd_per_hour=1_440) for n in range(3)]
    (line,) = lines(tiny, KEYS["instance"], None, at(10))
    assert line.micro_usd == charge(3 * 1000 * 1_440) == 1
    assert [share.micro_usd for share in line.shares] == [0, 1, 0]


def test_half_a_micro_dollar_is_rounded_up() -> None:
    """HP-22."""
    (line,) = lines([entry(0, 1, micro_usd_per_hour=1_800)], KEYS["instance"], None, at(10))
    assert line.micro_usd == 1


def test_an_open_interval_runs_to_the_worlds_now_and_has_no_end() -> None:
    """HP-25: cost is there in real time."""
    (line,) = lines([entry(0, None)], KEYS["instance"], None, at(3600))
    assert (line.milliseconds, line.micro_usd, line.ended) == (3_600_000, P5, None)


def test_the_period_cuts_the_interval() -> None:
    """CT-6: by period; what still ran at its end has no end in it."""
    for end, shown in ((100, None), (20, at(20)), (15, at(15)), (None, None)):
        (line,) = lines([entry(0, end)], KEYS["instance"], at(10), at(20))
        assert (line.started, line.ended) == (at(10), shown)
        assert line.milliseconds == (5_000 if end == 15 else 10_000)


def test_a_placeholder_stays_visible_in_every_wider_line() -> None:
    """CT-5: no invented figure passes for a published one."""
    mixed = [entry(0, 10), entry(0, 10, logical_id="n-2", instance_id="i-2", price_evidence="placeholder")]
    for grain in ("group", "type", "account", "cluster"):
        (line,) = lines(mixed, KEYS[grain], None, at(10))
        assert line.price_evidence == "placeholder, published"


def test_what_a_lines_parts_do_not_share_is_not_told() -> None:
    mixed = [entry(0, 10), entry(0, 10, logical_id="n-2", instance_type="ml.c5.xlarge", micro_usd_per_hour=204_000)]
    (line,) = lines(mixed, KEYS["cluster"], None, at(10))
    assert line.common(lambda e: e.micro_usd_per_hour) is None
    assert line.common(bills.arn_of) == "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"


def test_two_clusters_of_one_name_are_two_lines() -> None:
    twice = [entry(0, 10), entry(20, 30, owner_id="mnopqrstuvwx")]
    assert len(lines(twice, KEYS["cluster"], None, at(40))) == 2


spans = st.lists(
    st.tuples(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(0, 10**8)), min_size=1, max_size=8
)


@given(spans, st.lists(st.integers(0, 200_000), unique=True, max_size=6))
def test_periods_sum_to_the_bill_and_intervals_to_their_line(
    cuts: list[tuple[int, int, int]], inner: list[int]
) -> None:
    """CT-6: Cost Explorer's days sum to the very micro-dollars of the bill, wherever they are cut."""
    entries = [
        entry(start, start + length, logical_id=f"n-{n}", instance_id=f"i-{n}", micro_usd_per_hour=price)
        for n, (start, length, price) in enumerate(cuts)
    ]
    bounds = [at(0), *map(at, sorted(set(inner) - {0})), at(500_000)]
    for grain in ("instance", "type"):
        key = KEYS[grain]
        line = lines(entries, key, bounds[0], bounds[-1])
        assert all(sum(share.micro_usd for share in each.shares) == each.micro_usd for each in line)
        periods = costs.along(
            [Usage(each, {}) for each in entries],
            bounds,
            at(400_000),
            lambda used, key=key: key(used.entry),
            lambda _: (),
        )
        along = [amount for period in periods for amount in period.values()]
        assert sum(amount.micro_usd for amount in along) == sum(each.micro_usd for each in line)
        assert sum(amount.milliseconds for amount in along) == sum(each.milliseconds for each in line)
