"""The simulation: it jumps from event to event, tells the policy what happens, and keeps what the policy decides.

All that happens within one second is told in one pass, at that second's end (FS-15).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from heapq import heappop, heappush

from app.core.scheduling.policy import HOUR, MINUTE, SECOND
from app.simulate.checking import check
from app.simulate.execution import Execution
from app.simulate.policy import Drained, Filled, Outcome, Scheduler, Started, Stopped, Unfunded
from app.simulate.records import NEVER, Cause, Repair, Run
from app.simulate.workloads import Mishap, Node, Trace

PATIENCE = 8 * HOUR + MINUTE
"""What still holds up a repair after the longest minimum runtime and a grace needs a person."""

_PROGRESS = 6 * HOUR

_BACK, _FINISH, _WITHDRAW, _MISHAP, _IMPATIENT = range(5)
"""The order of events of one second; submissions come last."""


def run(
    trace: Trace,
    scheduler: Scheduler,
    *,
    policy: str = "",
    progress: Callable[[int], None] | None = None,
) -> Run:
    """The trace under the policy, to its end. `progress` hears the simulated time now and then.

    Invalid: the trace contradicts itself. Unsound: the policy did what no fleet can.
    """
    check(trace)
    engine = _Engine(trace, scheduler, policy)
    engine.run(progress or (lambda _now: None))
    return engine.record


def second_of(at: int) -> int:
    """The second at whose end it is told."""
    return -(-at // SECOND) * SECOND


class _Engine:
    def __init__(self, trace: Trace, scheduler: Scheduler, policy: str) -> None:
        self.trace = trace
        self.scheduler = scheduler
        self.record = Run.of(trace, policy)
        self.execution = Execution(self.record)
        self.now = 0
        self.numbers = {job.id: number for number, job in enumerate(trace.jobs)}
        self.nodes = {node.id: node for node in trace.nodes}
        self.repairs: dict[str, Repair] = {}
        """Of nodes that are reported and not back."""
        self.durations: dict[str, int] = {}
        self.timers: list[tuple[int, int, int, int]] = []
        """When, what, of which job or mishap, and for which end of a job it was set."""

    def run(self, progress: Callable[[int], None]) -> None:
        for node in self.trace.nodes:
            self._ready(node)
        for number, mishap in enumerate(self.trace.mishaps):
            heappush(self.timers, (second_of(mishap.at), _MISHAP, number, 0))
        jobs, submitted, ends, timers = self.trace.jobs, 0, self.trace.ends, self.timers
        due, told = self._pass(), 0
        while True:
            arrival = second_of(jobs[submitted].submit) if submitted < len(jobs) else ends
            self.now = now = min(arrival, timers[0][0] if timers else ends, ends if due is None else due)
            if now >= ends:
                break
            while timers and timers[0][0] <= now:
                self._event(*heappop(timers))
            while submitted < len(jobs) and jobs[submitted].submit <= now:
                self._submit(submitted)
                submitted += 1
            due = self._pass()
            if now >= told:
                progress(now)
                told = now - now % _PROGRESS + _PROGRESS
        self.now = ends
        self.execution.close(ends)
        progress(ends)

    def _pass(self) -> int | None:
        now, decide, next_due = self.now, self.scheduler.decide, self.scheduler.next_due
        while True:
            self.record.passes += 1
            outcomes = decide(now)
            if outcomes:
                self._apply(outcomes)
            due = next_due(now)
            if due is None or due > now:
                return due

    # What happens

    def _event(self, _at: int, kind: int, number: int, mark: int) -> None:
        if kind == _FINISH:
            if self.execution.ends[number] == mark:
                self.scheduler.finish(self.trace.jobs[number].id, self.now)
                self.record.done[number] = 1
                self._leave(number)
        elif kind == _WITHDRAW:
            if self.record.ended[number] == NEVER:
                self.scheduler.cancel(self.trace.jobs[number].id, self.now)
                self._leave(number)
        elif kind == _MISHAP:
            self._break(number, self.trace.mishaps[number])
        elif kind == _BACK:
            self._return(self.nodes[self.trace.mishaps[number].node])
        else:
            self._step_in(self.trace.mishaps[number].node, self.record.repairs[mark])

    def _submit(self, number: int) -> None:
        job = self.trace.jobs[number]
        self.scheduler.submit(job, self.now)
        if job.withdraw is not None:
            at = max(second_of(job.withdraw), self.now + SECOND)
            heappush(self.timers, (at, _WITHDRAW, number, 0))

    def _leave(self, number: int) -> None:
        self.execution.release(number, self.now)
        self.record.ended[number] = self.now

    # Nodes

    def _ready(self, node: Node) -> None:
        self.scheduler.node_ready(node, self.now)
        self.execution.ready(node, self.now)

    def _break(self, number: int, mishap: Mishap) -> None:
        name = mishap.node
        repair = self.repairs.get(name)
        if repair is not None and (repair.began != NEVER or not mishap.gone):
            return  # it is known to be broken
        if repair is None:
            repair = self.repairs[name] = Repair(name, self.now)
            self.record.repairs.append(repair)
        self.durations[name] = number
        if mishap.gone:
            self.scheduler.node_lost(name, self.now)
            self.execution.lose(name, self.now)
            self._begin(name)
        else:
            self.scheduler.drain(name, self.now)
            self.execution.drain(name, self.now)
            at = self.now + PATIENCE + SECOND
            heappush(self.timers, (at, _IMPATIENT, number, len(self.record.repairs) - 1))

    def _begin(self, name: str) -> None:
        """The node's repair begins."""
        number = self.durations[name]
        self.repairs[name].began = self.now
        back = max(second_of(self.now + self.trace.mishaps[number].repair), self.now + SECOND)
        heappush(self.timers, (back, _BACK, number, 0))

    def _return(self, node: Node) -> None:
        self.repairs.pop(node.id).back = self.now
        self._ready(node)

    def _step_in(self, name: str, repair: Repair) -> None:
        """Somebody stops what still runs on the node, and submits it again if it can go on."""
        if repair.began != NEVER:
            return
        repair.person = True
        for number in self.execution.residents(name):
            job = self.trace.jobs[number]
            self.scheduler.cancel(job.id, self.now)
            self.execution.interrupt(number, self.now, Cause.PERSON)
            self.execution.release(number, self.now)
            if job.resumable:
                self.scheduler.submit(replace(job, submit=self.now), self.now)
            else:
                self.record.ended[number] = self.now

    # What the policy decides

    def _apply(self, outcomes: Iterable[Outcome]) -> None:
        now, numbers, execution = self.now, self.numbers, self.execution
        for outcome in outcomes:
            match outcome:
                case Started():
                    number = numbers[outcome.job]
                    execution.start(number, now, outcome.places, outcome.funded)
                    self._expect(number)
                case Stopped():
                    self._stop(numbers[outcome.job], outcome.requeued)
                case Filled():
                    number = numbers[outcome.job]
                    execution.fill(number, now, outcome.places)
                    self._expect(number)
                case Unfunded():
                    execution.unfund(numbers[outcome.job], now)
                case Drained():
                    execution.drained(outcome.node, now)
                    self._begin(outcome.node)

    def _stop(self, number: int, requeued: bool) -> None:
        self.execution.interrupt(number, self.now, Cause.EVICTED)
        if requeued:
            self.execution.release(number, self.now)
        else:
            self._leave(number)

    def _expect(self, number: int) -> None:
        """It will be done with its work then, unless it stops before."""
        end = self.execution.ends[number]
        if end != NEVER:
            heappush(self.timers, (end, _FINISH, number, end))
