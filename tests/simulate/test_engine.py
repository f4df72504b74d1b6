"""The engine: what it tells the policy, and what it keeps of each job (FS-14 to FS-16)."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import Invalid
from app.core.scheduling import events, tree
from app.core.scheduling.decisions import Decision
from app.core.scheduling.schedule import next_due, schedule
from app.core.scheduling.state import State
from app.core.scheduling.usage import Segment
from app.simulate.engine import PATIENCE, run
from app.simulate.execution import Unsound
from app.simulate.policies.budget import BudgetScheduler, parents_first, workload_of
from app.simulate.policy import Drained, Outcome, Started
from app.simulate.records import NEVER, Cause, Run
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Mishap, Node, Share, Trace
from tests.simulate.small import HOUR, MINUTE, SECOND, at_random, trace

SEEDS = st.integers(0, 10_000)


def simulate(of: Trace) -> Run:
    return run(of, BudgetScheduler(of, Settings()))


def works(of: Run) -> list[int]:
    """GPU-milliseconds lost, each time."""
    return [work for _, _, work, _, _ in of.losses]


def causes(of: Run) -> list[int]:
    return [cause for _, _, _, cause, _ in of.losses]


class Eager:
    """Starts whatever fits on the first node that has room for all of it, and stops nothing."""

    def __init__(self) -> None:
        self.free: dict[str, int] = {}
        self.draining: dict[str, None] = {}
        self.waiting: list[Job] = []
        self.running: dict[str, tuple[str, int]] = {}
        self.heard: list[tuple[int, str, str]] = []

    def node_ready(self, node: Node, now: int) -> None:
        self.heard.append((now, "ready", node.id))
        self.free[node.id] = node.gpus
        self.draining.pop(node.id, None)

    def node_lost(self, node: str, now: int) -> None:
        self.heard.append((now, "lost", node))

    def drain(self, node: str, now: int) -> None:
        self.heard.append((now, "drain", node))
        self.draining[node] = None

    def submit(self, job: Job, now: int) -> None:
        self.heard.append((now, "submit", job.id))
        self.waiting.append(job)

    def finish(self, job: str, now: int) -> None:
        self.heard.append((now, "finish", job))
        node, gpus = self.running.pop(job)
        self.free[node] += gpus

    def cancel(self, job: str, now: int) -> None:
        self.heard.append((now, "cancel", job))
        if job in self.running:
            node, gpus = self.running.pop(job)
            self.free[node] += gpus
        self.waiting = [waits for waits in self.waiting if waits.id != job]

    def decide(self, now: int) -> list[Outcome]:
        found: list[Outcome] = []
        for job in list(self.waiting):
            for node, free in self.free.items():
                if free >= job.size and node not in self.draining:
                    self.free[node] -= job.size
                    self.running[job.id] = (node, job.size)
                    self.waiting.remove(job)
                    found.append(Started(job.id, job.min_runtime > 0, now, ((node, job.replicas),)))
                    break
        for node in list(self.draining):
            if node in self.free and all(where != node for where, _ in self.running.values()):
                del self.free[node]
                found.append(Drained(node))
        return found

    def next_due(self, now: int) -> int | None:
        return None


def test_what_happens_within_a_second_is_told_in_one_pass_at_its_end() -> None:
    """FS-15: by the second."""
    policy = Eager()
    made = run(trace(Job("x", 1, 1500, 1), Job("y", 999, 5, 1), Job("z", 1000, 5000, 1)), policy)
    assert [at for at, what, _ in policy.heard if what == "submit"] == [SECOND] * 3
    assert list(made.first_start) == [SECOND] * 3
    assert list(made.ended) == [3 * SECOND, 2 * SECOND, 6 * SECOND]
    assert list(made.done) == [1, 1, 1]


def test_stopped_work_goes_on_from_its_last_checkpoint() -> None:
    """FS-5: unfunded work leaves for funded work, and loses what it did since it last saved."""
    low = Job("low", 0, 10 * HOUR, 8, checkpoint=HOUR)
    high = Job("high", 90 * MINUTE, HOUR, 8, leaf="a", min_runtime=HOUR)
    made = simulate(trace(low, high, nodes=1))
    grace = 10 * SECOND
    assert works(made) == [(30 * MINUTE + grace) * 8]
    assert causes(made) == [Cause.EVICTED]
    began_again = 150 * MINUTE + grace
    assert made.ended[0] == began_again + 9 * HOUR
    assert list(made.starts) == [2, 1]


def test_work_that_cannot_be_resumed_ends_when_it_is_stopped() -> None:
    """FS-5: it ends as PREEMPTED."""
    low = Job("low", 0, 10 * HOUR, 8, resumable=False, checkpoint=HOUR)
    high = Job("high", 90 * MINUTE, HOUR, 8, leaf="a", min_runtime=HOUR)
    made = simulate(trace(low, high, nodes=1))
    assert made.ended[0] == 90 * MINUTE + 10 * SECOND
    assert list(made.done) == [0, 1]
    assert works(made) == [(90 * MINUTE + 10 * SECOND) * 8]


def test_a_gang_with_a_hole_makes_no_progress_until_it_is_filled() -> None:
    """FS-19: lost GPUs are charged no longer, the rest is; the gang is back at its last checkpoint."""
    gang = Job("gang", 0, 4 * HOUR, 8, replicas=2, leaf="a", min_runtime=HOUR, checkpoint=HOUR)
    made = simulate(trace(gang, nodes=2, mishaps=(Mishap(90 * MINUTE, "n0", True, 5 * MINUTE),)))
    assert causes(made) == [Cause.NODE]
    assert works(made) == [30 * MINUTE * 16]
    assert made.ended[0] == 95 * MINUTE + 3 * HOUR
    assert [(gpus, start, end) for _, gpus, start, end, _ in made.segments] == [
        (16, 0, 90 * MINUTE),
        (8, 90 * MINUTE, 95 * MINUTE),
        (16, 95 * MINUTE, 95 * MINUTE + 3 * HOUR),
    ]
    assert made.capacity == [(0, 16), (90 * MINUTE, 8), (95 * MINUTE, 16)]
    assert made.starts[0] == 1


def test_a_gang_whose_hole_stays_waits_again_and_was_not_evicted() -> None:
    """FS-19: after ten minutes the gang is requeued."""
    gang = Job("gang", 0, 4 * HOUR, 8, replicas=2, leaf="a", min_runtime=HOUR, checkpoint=HOUR)
    made = simulate(trace(gang, nodes=2, mishaps=(Mishap(90 * MINUTE, "n0", True, HOUR),)))
    assert causes(made) == [Cause.NODE]
    assert made.starts[0] == 2
    assert made.ended[0] == 150 * MINUTE + 3 * HOUR


def test_a_repair_that_work_holds_up_for_too_long_needs_a_person() -> None:
    """It is stopped by somebody after eight hours and a grace, goes on elsewhere, and the repair begins."""
    policy = Eager()
    long = Job("long", 0, 20 * HOUR, 8, leaf="a", min_runtime=HOUR, checkpoint=HOUR)
    made = run(trace(long, nodes=2, mishaps=(Mishap(HOUR, "n0", False, HOUR),)), policy)
    [repair] = made.repairs
    stopped = HOUR + PATIENCE + SECOND
    assert (repair.person, repair.reported, repair.began, repair.back) == (True, HOUR, stopped, stopped + HOUR)
    assert causes(made) == [Cause.PERSON]
    assert works(made) == [(MINUTE + SECOND) * 8]
    assert made.ended[0] == stopped + 11 * HOUR
    assert (stopped, "cancel", "long") in policy.heard


def test_a_repair_of_ours_needs_nobody() -> None:
    """FS-11: the node loses its work as protection ends."""
    long = Job("long", 0, 20 * HOUR, 8, leaf="a", min_runtime=8 * HOUR, checkpoint=HOUR)
    made = simulate(trace(long, nodes=1, hours=48, mishaps=(Mishap(SECOND, "n0", False, HOUR),)))
    [repair] = made.repairs
    assert (repair.person, repair.began) == (False, 8 * HOUR + MINUTE)
    assert made.capacity == [(0, 8), (8 * HOUR + MINUTE, 0), (9 * HOUR + MINUTE, 8)]


def test_an_owner_takes_back_what_waits_and_what_runs() -> None:
    running = Job("running", 0, 20 * HOUR, 4, withdraw=HOUR)
    waiting = Job("waiting", SECOND, 20 * HOUR, 8, withdraw=2 * HOUR - 1)
    done = Job("done", 0, HOUR, 4, leaf="a", min_runtime=HOUR, withdraw=3 * HOUR)
    made = simulate(trace(running, done, waiting, nodes=1))
    assert list(made.starts) == [1, 1, 1]
    assert list(made.ended) == [HOUR, HOUR, 2 * HOUR]
    assert list(made.done) == [0, 1, 0]


def test_a_policy_that_does_the_impossible_is_found_out() -> None:
    policy = Eager()
    both = trace(Job("x", 0, HOUR, 8), Job("y", 0, HOUR, 8), nodes=1)
    ready = policy.node_ready
    policy.node_ready = lambda node, now: ready(Node(node.id, 16), now)  # type: ignore[method-assign]
    with pytest.raises(Unsound, match="Job y was put on n0"):
        run(both, policy)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda t: Trace("t", t.jobs, t.nodes, [Share("a", "b", 1), Share("b", "a", 1)], 0, HOUR), "hang on the root"),
        (lambda t: Trace("t", t.jobs, [], t.shares, HOUR, HOUR), "must end later"),
        (lambda t: Trace("t", [Job("x", 0, 0, 1), Job("x", 0, 0, 1)], t.nodes, t.shares, 0, HOUR), "called 'x'"),
        (lambda t: Trace("t", [Job("x", 5, 0, 1), Job("y", 0, 0, 1)], t.nodes, t.shares, 0, HOUR), "Sort the jobs"),
        (lambda t: Trace("t", [Job("x", 0, 0, 1, leaf="c")], t.nodes, t.shares, 0, HOUR), "charged to 'c'"),
        (lambda t: Trace("t", [Job("x", 0, 0, 0)], t.nodes, t.shares, 0, HOUR), "Job x needs"),
        (lambda t: Trace("t", [], t.nodes, t.shares, 0, HOUR, [Mishap(0, "n9", True, 1)]), "names node n9"),
    ],
)
def test_a_trace_that_contradicts_itself_is_refused(broken: Callable[[Trace], Trace], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        run(broken(trace()), Eager())


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_same_trace_twice_leaves_the_same_records(seed: int) -> None:
    """FS-16: same input, same decisions."""
    assert simulate(at_random(seed)) == simulate(at_random(seed))


class Script:
    """Writes down what the engine tells the policy."""

    def __init__(self, of: BudgetScheduler) -> None:
        self.of = of
        self.calls: list[tuple[str, int, object]] = []

    def node_ready(self, node: Node, now: int) -> None:
        self.calls.append(("ready", now, node))
        self.of.node_ready(node, now)

    def node_lost(self, node: str, now: int) -> None:
        self.calls.append(("lost", now, node))
        self.of.node_lost(node, now)

    def drain(self, node: str, now: int) -> None:
        self.calls.append(("drain", now, node))
        self.of.drain(node, now)

    def submit(self, job: Job, now: int) -> None:
        self.calls.append(("submit", now, job))
        self.of.submit(job, now)

    def finish(self, job: str, now: int) -> None:
        self.calls.append(("finish", now, job))
        self.of.finish(job, now)

    def cancel(self, job: str, now: int) -> None:
        self.calls.append(("cancel", now, job))
        self.of.cancel(job, now)

    def decide(self, now: int) -> list[Outcome]:
        return self.of.decide(now)

    def next_due(self, now: int) -> int | None:
        return self.of.next_due(now)


def directly(of: Trace, calls: list[tuple[str, int, object]]) -> list[Decision]:
    """The script, told to a `State` as the service does: passes at events and when they are due."""
    state = State()
    for share in parents_first(of.shares):
        tree.create_budget(state, share.id, share.parent, share.weight, 0)
    made: list[Decision] = []
    by_second: dict[int, list[tuple[str, object]]] = {}
    for what, now, of_what in calls:
        by_second.setdefault(now, []).append((what, of_what))
    due: int | None = 0
    while (now := min([at for at in (due, *by_second) if at is not None], default=of.ends)) < of.ends:
        for what, of_what in by_second.pop(now, ()):
            match of_what:
                case Node():
                    events.node_ready(state, of_what.id, now, gpus=of_what.gpus)
                case Job():
                    events.submit(state, workload_of(of_what, state.policy.longest_minimum), now)
                case str():
                    tell = {"lost": events.node_lost, "drain": events.drain, "finish": events.finish}
                    tell.get(what, events.cancel)(state, of_what, now)
        made += schedule(state, now)
        due = next_due(state, now)
    return made


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_simulator_and_the_service_decide_alike_byte_for_byte(seed: int) -> None:
    """FS-16: one script, through the engine and straight to the functions that the service calls."""
    of = at_random(seed)
    decided: list[Decision] = []
    script = Script(BudgetScheduler(of, Settings(), lambda _state, made: decided.extend(made)))
    run(of, script)
    assert decided
    assert repr(directly(of, script.calls)).encode() == repr(decided).encode()


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_engine_and_the_ledger_keep_the_same_segments(seed: int) -> None:
    """FS-14: GPU-time by job and kind, and by leaf, is what the policy's own ledger says."""
    of = at_random(seed)
    ledger: list[Segment] = []
    last: list[State] = []

    def watch(state: State, _made: list[Decision]) -> None:
        ledger.extend(state.ledger)
        last[:] = [state]

    made = run(of, BudgetScheduler(of, Settings(), watch))
    state = last[0]
    state.advance(of.ends)
    for workload in state.workloads.values():
        state.charge(workload, 0, funded=False)
    ledger += state.ledger
    theirs: Counter[tuple[str, bool]] = Counter()
    for segment in ledger:
        theirs[segment.workload, segment.funded] += segment.gpus * (segment.end - segment.start)
    ours: Counter[tuple[str, bool]] = Counter()
    for job, gpus, start, end, funded in made.segments:
        ours[of.jobs[job].id, bool(funded)] += gpus * (end - start)
    assert ours == theirs


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_nobody_is_done_before_its_work_is(seed: int) -> None:
    """Each job holds its gang for as long as it works, and what it lost it does again."""
    of = at_random(seed, mishaps=0)
    made = simulate(of)
    held = Counter[int]()
    for job, gpus, start, end, _ in made.segments:
        held[job] += gpus * (end - start)
    lost = Counter[int]()
    for _, job, work, _, _ in made.losses:
        lost[job] += work
    for number, job in enumerate(of.jobs):
        spare = held[number] - lost[number] - job.runtime * job.size
        if made.done[number]:
            assert 0 <= spare <= made.starts[number] * SECOND * job.size
        elif made.ended[number] == NEVER:
            assert spare <= 0
