"""What is read from a CustomJobSpec."""

from datetime import timedelta
from typing import Any

import pytest

from app.core.errors import Invalid
from app.core.job_spec import MOST_REPLICAS, check, pools, scheduling, settled
from tests.jobs import gpus, pool, spec


def test_an_empty_pool_is_skipped_and_keeps_its_number() -> None:
    """VX: `{}` between two pools."""
    found = pools(spec(pool(), {}, gpus(3)))
    assert [(one.index, one.replicas, one.accelerators) for one in found] == [(0, 1, 0), (2, 3, 8)]


def test_scheduling_has_defaults() -> None:
    """VX-12, VX-14: seven days of running, a day of waiting."""
    plan = scheduling(spec())
    assert (plan.strategy, plan.timeout, plan.max_wait) == ("STANDARD", timedelta(days=7), timedelta(days=1))
    assert (plan.restart_all, plan.disable_retries) == (False, False)


@pytest.mark.parametrize(
    ("given", "name", "read"),
    [
        ({"timeout": "3600s"}, "timeout", timedelta(hours=1)),
        ({"timeout": "1.500s"}, "timeout", timedelta(seconds=1.5)),
        ({"timeout": "0s"}, "timeout", timedelta(days=7)),
        ({"timeout": "315576000000s"}, "timeout", timedelta(days=3650)),
        ({"maxWaitDuration": "0s"}, "max_wait", None),
        ({"maxWaitDuration": "1800s"}, "max_wait", timedelta(minutes=30)),
        ({"strategy": "LOW_COST"}, "strategy", "SPOT"),
        ({"strategy": "ON_DEMAND"}, "strategy", "STANDARD"),
        ({"strategy": "FLEX_START"}, "strategy", "FLEX_START"),
        ({"restartJobOnWorkerRestart": True}, "restart_all", True),
        ({"restartJobOnWorkerRestart": True, "disableRetries": True}, "restart_all", False),
    ],
)
def test_scheduling_as_given(given: dict[str, Any], name: str, read: Any) -> None:
    assert getattr(scheduling(spec(**given)), name) == read


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "must have a first pool"),
        ([{}, pool()], "must have a first pool"),
        ([pool(2)], "exactly one replica, not 2"),
        ([pool()] * 5, "There are at most 4"),
        ([pool(), pool(0)], "Worker pool 1 has 0 replicas"),
        ([pool(machine="")], "no machineSpec.machineType"),
        ([pool(), pool(MOST_REPLICAS)], "at most 10000"),
    ],
)
def test_pools_that_make_no_job_are_refused(given: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(Invalid, match=told):
        check({"workerPoolSpecs": given})


def test_a_specific_reservation_is_seen() -> None:
    given = gpus()
    given["machineSpec"]["reservationAffinity"] = {"reservationAffinityType": "SPECIFIC_RESERVATION"}
    assert [one.reserved for one in pools(spec(pool(), given))] == [False, True]


def test_what_disabled_retries_take_away_is_not_shown() -> None:
    """VX-14: `restartJobOnWorkerRestart` is forced to be false, and false is not told."""
    asked = {"scheduling": {"disableRetries": True, "restartJobOnWorkerRestart": True, "timeout": "60s"}}
    assert settled(asked) == {"scheduling": {"disableRetries": True, "timeout": "60s"}}
    kept = {"scheduling": {"restartJobOnWorkerRestart": True}}
    assert settled(kept) == kept
    assert settled({}) == {}
