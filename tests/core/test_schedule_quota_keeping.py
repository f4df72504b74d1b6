"""A fleet with compute quotas that is rebuilt from what is kept of it goes on as if nothing had happened (FS-17)."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.scheduling import events, tree
from app.core.scheduling.explaining import explain
from app.core.scheduling.history import ChangeKind, TreeChange
from app.core.scheduling.keeping import keep_flags
from app.core.scheduling.quotas import set_quotas
from app.core.scheduling.schedule import next_due
from app.core.scheduling.state import State
from tests.core.keeping import Keeper, keep_host, row
from tests.core.quotas import fleet, put, team
from tests.core.scheduling import HOUR, check
from tests.core.test_schedule_quota_invariants import Story, quick, sharing, step, steps

rebuilt_steps = st.lists(st.tuples(step, st.sampled_from([0, 0, 1, 2, 3])), max_size=40)


def _facts(state: State) -> list[object]:
    names = sorted(name for name in state.budgets if name)
    return [
        keep_flags(state),
        {name: row(workload) for name, workload in state.workloads.items()},
        {name: keep_host(host) for name, host in state.hosts.items()},
        [explain(state, name, state.now) for name in sorted(state.workloads)],
        [(name, state.budgets[name].used(state.now, state.now - state.policy.window)) for name in names],
        next_due(state, state.now),
    ]


@quick
@given(sharing, rebuilt_steps)
def test_a_rebuilt_fleet_with_quotas_decides_what_the_kept_one_would_have(
    how: tuple[bool, bool, int], stream: list[tuple[tuple[int, str, int], int]]
) -> None:
    """FS-17, FS-14, FS-16: byte for byte, with what is told of it."""
    twin, story, keeper = Story(how), Story(how), Keeper()
    for (wait, what, number), when in stream:
        for one in (twin, story):
            one.lab.wait(wait)
            if one is story and when & 1:
                one.lab.state = keeper.build(one.state)
            one.change(what, number)
            if one is story and when & 2:
                one.lab.state = keeper.build(one.state)
            one.lab.step()
        check(story.state)
        assert story.lab.decisions == twin.lab.decisions
        assert [*keeper.segments, *story.state.ledger] == twin.state.ledger
        assert _facts(story.state) == _facts(twin.state)


@quick
@given(sharing, steps)
def test_who_was_not_touched_is_as_before(how: tuple[bool, bool, int], stream: list[tuple[int, str, int]]) -> None:
    """FS-14: what becomes borrowed or funded is told to who keeps the state."""
    story = Story(how)
    for event in stream:
        before = {name: row(workload) for name, workload in story.state.workloads.items()}
        story.state.touched.clear()
        story.happen(*event)
        after = {name: row(workload) for name, workload in story.state.workloads.items()}
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        assert changed <= set(story.state.touched)


def test_use_of_teams_that_are_gone_is_kept_while_there_are_quotas() -> None:
    """FS-17, FS-14."""
    lab, keeper = fleet(team("x", 8), team("y", 8)), Keeper()
    put(lab, "old", "x")
    lab.wait(HOUR)
    events.finish(lab.state, "old", lab.now)
    set_quotas(lab.state, [team("y", 8)], lab.now)
    again = keeper.build(lab.state)
    assert again.retired["x"].used(lab.now, 0) == lab.state.retired["x"].used(lab.now, 0) > 0
    set_quotas(lab.state, [], lab.now)
    change = TreeChange(1, lab.now, ChangeKind.CREATE, "a", "", 1)
    keeper.change(lab.state, change)
    again = keeper.build(lab.state)
    assert (again.quotas, list(again.budgets)) == (None, ["", "a"])
    tree.create_budget(again, "b", "", 1, lab.now)
