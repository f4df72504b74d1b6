"""Our own policy: the functions that the service calls, told what happens in a simulation (FS-16)."""

from collections.abc import Callable, Sequence

from app.core.scheduling import decisions as d
from app.core.scheduling import events
from app.core.scheduling.schedule import next_due, schedule
from app.core.scheduling.state import State
from app.core.scheduling.tree import create_budget
from app.core.scheduling.workload import Workload
from app.simulate.policy import Drained, Filled, Outcome, Started, Stopped, Unfunded
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Node, Share, Trace

Watch = Callable[[State, list[d.Decision]], None]
"""Sees each pass: its decisions, and the state before closed segments are taken from its ledger."""


class BudgetScheduler:
    """One `State`, and the seconds at which its passes run."""

    def __init__(self, trace: Trace, settings: Settings, watch: Watch | None = None) -> None:
        self.state = State(settings.budget)
        self._watch = watch
        for share in parents_first(trace.shares):
            create_budget(self.state, share.id, share.parent, share.weight, 0)

    def node_ready(self, node: Node, now: int) -> None:
        events.node_ready(self.state, node.id, now, gpus=node.gpus, model=node.model, zone=node.zone)

    def node_lost(self, node: str, now: int) -> None:
        events.node_lost(self.state, node, now)

    def drain(self, node: str, now: int) -> None:
        events.drain(self.state, node, now)

    def submit(self, job: Job, now: int) -> None:
        events.submit(self.state, workload_of(job, self.state.policy.longest_minimum), now)

    def finish(self, job: str, now: int) -> None:
        events.finish(self.state, job, now)

    def cancel(self, job: str, now: int) -> None:
        events.cancel(self.state, job, now)

    def decide(self, now: int) -> list[Outcome]:
        made = schedule(self.state, now)
        if self._watch is not None:
            self._watch(self.state, made)
        self.state.ledger.clear()
        found: list[Outcome] = []
        for decision in made:
            outcome = _outcome(decision)
            if outcome is not None:
                found.append(outcome)
        return found

    def next_due(self, now: int) -> int | None:
        return next_due(self.state, now)


def workload_of(job: Job, longest: int) -> Workload:
    """As its owner submits it; who would declare more than the longest minimum runtime declares that."""
    return Workload(
        job.id,
        leaf=job.leaf,
        gpus=job.gpus,
        replicas=job.replicas,
        min_runtime=min(job.min_runtime, longest),
        priority=job.priority,
        submit=job.submit,
        resumable=job.resumable,
        kind=job.kind,
        checkpoint=job.checkpoint,
        model=job.model,
    )


def parents_first(shares: Sequence[Share]) -> list[Share]:
    """Each after its parent. Whoever reads a trace has seen that all of them hang on the root."""
    below: dict[str, list[Share]] = {}
    for share in shares:
        below.setdefault(share.parent, []).append(share)
    found = list(below.get("", ()))
    for share in found:
        found += below.get(share.id, ())
    return found


def _outcome(decision: d.Decision) -> Outcome | None:
    match decision:
        case d.Admit():
            return Started(decision.workload, decision.funded, decision.protected_until, decision.places)
        case d.Requeue():
            return Stopped(decision.workload, decision.resumed)
        case d.Fill():
            return Filled(decision.workload, decision.places)
        case d.Unfund():
            return Unfunded(decision.workload)
        case d.Drained():
            return Drained(decision.host)
    return None
