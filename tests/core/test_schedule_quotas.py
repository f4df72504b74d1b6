"""Compute quotas on a fleet: guaranteed, lent, borrowed, held back (FS-17)."""

import pytest

from app.core.errors import Conflict, Invalid
from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Admit, Fund, Preempt, Unfund
from app.core.scheduling.explaining import Reason, explain
from app.core.scheduling.quotas import set_quotas
from tests.core.quotas import fleet, put, standing, team
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Status, check, of


def test_a_team_starts_within_its_quota_funded_and_is_charged() -> None:
    """FS-17: a quota is a leaf with fraction quota / C, and claims need not come to 1."""
    lab = fleet(team("x", 8), team("y", 4))
    put(lab, "mine", "x")
    assert standing(lab) == {"mine": "running funded"}
    assert [made.code for made in of(lab.decisions, Admit)] == ["within-quota"]
    lab.wait(HOUR)
    assert lab.state.budgets["x"].used(lab.now, 0) == 8 * lab.now
    assert lab.state.budgets["x"].claims == [(0, 0, 8, 16)]
    assert explain(lab.state, "mine", lab.now).ratios == (("x", (8, 8)),)


def test_c_is_what_there_is_and_changes() -> None:
    """FS-17: the fraction is of the nodes that run."""
    lab = fleet(team("x", 8))
    events.node_ready(lab.state, "more", lab.now, gpus=16)
    lab.step()
    assert lab.state.budgets["x"].claims == [(0, 0, 8, 32)]


def test_above_its_quota_a_team_borrows_what_another_lends() -> None:
    """FS-17: borrowed time is unfunded and not charged."""
    lab = fleet(team("x", 8, 8), team("y", 8))
    put(lab, "own", "x")
    put(lab, "lent", "x")
    assert standing(lab) == {"own": "running funded", "lent": "running borrowed"}
    lab.wait(HOUR)
    assert lab.state.budgets["x"].used(lab.now, 0) == 8 * lab.now


def test_the_lender_takes_back_its_quota_within_the_grace_of_unfunded_work() -> None:
    """FS-17, FS-3: at once, without any look at ratios; what it took back is not evicted by others again."""
    lab = fleet(team("x", 8, 8), team("y", 8, 8))
    put(lab, "own", "x")
    put(lab, "lent", "x")
    put(lab, "back", "y")
    assert standing(lab) == {"own": "running funded", "lent": "leaving borrowed", "back": "held"}
    assert [made.code for made in of(lab.decisions, Preempt)] == ["quota-reclaimed"]
    lab.wait(10 * SECOND)
    assert standing(lab) == {"own": "running funded", "lent": "waiting", "back": "running funded"}
    lab.wait(24 * HOUR)
    assert standing(lab)["back"] == "running funded"


@pytest.mark.parametrize(("limit", "starts"), [(3, False), (4, True)])
def test_the_borrow_limit_holds(limit: int, starts: bool) -> None:
    """FS-17: up to BorrowLimit, counted on the team's use."""
    lab = fleet(team("x", 8, limit), team("y", 8))
    put(lab, "own", "x")
    put(lab, "lent", "x", 4)
    assert (lab.status("lent") is Status.RUNNING) is starts
    if not starts:
        found = explain(lab.state, "lent", lab.now)
        assert (found.reason, found.earliest) == (Reason.OVER_BORROW_LIMIT, None)


def test_what_a_team_does_not_lend_nobody_else_starts_on() -> None:
    """FS-17: DontLend holds its unused share back, also from work without a team."""
    lab = fleet(team("x", 4, 16), team("y", 8, lends=False), idle_sharing=True)
    put(lab, "own", "x", 4)
    put(lab, "rest", "x", 4)
    put(lab, "more", "x", 1)
    put(lab, "none", None, 1)
    assert standing(lab)["rest"] == "running borrowed"
    for name in ("more", "none"):
        found = explain(lab.state, name, lab.now)
        assert (found.reason, found.blocker, found.free) == (Reason.HELD_BACK, "y", 8)
    put(lab, "y1", "y", 8)
    assert standing(lab)["y1"] == "running funded"


