"""Records and explanations (FS-13)."""

from app.core.scheduling.comparing import rivals
from app.core.scheduling.decisions import (
    Code,
    Preempt,
)
from app.core.scheduling.explaining import Reason, explain
from tests.core.scheduling import HOUR, Lab, Policy


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


def test_a_gang_of_any_size_waits_and_says_why() -> None:
    lab = Lab(1)
    lab.submit("huge", "a", gpus=10**9, replicas=10**9)
    assert lab.step() == []
    assert explain(lab.state, "huge", 0).reason is Reason.REPLICA_TOO_LARGE


def test_a_gang_whose_own_claim_is_too_small_is_told_the_figures() -> None:
    """FS-8, FS-13: what it commits itself to counts."""
    lab = Lab(1, policy=Policy(window=24 * HOUR))
    lab.run("mine", "a")
    lab.submit("theirs", "b", min_runtime=8 * HOUR)
    lab.wait(HOUR + 600_000)
    found = explain(lab.state, "theirs", lab.now)
    assert found.reason is Reason.NOT_ITS_TURN
    [rival] = rivals(lab.state, lab.state.workloads["theirs"])
    assert (rival.own, rival.other, rival.yields) == ("b", "a", False)
    assert rival.own_ratio[0] * rival.other_ratio[1] > rival.other_ratio[0] * rival.own_ratio[1]
    assert rivals(lab.state, lab.state.workloads["mine"]) == []
