"""What a reader of traces is told, and how its rows become jobs: one rule for every format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.core.errors import Invalid
from app.core.scheduling.policy import DAY, HOUR, MINUTE, SECOND
from app.simulate.distributions import WHOLE
from app.simulate.traces.rows import Row
from app.simulate.workloads import Job, Node, Share, Trace

BUSY = 800_000
"""The part of the fleet that is demanded on average when nobody says how large the fleet is (chosen)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a trace. Times are milliseconds."""

    gpus: int | None = None
    """Of the fleet, in whole nodes. None: so many that the trace demands four fifths of them on average."""
    gpus_per_node: int = 8
    nodes: tuple[Node, ...] = ()
    """The fleet itself; if there are any, `gpus` and `gpus_per_node` are not asked."""
    days: int | None = None
    """The first so many days from the first submission; None: all of it."""
    warmup: int = 0
    """What is simulated before it is measured."""
    leaf: str | None = None
    """To whom a job is charged: `vc`, `user`, `queue` ... as far as the format knows it; None: its first."""
    even: bool = False
    """Whether the leaves have even weights; else as they had GPU-time in the trace."""
    least_minimum: int = MINUTE
    longest_minimum: int = 8 * HOUR
    """A job's minimum runtime is what it ran, between these two, in whole minutes; best effort has none."""
    checkpoint: int | None = 30 * MINUTE
    """How often jobs save their work; the traces do not say."""
    debug_longest: int = 15 * MINUTE
    """A job of at most a node that ran no longer counts as debugging."""


@dataclass(slots=True)
class Omitted:
    """Rows that are no jobs on GPUs, and why."""

    without_gpus: int = 0
    without_times: int = 0
    too_large: int = 0
    later: int = 0

    def __str__(self) -> str:
        reasons = (
            (self.without_gpus, "without GPUs"),
            (self.without_times, "never seen to end"),
            (self.too_large, "larger than the fleet"),
            (self.later, "after the days that were asked for"),
        )
        return ", ".join(f"{count} {reason}" for count, reason in reasons if count) or "none"


def build(name: str, rows: Iterable[Row], reading: Reading, source: str) -> Trace:
    """The trace of these rows. Invalid: nothing is left of them, or they are not charged to what was asked for."""
    omitted = Omitted()
    kept = sorted(_kept(rows, reading, omitted), key=lambda row: (row.submit, row.line))
    if not kept:
        raise Invalid(f"{name}: no job on GPUs is left; rows left out: {omitted}.")
    first = kept[0].submit
    if reading.days is not None:
        within = [row for row in kept if row.submit < first + reading.days * DAY // SECOND]
        omitted.later, kept = len(kept) - len(within), within
    ends = max(reading.warmup + HOUR, _ends(kept, first, reading))
    nodes = _nodes(kept, ends, reading)
    largest = max(node.gpus for node in nodes)
    fitting = [row for row in kept if _fits(row.gpus, largest, nodes)]
    omitted.too_large = len(kept) - len(fitting)
    return Trace(
        name=name,
        jobs=tuple(_job(row, first, largest, reading) for row in fitting),
        nodes=nodes,
        shares=_shares(fitting, reading),
        begins=reading.warmup,
        ends=ends,
        source=f"{source} Rows left out: {omitted}.",
    )


def _kept(rows: Iterable[Row], reading: Reading, omitted: Omitted) -> Iterator[Row]:
    for row in rows:
        if not row.gpus:
            omitted.without_gpus += 1
        elif not row.runtime:
            omitted.without_times += 1
        else:
            yield row


def _ends(rows: list[Row], first: int, reading: Reading) -> int:
    """With days, their end; else the whole hour after the last submission."""
    if reading.days is not None:
        return reading.days * DAY
    return ((rows[-1].submit - first) * SECOND // HOUR + 1) * HOUR


def _nodes(rows: list[Row], ends: int, reading: Reading) -> tuple[Node, ...]:
    if reading.nodes:
        return reading.nodes
    per_node = reading.gpus_per_node
    if reading.gpus is None:
        work = sum(row.gpus * (row.runtime or 0) for row in rows)
        gpus = max(-(-work * SECOND * WHOLE // (ends * BUSY)), max(row.gpus for row in rows))
    else:
        gpus = reading.gpus
        if gpus < per_node or gpus % per_node:
            raise Invalid(f"A fleet of {gpus} GPUs is not a whole number of nodes with {per_node} GPUs.")
    return tuple(Node(f"node-{at:04d}", per_node) for at in range(-(-gpus // per_node)))


def _fits(gpus: int, largest: int, nodes: tuple[Node, ...]) -> bool:
    """Whether the empty fleet can hold it."""
    replicas = _replicas(gpus, largest)
    size = gpus // replicas
    return sum(node.gpus // size for node in nodes) >= replicas


def _replicas(gpus: int, largest: int) -> int:
    """The fewest equal replicas that fit the largest node each."""
    replicas = -(-gpus // largest)
    while gpus % replicas:
        replicas += 1
    return replicas


def _job(row: Row, first: int, largest: int, reading: Reading) -> Job:
    runtime, replicas = (row.runtime or 0) * SECOND, _replicas(row.gpus, largest)
    minimum = min(max(-(-runtime // MINUTE) * MINUTE, reading.least_minimum), reading.longest_minimum)
    return Job(
        id=f"{row.id}@{row.line}",
        submit=(row.submit - first) * SECOND,
        runtime=runtime,
        gpus=row.gpus // replicas,
        replicas=replicas,
        leaf=_leaf(row, reading),
        min_runtime=0 if row.free else minimum,
        checkpoint=reading.checkpoint,
        debug=not row.free and replicas == 1 and runtime <= reading.debug_longest,
    )


def _leaf(row: Row, reading: Reading) -> str:
    if reading.leaf is None:
        return row.owners[0][1]
    owners = dict(row.owners)
    if reading.leaf not in owners:
        raise Invalid(f"The trace knows no {reading.leaf!r} of a job; it knows {', '.join(owners)}.")
    return owners[reading.leaf]


def _shares(rows: list[Row], reading: Reading) -> tuple[Share, ...]:
    """One level of leaves; by the GPU-time of the trace, in thousandths of all, at least one."""
    used: dict[str, int] = {}
    for row in rows:
        leaf = _leaf(row, reading)
        used[leaf] = used.get(leaf, 0) + row.gpus * (row.runtime or 0)
    total = max(1, sum(used.values()))
    return tuple(
        Share(leaf, "", 1 if reading.even else max(1, work * 1000 // total)) for leaf, work in sorted(used.items())
    )
