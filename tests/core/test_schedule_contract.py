"""Protection, eviction and what is paid: the contract with who submits (FS-3 to FS-8, FS-12, FS-18)."""

from app.core.scheduling import events, tree
from app.core.scheduling.decisions import (
    Admit,
    Preempt,
    Requeue,
    Unfund,
    Warn,
)
from app.core.scheduling.explaining import Reason, explain
from tests.core.scheduling import HOUR, MINUTE, SECOND, Kind, Lab, Policy, Status, of


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


def test_a_session_is_warned() -> None:
    """FS-12."""
    lab = Lab(1)
    lab.run("notebook", "a", kind=Kind.SESSION)
    lab.wait(31 * MINUTE)
    assert [made.at for made in of(lab.decisions, Warn)] == [30 * MINUTE]


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
