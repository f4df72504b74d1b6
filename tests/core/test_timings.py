"""How long a retry waits, and that the contracts' timers are the same in every profile."""

from datetime import timedelta

import pytest

from app.core.timings import MIN_COUNT_TIMEOUT, PROFILES
from tests.core.builders import REALISTIC


@pytest.mark.parametrize(("failures", "minutes"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 15), (6, 15), (40, 15)], ids=str)
def test_realistic_retries(failures: int, minutes: int) -> None:
    """HP-6: 1, 2, 4, 8, then every 15 minutes; the seed adds a tenth at most."""
    waits = {REALISTIC.retry(failures, seed, f"n-{seed}") for seed in range(200)}
    base = timedelta(minutes=minutes)
    assert all(base <= wait <= base * 11 / 10 for wait in waits)
    assert len(waits) > 3, "the jitter spreads"


@pytest.mark.parametrize(
    ("failures", "minutes"),
    [(293, 5), (300, 5), (301, 10), (308, 10), (309, 20), (341, 320), (430, 525_600), (10**9, 525_600)],
)
def test_retries_after_a_day(failures: int, minutes: int) -> None:
    """CT-1, HP-6: the wait doubles with every eight attempts, up to a year."""
    assert PROFILES["fast"].retry(failures, 7, "n") == timedelta(minutes=minutes)


def test_the_jitter_is_the_seed_s() -> None:
    """RL-10: equal for equal seeds, different for different nodes, attempts and seeds."""
    waits = [REALISTIC.retry(5, seed, node) for seed in (1, 2) for node in ("a", "b", "c")]
    assert waits == [REALISTIC.retry(5, seed, node) for seed in (1, 2) for node in ("a", "b", "c")]
    assert len(set(waits)) > 1


@pytest.mark.parametrize("profile", ["instant", "fast"])
def test_quick_profiles_wait_without_jitter(profile: str) -> None:
    waits = [PROFILES[profile].retry(failures, 7, "n") for failures in range(1, 5)]
    assert waits == [timedelta(seconds=seconds) for seconds in (1, 2, 4, 8)]


def test_profiles_have_the_same_stages() -> None:
    """CT-16."""
    assert len({frozenset(timings.delays) for timings in PROFILES.values()}) == 1
    assert all(
        delay % timedelta(seconds=1) == timedelta(0) for one in PROFILES.values() for delay in one.delays.values()
    )


def test_three_hours_are_in_no_profile() -> None:
    """HP-17: virtual time in every timing profile."""
    assert timedelta(hours=3) == MIN_COUNT_TIMEOUT
    assert not any("min" in name for timings in PROFILES.values() for name in timings.delays)
