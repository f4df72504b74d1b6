"""A state that is rebuilt from what is kept of it goes on as if nothing had happened, over random streams of events."""

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.errors import DomainError
from app.core.scheduling import events
from app.core.scheduling.explaining import explain
from app.core.scheduling.history import ChangeKind, TreeChange
from app.core.scheduling.keeping import keep_flags
from app.core.scheduling.quotas import set_quotas
from app.core.scheduling.schedule import next_due
from app.core.scheduling.state import State
from app.core.scheduling.workload import Kind, Status
from tests.core.keeping import Keeper, keep_host, row
from tests.core.scheduling import HOUR, MINUTE, SECOND, Lab, Policy, check
from tests.core.test_schedule_quota_invariants import SPLITS, sharing
from tests.core.test_schedule_quota_invariants import Story as QuotaStory
from tests.core.test_schedule_quota_invariants import steps as quota_steps

WINDOW = 12 * HOUR
BUDGETS = ["a", "b", "c", "d", "e"]
KINDS = ["submit"] * 8 + ["end", "end", "withdraw", "lose", "drain", "repair", "priority", "limit"] + ["tree"] * 4
Step = tuple[int, str, int, int]

steps = st.lists(
    st.tuples(
        st.sampled_from([0, 1, SECOND, 7_300, 30 * SECOND, 10 * MINUTE, HOUR, 5 * HOUR, 13 * HOUR]),
        st.sampled_from([*KINDS, "resize"]),
        st.integers(0, 2**30),
        st.sampled_from([0, 0, 1, 2, 3]),
    ),
    min_size=15,
    max_size=30,
)
thorough = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Story:
    """A fleet that things happen to, and its keeper. `rebuild` says whether a step's state is built again."""

    def __init__(self, *, rebuild: bool) -> None:
        self.lab = Lab()
        self.lab.state = State(Policy(window=WINDOW))
        self.keeper = Keeper()
        self.rebuild = rebuild
        self.count = self.changes = 0
        for node in range(4):
            events.node_ready(self.state, f"n{node}", 0, gpus=8, zone="xy"[node % 2])
        for name, parent in (("a", ""), ("b", ""), ("c", ""), ("d", "c"), ("e", "c")):
            self._change(ChangeKind.CREATE, name, parent, weight=1 + ord(name) % 3)
        for number in range(12):  # the fleet is full from the beginning, of work of every kind
            self._submit(7 * number + 48 * (number % 4) + 144 * number)

    @property
    def state(self) -> State:
        return self.lab.state

    def happen(self, step: Step) -> None:
        wait, what, number, when = step
        if number % 5:
            self.lab.wait(wait)
        else:
            self.lab.now += wait  # passes that were due come late
        self._again(when & 1)
        self._do(what, number)
        self._again(when & 2)
        self.lab.step()

    def _again(self, now: int) -> None:
        if self.rebuild and now:
            self.lab.state = self.keeper.build(self.state)

    def _do(self, what: str, number: int) -> None:
        names, hosts, now = sorted(self.state.workloads), sorted(self.state.hosts), self.lab.now
        if what == "submit":
            for one in range(1 + number % 3):
                self._submit(number * (one + 1))
        elif what == "end" and names:
            name = names[number % len(names)]
            waits = self.state.workloads[name].status is Status.WAITING
            (events.cancel if waits else events.finish)(self.state, name, now)
        elif what == "priority" and names:
            events.set_priority(self.state, names[number % len(names)], number // 100 % 3, now)
        elif what == "withdraw" and self.state.reservations:
            events.cancel(self.state, next(iter(self.state.reservations)), now)
        elif what == "lose" and hosts:
            events.node_lost(self.state, hosts[number % len(hosts)], now)
        elif what == "drain" and hosts:
            for one in range(1 + number % 2):
                events.drain(self.state, hosts[number // (one + 1) % len(hosts)], now)
        elif what == "resize" and hosts:
            events.resize(self.state, hosts[number % len(hosts)], [0, 4, 8, 8, 16][number // 10 % 5], now)
        elif what == "repair":
            for node in range(4):
                events.node_ready(self.state, f"n{node}", now, gpus=8, zone="xy"[node % 2])
        elif what in ("tree", "limit"):
            self._change_tree(what, number)

    def _change_tree(self, what: str, number: int) -> None:
        name, other = BUDGETS[number % 5], ["", *BUDGETS][number // 5 % 6]
        limit = ((number // 30 % 4) * 4 * HOUR, 0), (40 * HOUR, HOUR)
        if what == "limit":
            self._change(ChangeKind.LIMIT, name, limits=limit[: number // 120 % 3])
            return
        kinds = [ChangeKind.REWEIGHT, ChangeKind.MOVE, ChangeKind.DELETE, ChangeKind.CREATE]
        self._change(kinds[number // 30 % 4], name, other, weight=number // 120 % 5)

    def _change(self, kind: ChangeKind, name: str, parent: str = "", **more: object) -> None:
        """Some come late: the state is past their instant."""
        at = max(0, self.lab.now - (self.changes % 3) * SECOND)
        change = TreeChange(self.changes + 1, at, kind, name, parent, **more)  # type: ignore[arg-type]
        try:
            self.keeper.change(self.state, change)
            self.changes += 1
        except DomainError:
            pass

    def _submit(self, number: int) -> None:
        self.count += 1
        leaf = [*BUDGETS, None][number % 6]
        with suppress(DomainError):
            self.lab.submit(
                f"w{self.count}",
                leaf,
                gpus=[1, 2, 4, 8][number // 6 % 4],
                replicas=[1, 1, 1, 2, 3, 4][number // 24 % 6],
                min_runtime=[0, MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 8 * HOUR][number // 144 % 6] if leaf else 0,
                priority=number // 864 % 2,
                resumable=bool(number // 1728 % 4),
                kind=[Kind.BATCH, Kind.SESSION][number // 7000 % 2],
                checkpoint=[0, MINUTE][number // 14000 % 2],
                zone=["", "", "x"][number // 28000 % 3],  # type: ignore[arg-type]
            )


def _facts(state: State) -> list[object]:
    return [
        keep_flags(state),
        {name: row(workload) for name, workload in state.workloads.items()},
        {name: keep_host(host) for name, host in state.hosts.items()},
        [explain(state, name, state.now) for name in sorted(state.workloads)],
        next_due(state, state.now),
    ]


@thorough
@given(steps)
def test_a_rebuilt_state_decides_and_explains_what_the_kept_one_would_have(stream: list[Step]) -> None:
    """FS-14, FS-16: budgets move and come back, nodes are lost and drain, limits are met."""
    twin, story = Story(rebuild=False), Story(rebuild=True)
    for step in stream:
        twin.happen(step)
        story.happen(step)
        assert story.lab.decisions == twin.lab.decisions
        assert [*story.keeper.segments, *story.state.ledger] == twin.state.ledger
        assert _facts(story.state) == _facts(twin.state)


@thorough
@given(steps.map(lambda stream: [step for step in stream if step[1] != "resize"]))
def test_what_a_rebuilt_state_counts_agrees_with_what_runs(stream: list[Step]) -> None:
    story = Story(rebuild=True)
    for step in stream:
        story.happen((*step[:3], 3))
        check(story.keeper.build(story.state))


@thorough
@given(steps)
def test_who_was_not_touched_is_as_before(stream: list[Step]) -> None:
    story = Story(rebuild=False)
    for step in stream:
        rows, hosts = _rows(story.state)
        story.state.touched.clear()
        story.state.touched_hosts.clear()
        story.happen(step)
        later, hosts_later = _rows(story.state)
        assert {name for name in rows | later if rows.get(name) != later.get(name)} <= set(story.state.touched)
        assert {name for name in hosts | hosts_later if hosts.get(name) != hosts_later.get(name)} <= set(
            story.state.touched_hosts
        )


def _rows(state: State) -> tuple[dict[str, object], dict[str, object]]:
    return (
        {name: row(workload) for name, workload in state.workloads.items()},
        {name: keep_host(host) for name, host in state.hosts.items()},
    )


@thorough
@given(sharing, quota_steps.map(lambda stream: stream[:20]), st.integers(0, 2**20))
def test_a_rebuilt_state_with_quotas_decides_what_the_kept_one_would_have(
    how: tuple[bool, bool, int], stream: list[tuple[int, str, int]], when: int
) -> None:
    """FS-17."""
    twin, story, keeper = QuotaStory(how), QuotaStory(how), Keeper()
    for one in (twin, story):
        one.lab.state = State()
        for node in range(4):
            events.node_ready(one.state, f"n{node}", 0, gpus=8)
        set_quotas(one.state, SPLITS[how[2]], 0, fair_share=how[0], idle_sharing=how[1])
    for number, (wait, what, value) in enumerate(stream):
        twin.happen(wait, what, value)
        if when >> number & 1:
            story.lab.state = keeper.build(story.state)
        story.happen(wait, what, value)
        assert story.lab.decisions == twin.lab.decisions
        assert [*keeper.segments, *story.state.ledger] == twin.state.ledger
        assert _facts(story.state) == _facts(twin.state)
