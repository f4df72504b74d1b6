"""Who gets a project's quota (VX-1)."""

import pytest

from app.core.admission import Waiting, admitted, check_needs
from app.core.errors import LimitExceeded

LIMITS = {"gpus": 8, "cpus": 100}


def waiting(name: str, **needs: int) -> Waiting:
    return Waiting("1", "r", name, needs)


def served(*queue: Waiting, used: dict[str, int] | None = None) -> str:
    return "".join(one.job_id for one in admitted(LIMITS, used or {}, queue))


def test_first_come_first_served() -> None:
    assert served(waiting("a", gpus=4), waiting("b", gpus=4), waiting("c", gpus=1)) == "ab"
    assert served(waiting("a", gpus=4), used={"gpus": 5}) == ""


def test_nobody_overtakes_for_a_metric_that_another_waits_for() -> None:
    """Though it would fit; who needs another metric alone goes on."""
    queue = (waiting("a", gpus=8), waiting("b", gpus=1), waiting("c", cpus=9), waiting("d", gpus=1, cpus=1))
    assert served(*queue, used={"gpus": 1}) == "c"


def test_who_waits_for_one_metric_holds_all_that_he_needs() -> None:
    assert served(waiting("a", gpus=8, cpus=1), waiting("b", cpus=1), used={"gpus": 1}) == ""


def test_who_needs_more_than_a_quota_that_was_lowered_is_passed_over() -> None:
    assert served(waiting("a", gpus=9), waiting("b", gpus=8)) == "b"


def test_what_no_quota_limits_is_free() -> None:
    assert served(waiting("a", tpus=1000), waiting("b")) == "ab"


def test_more_than_the_quota_itself_is_refused_in_the_services_words() -> None:
    """VX-1: with every metric that is exceeded."""
    with pytest.raises(LimitExceeded) as refusal:
        check_needs({"gpus": 9, "cpus": 101, "tpus": 5}, LIMITS)
    assert refusal.value.message == "The following quota metrics exceed quota limits: cpus,gpus"
    check_needs({"gpus": 8}, LIMITS)
