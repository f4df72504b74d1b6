"""How long funded work waited for its first start; work that has not started is censored, not left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.simulate.records import NEVER, Run
from app.simulate.workloads import Job

LARGE = 256
"""GPUs from which on a gang counts as large."""

CLASSES = ("all", "debug", "one node", "several nodes", "large")

_SLACK = 1e-12
"""Products of floats miss the part that is asked for by less than this."""


@dataclass(slots=True)
class Waits:
    """Milliseconds from submit to the first start; of those that did not start, until they left or the trace ended."""

    started: list[int] = field(default_factory=list)
    censored: list[int] = field(default_factory=list)

    def add(self, other: "Waits") -> None:
        """Those, too: seeds are pooled."""
        self.started += other.started
        self.censored += other.censored

    def __len__(self) -> int:
        return len(self.started) + len(self.censored)

    def curve(self) -> list[tuple[int, float]]:
        """At each wait the part that had started by then: the Kaplan-Meier estimate."""
        found: list[tuple[int, float]] = []
        started, censored = sorted(self.started), sorted(self.censored)
        waiting, part, at, gone = len(self), 1.0, 0, 0
        while at < len(started):
            wait = started[at]
            while gone < len(censored) and censored[gone] < wait:
                gone += 1
            same = at
            while same < len(started) and started[same] == wait:
                same += 1
            part *= 1 - (same - at) / (waiting - at - gone)
            found.append((wait, 1 - part))
            at = same
        return found

    def quantile(self, part: float) -> int | None:
        """By when so great a part had started; None: so many never did while they were watched."""
        return at_part(self.curve(), part)


def at_part(curve: Sequence[tuple[int, float]], part: float) -> int | None:
    """The first wait of the curve by which so great a part had started."""
    return next((wait for wait, reached in curve if reached >= part - _SLACK), None)


def waits_of(run: Run) -> dict[str, Waits]:
    """By class, of the funded work that was submitted while it was measured."""
    trace = run.trace
    found = {name: Waits() for name in CLASSES}
    node = max((node.gpus for node in trace.nodes), default=0)
    for job, first, ended in zip(trace.jobs, run.first_start, run.ended, strict=True):
        if job.leaf is None or not job.min_runtime or not trace.begins <= job.submit < trace.ends:
            continue
        for name in classes_of(job, node):
            if first != NEVER:
                found[name].started.append(first - job.submit)
            else:
                found[name].censored.append((trace.ends if ended == NEVER else ended) - job.submit)
    return found


def classes_of(job: Job, node: int) -> Iterable[str]:
    """`all`, and that which the job is of; a node has so many GPUs."""
    if job.debug:
        return "all", "debug"
    if job.size >= LARGE:
        return "all", "large"
    return "all", "one node" if job.size <= node else "several nodes"
