"""A node with more or fewer GPUs than before, as of a regional pool whose quota changes."""

import pytest

from app.core.errors import Invalid
from app.core.scheduling import events
from app.core.scheduling.decisions import Preempt
from tests.core.scheduling import HOUR, MINUTE, Lab, Status, check, of


def test_a_node_that_shrinks_evicts_nobody_and_takes_nobody_until_there_is_room() -> None:
    lab = Lab(1)
    lab.run("first", "a", gpus=4)
    lab.run("second", "b", gpus=4)
    events.resize(lab.state, "n0", 6, lab.now)
    lab.submit("third", None, gpus=1)
    lab.step()
    assert (lab.running(), lab.state.hosts["n0"].free) == ({"first", "second"}, -2)
    assert lab.state.capacity.slope == 6
    events.finish(lab.state, "first", lab.now)
    lab.step()
    assert lab.running() == {"second", "third"}
    check(lab.state)


def test_a_node_that_grows_is_used_at_once() -> None:
    lab = Lab(1)
    lab.run("first", "a")
    lab.submit("large", "b", gpus=16)
    lab.step()
    events.finish(lab.state, "first", lab.now)
    events.resize(lab.state, "n0", 16, lab.now)
    lab.step()
    assert lab.running() == {"large"}
    assert (lab.state.capacity.slope, lab.state.largest_host) == (16, 16)


def test_who_waits_for_victims_to_leave_waits_on_when_the_node_is_too_small_by_then() -> None:
    """FS-7: GPUs are held for a gang only while it will fit."""
    lab = Lab(1)
    lab.run("victim", "b", min_runtime=MINUTE)
    lab.wait(2 * HOUR)
    lab.submit("heir", "a", gpus=8)
    assert of(lab.step(), Preempt)
    assert lab.status("heir") is Status.HELD
    events.resize(lab.state, "n0", 4, lab.now)
    assert lab.status("heir") is Status.WAITING
    lab.wait(2 * MINUTE)
    assert lab.running() == set()
    events.resize(lab.state, "n0", 8, lab.now)
    lab.wait(2 * MINUTE)
    assert lab.running() == {"heir"}


def test_a_node_cannot_have_fewer_than_no_gpus() -> None:
    lab = Lab(1)
    with pytest.raises(Invalid):
        events.resize(lab.state, "n0", -1, lab.now)