def test_a_quota_is_taken_back_rather_than_what_another_holds_back() -> None:
    """FS-17: eight GPUs are free and DontLend's, so the borrower leaves, and is not moved there either."""
    lab = fleet(team("x", 0, 8), team("y", 8, lends=False), team("z", 8))
    put(lab, "lent", "x")
    put(lab, "back", "z")
    assert standing(lab) == {"lent": "leaving borrowed", "back": "held"}
    lab.wait(MINUTE)
    assert standing(lab) == {"lent": "waiting", "back": "running funded"}
    put(lab, "held", "y")
    assert standing(lab)["held"] == "running funded"


def test_unclaimed_gpus_are_borrowed_only_with_idle_sharing() -> None:
    """FS-17: a ClusterSchedulerConfig holds idle sharing."""
    for shared in (False, True):
        lab = fleet(team("x", 4, 8), team("y", 4), idle_sharing=shared)
        put(lab, "own", "x", 4)
        put(lab, "lent", "x", 4)
        put(lab, "idle", "x", 4)
        assert standing(lab)["lent"] == "running borrowed"
        assert (lab.status("idle") is Status.RUNNING) is shared
        if not shared:
            assert explain(lab.state, "idle", lab.now).reason is Reason.NOTHING_LENT


def test_what_is_lent_is_divided_by_weight() -> None:
    """FS-17: lowest borrowed / weight first; 0 never borrows."""
    lab = fleet(team("x", 0, 16, 1), team("y", 0, 16, 3), team("z", 0, 16, 0), team("lender", 8), nodes=1)
    for number in range(8):
        for name in "xyz":
            lab.submit(f"{name}{number}", name, 1, min_runtime=0)
    lab.step()
    running = [name[0] for name in lab.running()]
    assert (running.count("x"), running.count("y"), running.count("z")) == (2, 6, 0)
    assert explain(lab.state, "z0", lab.now).reason is Reason.MAY_NOT_BORROW
    found = explain(lab.state, "x7", lab.now)
    assert (found.reason, found.ahead) == (Reason.NOTHING_LENT, ("y", "x6"))


def test_who_borrows_most_by_weight_gives_back_first() -> None:
    """FS-17, FS-7: and no more than is needed."""
    lab = fleet(team("x", 0, 8, 1), team("y", 0, 8, 3), team("z", 8), nodes=1)
    for number in range(4):
        put(lab, f"x{number}", "x", 1)
        put(lab, f"y{number}", "y", 1)
    put(lab, "z", "z", 3)
    leaving = sorted(name for name, what in standing(lab).items() if what.startswith("leaving"))
    assert leaving == ["x1", "x2", "x3"]


def test_without_fair_share_priority_then_submit_time_decide_over_all_teams() -> None:
    """FS-17: fair share Disabled; weights are not looked at."""
    lab = fleet(team("x", 0, 8, 0), team("y", 0, 8, 1), team("z", 8), nodes=1, fair_share=False)
    for number, (name, priority) in enumerate([("y", 0), ("x", 0), ("y", 5), ("x", 5)]):
        lab.submit(f"{name}{priority}", name, 4, priority=priority, submit=number, min_runtime=0)
    lab.now = MINUTE
    lab.step()
    assert lab.running() == {"y5", "x5"}
    put(lab, "z", "z", 4)
    assert standing(lab)["x5"] == "leaving borrowed", "among equals the one that lost less, then by name"


def test_within_a_team_lower_priority_yields_if_the_quota_says_so() -> None:
    """FS-17: PreemptTeamTasks LowerPriority switches the in-leaf rule of FS-8 on, Never off."""
    for preempts in (True, False):
        lab = fleet(team("x", 8, preempts=preempts), team("y", 8, lends=False))
        put(lab, "low", "x", 8)
        put(lab, "equal", "x", 8)
        put(lab, "high", "x", 4, priority=1)
        lab.wait(MINUTE)
        assert (lab.status("high") is Status.RUNNING) is preempts
        assert (lab.status("low") is Status.RUNNING) is not preempts
        assert lab.status("equal") is Status.WAITING
        codes = [made.code for made in of(lab.decisions, Preempt)]
        assert codes == (["lower-priority"] if preempts else [])


