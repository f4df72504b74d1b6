from app.core.metering import charge
from app.core.shares import IDLE, Part, Stretch, Use, split
from tests.core.builders import at

HOUR = 3_600_000


def test_a_workload_has_its_gpus_share_and_the_rest_is_idle() -> None:
    """VX-24: by GPU-time, summing to the line."""
    uses = [Use(("a",), 2, at(), at(hours=1)), Use(("b",), 4, at(minutes=30), None)]
    parts = split([Stretch(8, 8_000_000, at(), None, uses)], None, at(hours=1))
    assert parts == [
        Part(("a",), 2 * HOUR, 2_000_000),
        Part(("b",), 2 * HOUR, 2_000_000),
        Part(IDLE, 4 * HOUR, 4_000_000),
    ]


def test_nodes_of_other_prices_and_without_gpus_are_of_the_line_too() -> None:
    dear = Stretch(1, 9_000_000, at(), at(hours=1), [Use(("a",), 1, at(), at(hours=1))])
    plain = Stretch(0, 1_000_000, at(), at(hours=1), [])
    assert split([dear, plain], None, at(hours=2)) == [Part(("a",), HOUR, 9_000_000), Part(IDLE, 0, 1_000_000)]


def test_the_period_cuts_them() -> None:
    stretch = Stretch(2, 3_600_000, at(), None, [Use(("a",), 1, at(minutes=10), at(minutes=40))])
    parts = split([stretch], at(minutes=20), at(minutes=30))
    assert parts == [Part(("a",), 600_000, 300_000), Part(IDLE, 600_000, 300_000)]


def test_odd_parts_sum_to_the_line_exactly() -> None:
    uses = [Use((str(n),), 1, at(seconds=n), at(seconds=n, millis=7)) for n in range(7)]
    stretches = [Stretch(8, price, at(), at(seconds=61), uses[:part]) for price, part in ((999_983, 3), (77, 7))]
    line = charge(61_000 * (999_983 + 77))
    assert sum(part.micro_usd for part in split(stretches, None, at(hours=1))) == line
