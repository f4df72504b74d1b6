"""Protection, eviction, reservations, repairs: the contract with who submits (FS-3 to FS-13, FS-18, FS-19)."""

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import (
    Admit,
    Code,
    Drained,
    Fill,
    Move,
    Preempt,
    Requeue,
    Reserve,
    Unfund,
    Unreserve,
    Warn,
)
from app.core.scheduling.explaining import Reason, explain
from app.core.scheduling.schedule import next_due
from tests.core.scheduling import HOUR, MINUTE, SECOND, Kind, Lab, Policy, Status, check, of


def victims(lab: Lab) -> list[str]:
    return [name for made in lab.decisions if isinstance(made, Preempt) for name, _ in made.victims]


def test_unfunded_work_runs_on_what_is_free_and_leaves_for_funded_work() -> None:
    """FS-3: ten seconds of grace, and the GPUs are held for who evicted it."""
    lab = Lab(1)
    lab.run("free", None)
    lab.submit("paid", "a")
    lab.step()
    assert (lab.status("free"), lab.status("paid")) == (Status.LEAVING, Status.HELD)
    lab.submit("thief", "b")
    lab.wait(10 * SECOND)
    assert lab.running() == {"paid"}
    assert lab.status("free") is Status.WAITING, "it is resumable"


def test_unfunded_work_evicts_nothing_and_is_not_charged() -> None:
    """FS-3."""
    lab = Lab(1)
    lab.run("first", None)
    lab.submit("second", "a", min_runtime=0)
    lab.wait(24 * HOUR)
    assert victims(lab) == []
    events.finish(lab.state, "first", lab.now)
    lab.step()
    lab.wait(HOUR)
    assert lab.state.budgets["a"].used(lab.now, 0) == 0


def test_protected_work_is_left_alone_and_yields_afterwards() -> None:
    """FS-4, FS-5, FS-8: sixty seconds of grace, then requeued with its submit time."""
    lab = Lab(1, policy=Policy(window=24 * HOUR))
    lab.run("mine", "a")
    lab.submit("theirs", "b")
    lab.wait(59 * MINUTE)
    assert lab.running() == {"mine"}
    lab.wait(HOUR)
    assert lab.running() == {"theirs"}
    again = lab.state.workloads["mine"]
    assert (again.status, again.submit, again.slices) == (Status.WAITING, 0, 1)


def test_who_cannot_resume_ends() -> None:
    """FS-5."""
    lab = Lab(1, policy=Policy(window=24 * HOUR))
    lab.run("mine", "a", resumable=False)
    lab.submit("theirs", "b")
    lab.wait(2 * HOUR)
    assert lab.status("mine") is None
    assert [made.resumed for made in of(lab.decisions, Requeue) if isinstance(made, Requeue)] == [False]


def test_a_budget_further_from_its_share_is_not_evicted_for_one_ahead() -> None:
    """FS-8, with the margin."""
    lab = Lab(2, policy=Policy(yields_in_leaf=False))
    lab.run("a1", "a")
    lab.run("b1", "b")
    lab.submit("a2", "a")
    lab.wait(20 * HOUR)
    assert victims(lab) == [], "equal leaves, and the gang's K is on one side"


def test_two_leaves_alternate_no_faster_than_the_minimum_runtime() -> None:
    """Facts: endless eviction loops (Kueue 3779, 14543; Volcano 377)."""
    lab = Lab(1, policy=Policy(window=24 * HOUR))
    lab.run("mine", "a")
    lab.submit("theirs", "b")
    lab.wait(24 * HOUR)
    assert victims(lab)
    for name in ("mine", "theirs"):
        assert victims(lab).count(name) <= 24


def test_needed_one_victim_evicts_one() -> None:
    """FS-7; facts: over-eviction (Volcano 5994, KAI 1565)."""
    lab = Lab(2)
    for number in range(16):
        lab.run(f"u{number}", None, gpus=1)
    lab.submit("one", "a", gpus=1)
    lab.step()
    assert len(victims(lab)) == 1
    lab.submit("node", "a", gpus=8)
    lab.step()
    assert len(victims(lab)) == 1 + 8


def test_gangs_are_evicted_whole_and_the_cheapest_first() -> None:
    """FS-7; facts: partial gangs (Volcano 4607)."""
    lab = Lab(3)
    lab.run("gang", None, gpus=8, replicas=2)
    lab.run("small", None, gpus=8)
    lab.now += HOUR
    lab.submit("paid", "a")
    lab.step()
    assert victims(lab) == ["small"], "the gang would lose twice as much"
    lab.submit("more", "a")
    lab.step()
    lab.wait(11 * SECOND)
    assert lab.running() == {"paid", "more", "small"}, "and the gang left whole"


def test_a_checkpoint_makes_a_victim_cheap() -> None:
    """FS-7."""
    lab = Lab(2)
    lab.run("saved", None, checkpoint=10 * MINUTE)
    lab.run("unsaved", None)
    lab.now += 31 * MINUTE
    lab.submit("paid", "a")
    lab.step()
    assert victims(lab) == ["saved"]


def test_nobody_is_evicted_for_a_gang_that_would_not_fit_then() -> None:
    """FS-7; facts: evictions by quantity alone (Volcano 4925)."""
    lab = Lab(2)
    lab.run("mine", "b", gpus=4, min_runtime=8 * HOUR)
    lab.run("mine2", "b", gpus=5, min_runtime=8 * HOUR)
    lab.run("free", None, gpus=3)
    lab.submit("node", "a", gpus=8)
    lab.wait(5 * MINUTE)
    assert victims(lab) == []


