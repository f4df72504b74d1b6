"""A node's table and its bill."""

from collections import Counter
from typing import Any

import pytest

from app.core.failures import CAPACITY_MESSAGE
from app.core.instance import Instance, next_due, refused, run, wants_launch
from app.core.node import _VENDOR, LAUNCHABLE, STAGES, Node, vendor_status
from tests.core.builders import FAST, GPU, PROFILES, SEED, ZONE, at, node

FACTS = set(Instance.__dataclass_fields__)


def test_names_are_unique() -> None:
    assert [name for name, times in Counter(stage.name for stage in STAGES).items() if times > 1] == []


def test_marks_are_facts_and_delays_are_in_every_profile() -> None:
    for stage in STAGES:
        assert {*stage.marks, *stage.clears} <= FACTS, stage.name
        assert all(stage.delay in timings.delays for timings in PROFILES.values()), stage.name


def test_every_state_is_reached() -> None:
    """From a place that waits; the grant, which is no stage but a decision, leads to Launching; and who leaves a
    cluster arrives in another."""
    reached = {Node.REQUESTED}
    while True:
        further = {stage.target for stage in STAGES if stage.source in reached}
        further |= {Node.LAUNCHING} if reached & LAUNCHABLE else set()
        further |= {Node.ATTACHING} if Node.DETACHING in reached else set()
        if further <= reached:
            break
        reached |= further
    assert reached == set(Node)


def test_every_live_state_has_a_stop() -> None:
    """And it stands first among its source's rows, so that it wins at equal moments. Who moves away is stopped where
    it arrives."""
    for state in set(Node) - {Node.TERMINATING, Node.GONE, Node.DETACHING}:
        first = next(stage for stage in STAGES if stage.source is state)
        assert "terminate_at" in first.marks
        assert first.target is (Node.GONE if state in LAUNCHABLE else Node.TERMINATING)


def test_only_gone_is_the_end() -> None:
    assert {stage.source for stage in STAGES} == set(Node) - {Node.GONE}


def test_every_state_is_one_of_the_vendor_s(shapes: dict[str, Any]) -> None:
    """HP-W4: `ClusterInstanceStatus`."""
    assert set(_VENDOR) == set(Node)
    assert {vendor_status(state) for state in Node} <= set(shapes["ClusterInstanceStatus"]["enum"])


MARKS = {"boot_after": at(1), "script_at": at(0), "script_returns_at": at(0)}


def launched(**facts: Any) -> Instance:
    """Granted at the beginning, with a lifecycle script: boots at 3, runs at 5 (profile `fast`)."""
    return node(Node.LAUNCHING, **(MARKS | facts))


