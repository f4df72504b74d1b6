"""Reservations, packing, repairs and holes (FS-9 to FS-11, FS-19)."""

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import (
    Drained,
    Fill,
    Move,
    Reserve,
    Unreserve,
)
from app.core.scheduling.schedule import next_due
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Status, check, of


def test_a_large_gang_reserves_and_starts_at_t() -> None:
    """FS-9."""
    lab = Lab(4)
    for number in range(4):
        lab.run(f"b{number}", "b", min_runtime=(number + 1) * HOUR)
    lab.now += SECOND
    lab.submit("large", "a", gpus=8, replicas=3)
    lab.wait(16 * MINUTE)
    reserved = of(lab.decisions, Reserve)
    assert [made.due for made in reserved if isinstance(made, Reserve)] == [3 * HOUR]
    events.finish(lab.state, "b0", lab.now)
    lab.submit("long", "b", min_runtime=8 * HOUR)
    lab.submit("short", "b", min_runtime=HOUR)
    lab.step()
    assert "long" not in lab.running(), "it would not be over by T"
    assert "short" in lab.running()
    lab.until(3 * HOUR + 2 * MINUTE)
    assert "large" in lab.running()
    assert not lab.state.reservations


def test_a_withdrawn_giant_keeps_its_leaf_from_reserving() -> None:
    """FS-18."""
    lab = Lab(2)
    for number in range(2):
        lab.run(f"b{number}", "b", min_runtime=8 * HOUR)
    lab.submit("giant", "a", gpus=8, replicas=2)
    lab.wait(16 * MINUTE)
    assert set(lab.state.reservations) == {"giant"}
    events.cancel(lab.state, "giant", lab.now)
    lab.submit("giant2", "a", gpus=8, replicas=2)
    lab.wait(HOUR)
    assert not lab.state.reservations
    assert of(lab.decisions, Unreserve)


def test_a_fragmented_fleet_is_packed_for_a_whole_node() -> None:
    """FS-10: the victim moves to another place at once, and once in eight hours."""
    lab = Lab(2)
    for number in range(4):
        lab.run(f"u{number}", None, gpus=2)
    lab.run("half", None, gpus=4)
    for name in ("u1", "u2", "u3"):
        events.finish(lab.state, name, lab.now)
    lab.submit("node", "a", gpus=8)
    lab.step()
    lab.wait(11 * SECOND)
    assert lab.running() == {"node", "u0", "half"}
    moved = of(lab.decisions, Move)
    assert len(moved) == 1
    check(lab.state)


def test_small_gangs_fill_nodes_and_large_ones_take_empty_ones() -> None:
    """FS-10."""
    lab = Lab(3)
    lab.run("one", "a", gpus=1)
    lab.run("two", "a", gpus=2)
    lab.run("node", "a", gpus=8, replicas=2)
    assert lab.state.workloads["two"].places == lab.state.workloads["one"].places


def test_a_host_drains_as_protection_ends() -> None:
    """FS-11."""
    lab = Lab(2)
    lab.run("paid", "a")
    lab.run("free", None)
    for host in ("n0", "n1"):
        events.drain(lab.state, host, lab.now)
    lab.step()
    assert lab.status("free") is Status.LEAVING
    assert lab.status("paid") is Status.RUNNING
    lab.wait(2 * HOUR)
    assert len(of(lab.decisions, Drained)) == 2
    assert lab.running() == set()
    events.node_ready(lab.state, "n0", lab.now)
    lab.step()
    assert lab.running() == {"paid"}


def test_a_hole_is_filled_ahead_of_all_who_wait() -> None:
    """FS-19: lost GPUs are charged no longer."""
    lab = Lab(3)
    lab.run("gang", "a", gpus=8, replicas=2)
    lab.run("free", None)
    lab.submit("waits", "b")
    lost = min(lab.state.workloads["gang"].places)
    lab.wait(5 * SECOND)
    events.node_lost(lab.state, lost, lab.now)
    assert lab.state.budgets["a"].usage.slope == 8
    lab.wait(20 * SECOND)
    check(lab.state)
    assert lab.state.workloads["gang"].missing == 0 or lab.status("gang") is Status.RUNNING


def test_a_hole_that_stays_stops_the_gang() -> None:
    """FS-19."""
    lab = Lab(2)
    lab.run("gang", "a", gpus=8, replicas=2)
    events.node_lost(lab.state, "n1", lab.now)
    lab.step()
    assert next_due(lab.state, lab.now) == 10 * MINUTE
    lab.wait(11 * MINUTE)
    assert lab.status("gang") is Status.WAITING
    events.node_ready(lab.state, "n1", lab.now, gpus=8)
    lab.step()
    assert lab.status("gang") is Status.RUNNING
    assert not of(lab.decisions, Fill)


def test_a_fleet_without_nodes_starts_nobody_until_it_has_some() -> None:
    """FS-2: E is zero until then."""
    lab = Lab(0)
    lab.submit("early", "a")
    assert (lab.step(), lab.ratio("a")) == ([], None)
    lab.now += SECOND
    events.node_ready(lab.state, "n0", lab.now, gpus=8)
    lab.step()
    assert lab.running() == {"early"}


def test_a_reservation_ends_with_its_nodes_and_the_gang_starts_on_others() -> None:
    """FS-9, FS-19: every node is lost, and comes back."""
    lab = Lab(2)
    lab.run("held", "b", replicas=2)
    lab.submit("large", "a", replicas=2)
    lab.wait(20 * MINUTE)
    assert set(lab.state.reservations) == {"large"}
    for name in ("n0", "n1"):
        events.node_lost(lab.state, name, lab.now)
    lab.wait(HOUR)
    check(lab.state)
    assert (lab.running(), lab.state.reservations) == (set(), {})
    for name in ("n0", "n1"):
        events.node_ready(lab.state, name, lab.now, gpus=8)
    lab.step()
    assert lab.running() == {"large"}


def test_a_holder_whose_budget_cannot_pay_evicts_nobody_at_t() -> None:
    """FS-3 before FS-9."""
    lab = Lab(2)
    lab.run("held", "b", replicas=2, min_runtime=8 * HOUR)
    lab.submit("large", "a", replicas=2)
    lab.wait(20 * MINUTE)
    tree.set_limits(lab.state, "a", [(1, 0)], lab.now)
    lab.wait(9 * HOUR)
    assert lab.running() == {"held"}
    tree.set_limits(lab.state, "a", [], lab.now)
    lab.wait(2 * MINUTE)
    assert lab.running() == {"large"}
