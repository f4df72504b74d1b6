"""The order of a queue, and the settings of a fleet's policy, as pure values (FS-2, CT-10)."""

import pytest

from app.core.errors import Invalid
from app.core.fleet_policy import BOUNDS, tell_again, with_settings
from app.core.scheduling.keeping import keep_flags
from app.core.scheduling.policy import DAY, HOUR, MINUTE, Policy
from app.core.scheduling.serving import in_turn
from tests.core.scheduling import Lab


def test_funded_work_is_before_unfunded_and_that_without_a_budget_last() -> None:
    """FS-2: leaves by their ratios, within a leaf by priority."""
    lab = Lab(1)
    lab.run("runs", "a")
    lab.submit("stray", None)
    lab.submit("free", "b", min_runtime=0)
    lab.submit("early", "a")
    lab.submit("urgent", "a", priority=1)
    lab.submit("other", "b")
    assert [one.id for one in in_turn(lab.state)] == ["other", "urgent", "early", "free", "stray"]


def test_only_what_is_not_the_default_is_kept() -> None:
    kept = with_settings({"window": DAY}, {"margin": 20_000, "tick": MINUTE, "sessions_only": True})
    assert kept == {"window": DAY, "margin": 20_000, "sessions_only": True}
    assert with_settings(kept, {"window": None, "sessions_only": False}) == {"margin": 20_000}
    assert Policy(**kept).window == DAY


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_inclusive_and_hold_the_default(name: str) -> None:
    """FS-4: no policy protects longer than eight hours."""
    least, most = BOUNDS[name]
    assert least <= getattr(Policy(), name) <= most
    for value in (least, most):
        assert Policy(**with_settings({}, {name: value})) == Policy(**{name: value})
    for value in (least - 1, most + 1):
        with pytest.raises(Invalid, match=name):
            with_settings({}, {name: value})
    assert BOUNDS["longest_minimum"][1] == 8 * HOUR


def test_after_a_change_everybody_is_looked_at_again() -> None:
    """FS-15: those who waited under other settings, too."""
    assert tell_again({}, 0) == {}
    lab = Lab(2)
    lab.run("runs", "a", replicas=2)
    lab.submit("large", "b", replicas=2)
    lab.step()
    flags = keep_flags(lab.state)
    assert flags["reserve_at"] > flags["now"]
    again = tell_again(flags, 5_000)
    assert (again["stirred"], again["roomier"], again["reserve_at"]) == (True, True, flags["now"])
    assert again.pop("asked") == 5_000, "when the pass is due that is to look"
    assert {**again, "stirred": 0, "roomier": 0, "reserve_at": 0} == {
        **flags,
        "stirred": 0,
        "roomier": 0,
        "reserve_at": 0,
    }