def test_declared_protection_holds_within_the_team() -> None:
    """FS-17, FS-4: what a team's work declares is protected from its own work of higher priority."""
    lab = fleet(team("x", 8), team("y", 8, lends=False))
    put(lab, "low", "x", min_runtime=HOUR)
    put(lab, "high", "x", priority=1)
    lab.wait(50 * MINUTE)
    assert lab.running() == {"low"}
    lab.wait(HOUR)
    assert lab.running() == {"high"}


def test_a_team_borrows_before_it_evicts_its_own() -> None:
    """FS-17: then its work of higher priority counts within the quota, and the lower is borrowed."""
    lab = fleet(team("x", 8, 8), team("y", 8))
    put(lab, "low", "x")
    put(lab, "high", "x", priority=1)
    assert standing(lab) == {"low": "running borrowed", "high": "running funded"}
    assert [type(made) for made in lab.decisions] == [Admit, Admit, Unfund, Fund]
    put(lab, "back", "y")
    assert standing(lab)["low"] == "leaving borrowed"


def test_borrowed_work_becomes_funded_when_there_is_room_in_the_quota() -> None:
    """FS-17."""
    lab = fleet(team("x", 8, 8), team("y", 8))
    put(lab, "own", "x")
    put(lab, "lent", "x")
    events.finish(lab.state, "own", lab.now)
    lab.step()
    assert standing(lab) == {"lent": "running funded"}


def test_a_lowered_quota_makes_the_newest_work_borrowed() -> None:
    """FS-17, FS-4: but what is protected stays until that is over."""
    lab = fleet(team("x", 16), team("y", 0))
    put(lab, "old", "x", 4)
    put(lab, "safe", "x", 4, min_runtime=HOUR)
    put(lab, "new", "x", 4)
    set_quotas(lab.state, [team("x", 6), team("y", 10)], lab.now)
    lab.step()
    assert standing(lab) == {"old": "running borrowed", "safe": "running funded", "new": "running borrowed"}
    assert [(made.workload, made.code) for made in of(lab.decisions, Unfund)] == [
        ("old", "over-quota"),
        ("new", "over-quota"),
    ]
    set_quotas(lab.state, [team("x", 0), team("y", 16)], lab.now)
    lab.step()
    assert standing(lab)["safe"] == "running funded"
    lab.wait(HOUR)
    assert standing(lab)["safe"] == "running borrowed"


def test_the_same_quotas_again_change_nothing() -> None:
    """FS-17: what is in force may be told as often as one likes."""
    lab = fleet(team("x", 8, 8), team("y", 8))
    put(lab, "own", "x")
    lab.step()
    set_quotas(lab.state, [team("y", 8), team("x", 8, 8)], lab.now)
    assert not lab.state.stirred
    assert lab.step() == []


def test_a_team_without_its_quota_keeps_what_runs_until_somebody_needs_it() -> None:
    """FS-17: a quota that is gone is one of nothing while its work is there."""
    lab = fleet(team("x", 8), team("y", 8))
    put(lab, "mine", "x")
    put(lab, "late", "x")
    set_quotas(lab.state, [team("y", 16)], lab.now)
    lab.step()
    assert standing(lab) == {"mine": "running borrowed", "late": "waiting"}
    put(lab, "wide", "y", 8, 2)
    lab.wait(MINUTE)
    assert standing(lab) == {"mine": "waiting", "late": "waiting", "wide": "running funded"}
    for name in ("mine", "late"):
        events.cancel(lab.state, name, lab.now)
    set_quotas(lab.state, [team("y", 16)], lab.now)
    assert "x" not in lab.state.budgets