NO_SCRIPT: dict[str, Any] = {"script_at": None, "script_returns_at": None}
# name: the node, its states with their moments up to the minute, what is billed from and until
HISTORIES: dict[str, tuple[Instance, list[tuple[str, int]], tuple[int | None, int | None]]] = {
    "script": (launched(), [("Booting", 1), ("Configuring", 3), ("Running", 5)], (3, None)),
    "no script": (launched(**NO_SCRIPT), [("Booting", 1), ("Running", 3)], (3, None)),
    "deep check": (
        launched(deep_check_at=at(0)),
        [("Booting", 1), ("Configuring", 3), ("Checking", 5), ("Running", 8)],
        (3, None),
    ),
    "deep check without script": (
        launched(deep_check_at=at(0), **NO_SCRIPT),
        [("Booting", 1), ("Checking", 3), ("Running", 6)],
        (3, None),
    ),
    "launch fails": (launched(launch_fault_at=at(0)), [("Failed", 1), ("Failed", 2)], (None, None)),
    "unhealthy": (launched(unhealthy_at=at(0)), [("Booting", 1), ("Failed", 3), ("Failed", 4)], (None, None)),
    "script fails": (
        launched(script_fault_at=at(0)),
        [("Booting", 1), ("Configuring", 3), ("Failed", 5), ("Failed", 6)],
        (None, 5),
    ),
    "slow boot": (
        launched(boot_after=at(31)),
        [("Booting", 1), ("Configuring", 33), ("Running", 35)],
        (33, None),
    ),
    "stopped before boot": (
        launched(terminate_at=at(2)),
        [("Booting", 1), ("Terminating", 2), ("Gone", 4)],
        (None, None),
    ),
    "stopped in its script": (
        launched(terminate_at=at(4)),
        [("Booting", 1), ("Configuring", 3), ("Terminating", 4), ("Gone", 6)],
        (None, 4),
    ),
    "stopped at the moment of the boot": (
        launched(terminate_at=at(3)),
        [("Booting", 1), ("Terminating", 3), ("Gone", 5)],
        (None, None),
    ),
    "stopped while it runs": (
        launched(terminate_at=at(20)),
        [("Booting", 1), ("Configuring", 3), ("Running", 5), ("Terminating", 20), ("Gone", 22)],
        (None, 20),
    ),
    "withdrawn before any launch": (node(terminate_at=at(9)), [("Gone", 9)], (None, None)),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_histories(name: str) -> None:
    """HP-22, HP-24: billed from the script's start, or from the end of the boot, until it terminates; never before."""
    start, expected, (since, until) = HISTORIES[name]
    end, steps = run(start, at(59), FAST, SEED)
    assert [(fired.target.value, fired.at) for _, fired in steps] == [(state, at(second)) for state, second in expected]
    assert end.billed_from == (None if since is None else at(since))
    assert end.billed_until == (None if until is None else at(until))
    assert end.billings == (since is not None or until is not None)


def test_a_hanging_script_is_charged_until_its_timeout() -> None:
    """HP-23."""
    hanging = launched(script_returns_at=None, script_hang_at=at(0))
    end, steps = run(hanging, at(minutes=5), FAST, SEED)
    assert [fired.stage for _, fired in steps][:3] == ["launched", "booted-to-script", "script-timed-out"]
    assert (steps[1][0].billed_from, end.billed_until) == (at(3), at(63))
    assert end.message == "Lifecycle scripts execution timed out"


def test_each_attempt_that_runs_is_a_cycle_of_its_own() -> None:
    """HP-22, HP-23: the failed script's run time is one interval, the next attempt's the second."""
    once, _ = run(launched(script_fault_at=at(0)), at(6), FAST, SEED)
    again = node(Node.LAUNCHING, **MARKS, billings=once.billings, billed_until=once.billed_until, since=at(10))
    end, _ = run(again, at(59), FAST, SEED)
    assert (end.billings, end.billed_from, end.billed_until) == (2, at(13), at(5))


def test_failure_gives_the_machine_back_and_appoints_the_next_attempt() -> None:
    """HP-6, HP-27."""
    failed, _ = run(launched(unhealthy_at=at(0)), at(3), FAST, SEED)
    assert (failed.status, failed.zone, failed.failures) == (Node.FAILED, None, 1)
    assert (failed.echo_at, failed.launch_after) == (at(3), at(4))
    assert failed.message is not None and "EFA health checks" in failed.message


def test_success_forgets_the_failures() -> None:
    end, _ = run(launched(failures=4, message="no luck"), at(10), FAST, SEED)
    assert (end.status, end.failures, end.message) == (Node.RUNNING, 0, None)


def test_a_refusal_is_an_attempt_without_an_instance() -> None:
    """HP-3, HP-24."""
    waiting = refused(node(), at(7), FAST, SEED)
    assert (waiting.status, waiting.attempt, waiting.instance_id, waiting.launched_at) == (Node.FAILED, 1, None, None)
    assert waiting.message == CAPACITY_MESSAGE.format(GPU)
    assert (waiting.waiting_since, waiting.billings) == (at(7), 0)
    assert refused(waiting, at(8), FAST, SEED).waiting_since == at(7), "who waited longest is woken first"


WISHES = {
    "due": (node(), at(0), True),
    "not yet": (node(launch_after=at(5)), at(4), False),
    "told to stop": (node(terminate_at=at(9)), at(9), False),
    "on its way": (launched(), at(9), False),
    "launches stopped": (node(launch_after=None), at(9), False),
}


@pytest.mark.parametrize("name", WISHES)
def test_who_wants_to_launch(name: str) -> None:
    one, moment, expected = WISHES[name]
    assert wants_launch(one, moment) is expected


DUES = {
    "waits for its launch": (node(launch_after=at(5)), at(5)),
    "a failure's second event comes before the next attempt": (
        node(Node.FAILED, zone=None, echo_at=at(1), launch_after=at(9)),
        at(2),
    ),
    "the next attempt": (node(Node.FAILED, zone=None, launch_after=at(9)), at(9)),
    "rests": (node(Node.RUNNING), None),
    "a running node's launch_after means nothing": (node(Node.RUNNING, launch_after=at(1)), None),
    "told to stop": (node(Node.RUNNING, terminate_at=at(4), zone=ZONE), at(4)),
}


@pytest.mark.parametrize("name", DUES)
def test_when_a_node_needs_looking_at(name: str) -> None:
    one, expected = DUES[name]
    assert next_due(one, FAST.delays) == expected
