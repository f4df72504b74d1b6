"""What training plans offer: a pure function of seed, question and time; ids that carry what they mean."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.offerings import (
    LATEST,
    ExtensionOffer,
    Machines,
    Offer,
    Wanted,
    dollars,
    extension_days,
    extension_id,
    extension_offers,
    fee,
    offer_id,
    offers,
    read_extension,
    read_offer,
)
from app.core.times import WorldTime, after
from tests.core.builders import T0

ZONES = ("us-west-2a", "us-west-2b", "us-west-2c")
P5 = Machines("ml.p5.48xlarge", 4)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def search(now: WorldTime = T0, seed: int = 7, **facts: object) -> list[Offer]:
    wanted = replace(Wanted(P5, "hyperpod-cluster", 48, None, None), **facts)  # type: ignore[arg-type]
    return offers(seed, "us-west-2", ZONES, wanted, now)


def length(offer: Offer) -> timedelta:
    return timedelta(milliseconds=sum(block.milliseconds for block in offer.blocks))


@given(
    seed=st.integers(0, 2**63 - 1),
    minutes=st.integers(0, 3 * 24 * 60),
    hours=st.integers(1, 24 * 190) | st.sampled_from([24, 48, 96, 24 * 182]),
)
def test_every_offering_keeps_the_rules(seed: int, minutes: int, hours: int) -> None:
    """Exact whole hours, 11:30 UTC at the end, from 30 minutes to 56 days ahead, at most five blocks."""
    now = after(T0, timedelta(minutes=minutes, seconds=17))
    for offer in search(now, seed, hours=hours):
        assert length(offer) // HOUR == hours and length(offer) <= 182 * DAY
        assert timedelta(minutes=30) <= offer.blocks[0].starts_at - now <= LATEST
        assert 1 <= len(offer.blocks) <= 5 and offer.zone in ZONES
        assert all(f"{block.ends_at:%H:%M:%S}" == "11:30:00" for block in offer.blocks)
        assert all(one.ends_at < two.starts_at for one, two in zip(offer.blocks, offer.blocks[1:], strict=False))
        assert read_offer(seed, "a/r", offer_id(seed, "a/r", offer)) == offer


def test_search_is_a_function_of_its_arguments() -> None:
    """RL-10: equal questions get equal answers; another seed or type has other days and zones."""
    assert search() == search() != search(seed=8)
    assert [o.blocks for o in search()] != [
        o.blocks for o in search(machines=Machines("ml.p4d.24xlarge", 4))
    ] or search() == []


@pytest.mark.parametrize("hours", [25, 47, 24 * 183, 87_600])
def test_duration_matches_exactly_or_nothing_is_found(hours: int) -> None:
    assert [offer for offer in search(after(T0, 11 * HOUR), hours=hours) if length(offer) // HOUR != hours] == []
    assert search(after(T0, 11 * HOUR), hours=hours) == []


def test_a_block_at_once_has_odd_hours() -> None:
    """At 00:10 the next half hour is 01:00 and the day's end 10.5 hours later."""
    [offer] = search(after(T0, timedelta(minutes=10)), hours=10)
    assert f"{offer.blocks[0].starts_at:%H:%M}" == "01:00" and length(offer) == timedelta(hours=10, minutes=30)
    assert search(after(T0, timedelta(minutes=10)), hours=34)[0].blocks[0].ends_at == after(
        offer.blocks[0].ends_at, DAY
    )


def test_the_window_is_kept() -> None:
    whole = search()
    assert whole
    first = whole[0].blocks[0]
    assert whole[0] in search(earliest=first.starts_at, latest_end=first.ends_at)
    assert whole[0] not in search(latest_end=after(first.ends_at, -timedelta(seconds=1)))
    assert whole[0] not in search(earliest=after(first.starts_at, timedelta(seconds=1)))
    assert search(earliest=after(T0, timedelta(days=57))) == []


def test_long_plans_may_have_a_pause() -> None:
    assert all(len(offer.blocks) == 1 for offer in search(hours=72))
    split = search(hours=120)[-1]
    assert [block.ends_at - block.starts_at for block in split.blocks] == [2 * DAY, 3 * DAY]


def test_ids_are_sealed() -> None:
    """Changed by one letter, made by another seed, or for another account, an id means nothing."""
    offer = search()[0]
    made = offer_id(7, "1/us-west-2", offer)
    assert read_offer(7, "1/us-west-2", made) == offer and len(made) <= 256
    assert read_offer(8, "1/us-west-2", made) is read_offer(7, "2/us-west-2", made) is None
    for place in range(4, len(made)):
        other = made[:place] + ("a" if made[place] != "a" else "b") + made[place + 1 :]
        assert read_offer(7, "1/us-west-2", other) is None
    for odd in ("", "tpo", "tpo-", "tpo-ä", f"tpeo-{made[4:]}", made.upper(), made + "=", "0" * 256):
        assert read_offer(7, "1/us-west-2", odd) is None and read_extension(7, "1/us-west-2", odd) is None


def test_extension_ids_are_sealed_too() -> None:
    more = ExtensionOffer("p" * 64, T0, after(T0, DAY))
    made = extension_id(7, "1/r", more)
    assert made.startswith("tpeo-") and read_extension(7, "1/r", made) == more
    assert read_extension(7, "2/r", made) is read_offer(7, "1/r", made) is None


def test_extensions_are_days_and_then_weeks() -> None:
    assert [hours // 24 for hours in range(24, 24 * 190, 24) if extension_days(hours)] == [
        *range(1, 15),
        *range(21, 183, 7),
    ]
    assert extension_days(25) == [] and extension_days(None)
    assert [one.ends_at - T0 for one in extension_offers("p", T0, [1, 7], after(T0, DAY))] == [DAY]


@pytest.mark.parametrize(
    ("per_day", "count", "time", "written"),
    [
        (1_098_420_000, 1, DAY, "1098.42"),
        (1_098_420_000, 4, 2 * DAY, "8787.36"),
        (10_000, 1, DAY / 2, "0.01"),
        (10_000, 1, DAY / 4, "0.00"),
        (312_110_000, 64, 182 * DAY, "3635457.28"),
    ],
    ids=str,
)
def test_the_fee_is_whole_cents(per_day: int, count: int, time: timedelta, written: str) -> None:
    """One rounding, half up."""
    assert dollars(fee(per_day, count, time // timedelta(milliseconds=1))) == written
