from hypothesis import given
from hypothesis import strategies as st

from app.simulate.distributions import KALOS, SEREN, WHOLE, Stream, between, share_up_to

SHARES = st.integers(0, WHOLE)


def test_kalos_and_seren_have_their_published_percentiles() -> None:
    """The paper's p25, p50, p75, p90, p95 and p99, in seconds, read off the same figures by others."""
    percentiles = [250_000, 500_000, 750_000, 900_000, 950_000, 990_000]
    expected = {
        SEREN.durations: [18, 134, 413, 1352, 3271, 27491],
        KALOS.durations: [40, 125, 380, 1546, 2936, 13722],
        KALOS.pretraining: [245, 707, 6283, 43161, 92588, 280331],
        KALOS.debugging: [119, 327, 602, 1128, 1706, 3991],
    }
    for curve, seconds in expected.items():
        for share, value in zip(percentiles, seconds, strict=True):
            assert abs(curve.quantile(share) - value) <= max(1, value // 200)


@given(SHARES, SHARES)
def test_a_quantile_never_falls(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert KALOS.pretraining.quantile(low) <= KALOS.pretraining.quantile(high)


@given(SHARES)
def test_what_is_drawn_between_bounds_is_between_them(share: int) -> None:
    assert 900 < between(SEREN.pretraining, 900, 86_400, share) <= 86_400


@given(st.integers(20, 500_000))
def test_the_share_up_to_a_value_is_the_last_whose_quantile_does_not_pass_it(value: int) -> None:
    share = share_up_to(KALOS.pretraining, value)
    assert KALOS.pretraining.quantile(share) <= max(value, KALOS.pretraining.quantile(0))
    assert share == WHOLE or KALOS.pretraining.quantile(share + 1) > value


def test_the_sizes_are_whole() -> None:
    for cluster in (SEREN, KALOS):
        assert sum(share for _, share in cluster.sizes) == WHOLE


def test_a_stream_is_even_and_the_same_each_time() -> None:
    drawn = [Stream(1, "x").below(10) for _ in range(2)]
    assert drawn[0] == drawn[1]
    stream = Stream(7, "x")
    counts = [0] * 10
    for _ in range(10_000):
        counts[stream.below(10)] += 1
    assert all(850 < count < 1150 for count in counts)


def test_a_pick_follows_the_weights() -> None:
    stream = Stream(7, "x")
    picked = [stream.pick((("a", 1), ("b", 3), ("c", 0))) for _ in range(4_000)]
    assert 900 < picked.count("a") < 1_100
    assert "c" not in picked