def test_freed_gpus_are_nobody_elses() -> None:
    """FS-7; facts: stolen capacity (Kueue 13797)."""
    lab = Lab(1)
    lab.run("free", None, gpus=8)
    lab.submit("paid", "a", gpus=8)
    lab.step()
    events.finish(lab.state, "free", lab.now + SECOND)
    lab.now += SECOND
    lab.submit("thief", "b", gpus=1)
    lab.step()
    assert lab.status("thief") is Status.WAITING
    lab.wait(10 * SECOND)
    assert "paid" in lab.running()


def test_a_blocked_head_does_not_idle_the_rest() -> None:
    """FS-6; facts: head-of-line blocking (Kueue 4809, Volcano 3003)."""
    lab = Lab(2)
    lab.run("held", "b", gpus=8, min_runtime=8 * HOUR)
    lab.submit("large", "a", gpus=8, replicas=2)
    lab.submit("small", "a", gpus=1)
    lab.step()
    assert lab.status("small") is Status.RUNNING


def test_expired_work_yields_within_its_leaf_to_fewer_slices() -> None:
    """FS-8, and its switch."""
    for policy, expected in ((Policy(), {"second"}), (Policy(yields_in_leaf=False), {"first"})):
        lab = Lab(1, policy=policy)
        lab.run("first", "a")
        lab.submit("second", "a")
        lab.wait(62 * MINUTE)
        assert lab.running() == expected


def test_a_limit_is_reserved_before_and_closes_the_segment_after() -> None:
    """FS-3: protected time is always paid."""
    lab = Lab(1)
    tree.set_limits(lab.state, "a", [(12 * HOUR, 0)], 0)
    lab.run("paid", "a", gpus=8)
    lab.submit("poor", "a", gpus=4, min_runtime=2 * HOUR)
    events.node_ready(lab.state, "n9", 0, gpus=8)
    lab.step()
    assert explain(lab.state, "poor", lab.now).reason is Reason.BUDGET_EXHAUSTED
    lab.wait(2 * HOUR)
    assert [made.at for made in of(lab.decisions, Unfund)] == [90 * MINUTE]
    assert lab.state.budgets["a"].used(lab.now, 0) == 12 * HOUR


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


def test_a_session_is_warned() -> None:
    """FS-12."""
    lab = Lab(1)
    lab.run("notebook", "a", kind=Kind.SESSION)
    lab.wait(31 * MINUTE)
    assert [made.at for made in of(lab.decisions, Warn)] == [30 * MINUTE]


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


def test_killing_and_resubmitting_renews_nothing_that_is_free() -> None:
    """FS-18: what was used counts, so the leaf that did without goes first."""
    lab = Lab(1)
    lab.run("w0", "a")
    lab.submit("theirs", "b")
    lab.wait(50 * MINUTE)
    events.cancel(lab.state, "w0", lab.now)
    lab.submit("w1", "a")
    lab.step()
    assert lab.running() == {"theirs"}


def test_declaring_eight_hours_for_everything_buys_no_more_time() -> None:
    """FS-18: over days, two leaves share as their weights say."""
    lab = Lab(2, policy=Policy(window=24 * HOUR))
    for number in range(4):
        lab.submit(f"a{number}", "a", min_runtime=8 * HOUR)
        lab.submit(f"b{number}", "b", min_runtime=HOUR)
    lab.wait(5 * 24 * HOUR)
    used = [lab.state.budgets[name].used(lab.now, lab.now - 72 * HOUR) for name in ("a", "b")]
    assert abs(used[0] - used[1]) <= 16 * HOUR * 8


def test_a_waiting_workload_explains_itself() -> None:
    """FS-13: a reason from a fixed list, who is ahead, and the earliest start."""
    lab = Lab(1)
    lab.run("mine", "a")
    lab.submit("theirs", "b")
    lab.submit("wide", "b", replicas=2)
    lab.submit("unpaid", None)
    lab.step()
    found = explain(lab.state, "theirs", lab.now)
    assert (found.reason, found.earliest, found.wanted, found.free) == (Reason.GPUS_PROTECTED, HOUR, 8, 0)
    assert [name for name, _ in found.ratios] == ["b"]
    assert explain(lab.state, "wide", lab.now).reason is Reason.FLEET_TOO_SMALL
    assert explain(lab.state, "unpaid", lab.now).reason is Reason.NO_FREE_GPUS
    assert explain(lab.state, "mine", lab.now).reason is Reason.RUNS


def test_a_decision_says_how_the_two_stood() -> None:
    """FS-13."""
    lab = Lab(1, policy=Policy(window=24 * HOUR))
    lab.run("mine", "a")
    lab.submit("theirs", "b")
    lab.wait(2 * HOUR)
    made = next(made for made in lab.decisions if isinstance(made, Preempt))
    assert made.code is Code.FAIR_SHARE
    assert made.standing is not None
    assert (made.standing.preemptor, made.standing.victim) == ("b", "a")


def test_two_runs_of_one_script_decide_the_same() -> None:
    """FS-16."""

    def script() -> list[object]:
        lab = Lab(2)
        for number in range(9):
            lab.submit(f"w{number}", "ab"[number % 2], gpus=[8, 1, 2][number % 3])
            lab.wait(7 * MINUTE)
        return list(lab.decisions)

    assert script() == script()
    assert of(script(), Admit)  # type: ignore[arg-type]