def test_quotas_and_budgets_do_not_mix() -> None:
    """FS-17: a fleet has either; when all quotas are gone it is free for budgets."""
    with pytest.raises(Conflict, match=r"split by budgets \(a, b\)"):
        set_quotas(Lab().state, [team("x", 8)], 0)
    lab = fleet(team("x", 8))
    for change in (
        lambda: tree.create_budget(lab.state, "a", "", 1, lab.now),
        lambda: tree.reweight(lab.state, "x", 2, lab.now),
        lambda: tree.move_budget(lab.state, "x", "", lab.now),
        lambda: tree.delete_budget(lab.state, "x", lab.now),
        lambda: tree.set_limits(lab.state, "x", [], lab.now),
    ):
        with pytest.raises(Conflict, match=r"compute quotas \(x\)"):
            change()
    with pytest.raises(Invalid, match="negative"):
        set_quotas(lab.state, [team("x", -1)], lab.now)
    set_quotas(lab.state, [], lab.now)
    tree.create_budget(lab.state, "a", "", 1, lab.now)
    assert list(lab.state.budgets) == ["", "a"]


def test_work_without_a_team_runs_on_what_is_free_and_leaves_first() -> None:
    """FS-17, FS-20."""
    lab = fleet(team("x", 0, 8, 100), team("y", 8))
    put(lab, "stray", None, 8)
    put(lab, "lent", "x", 8)
    put(lab, "back", "y", 8)
    assert standing(lab) == {"stray": "leaving borrowed", "lent": "running borrowed", "back": "held"}


def test_quotas_beyond_what_there_is_are_served_as_they_come() -> None:
    """FS-17: after a node was lost the claims come to more than 1; who is within its quota may then start anyhow."""
    lab = fleet(team("x", 8, lends=False), team("y", 8))
    events.node_lost(lab.state, "n0", lab.now)
    put(lab, "first", "y")
    put(lab, "second", "x")
    assert standing(lab) == {"first": "running funded", "second": "waiting"}
    assert explain(lab.state, "second", lab.now).reason is Reason.QUOTAS_IN_USE
    assert explain(lab.state, "second", lab.now).ahead == ()


def test_a_team_gives_up_what_its_quota_asks_and_borrowers_the_rest() -> None:
    """FS-17, FS-7: two of its own leave for the quota, and one that borrows for the place."""
    lab = fleet(team("x", 12), team("y", 4), team("z", 0, 8))
    for name in ("x1", "x2", "z1", "x3"):
        put(lab, name, name[0], 4)
    put(lab, "high", "x", 8, priority=1)
    [made] = of(lab.decisions, Preempt)
    assert isinstance(made, Preempt)
    assert [name for name, _ in made.victims] == ["x3", "x2", "z1"]
    lab.wait(2 * MINUTE)
    assert standing(lab)["high"] == "running funded"
    assert "x2" not in lab.running(), "GPUs are free for it, but its team has used up its quota"
    check(lab.state)


def test_what_is_in_the_way_explains_itself() -> None:
    """FS-13, FS-17."""
    lab = fleet(team("x", 0, 16), team("y", 16))
    put(lab, "y1", "y", 5)
    put(lab, "y2", "y", 5)
    put(lab, "none", None, 6)
    put(lab, "x1", "x", 6)
    assert explain(lab.state, "none", lab.now).reason is Reason.FRAGMENTED
    put(lab, "y3", "y", 3)
    put(lab, "y4", "y", 3)
    assert explain(lab.state, "none", lab.now).reason is Reason.NOTHING_TO_BORROW
    assert explain(lab.state, "x1", lab.now).reason is Reason.NOTHING_LENT


def test_a_lent_gang_with_a_hole_takes_nothing_that_is_held_back() -> None:
    """FS-17, FS-19."""
    lab = fleet(team("x", 0, 16), team("y", 8, lends=False), nodes=4, idle_sharing=True)
    put(lab, "lent", "x", 8, 2)
    other = next(name for name in sorted(lab.state.hosts) if name not in lab.state.workloads["lent"].places)
    events.node_lost(lab.state, other, lab.now)
    events.node_lost(lab.state, min(lab.state.workloads["lent"].places), lab.now)
    lab.step()
    assert lab.state.workloads["lent"].missing == 1
    put(lab, "held", "y", 8)
    assert standing(lab)["held"] == "running funded"
    check(lab.state)
