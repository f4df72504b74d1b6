"""What has come of a stretch of a world's time: who waited, what was delivered, what it cost. Times in milliseconds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.core.shares import Part


class Span(NamedTuple):
    """From `since` up to `until`."""

    since: int
    until: int

    def holds(self, at: int | None) -> bool:
        return at is not None and self.since <= at < self.until


class Work(NamedTuple):
    """A workload: when it came, first ran, and ended (None: not yet), with all its GPUs."""

    submit: int
    started: int | None
    ended: int | None
    gpus: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """A stretch in figures.

    `median_wait` and `longest_wait` are of who first started in it or still waits, from submit to start or to its end;
    None when nobody did. `delivered` is GPU-milliseconds of clusters' nodes by budget, "" for none; `idle` what nobody
    held.
    """

    started: int
    finished: int
    waiting: int
    waiting_gpus: int
    median_wait: int | None
    longest_wait: int | None
    evictions: int
    nodes: int
    micro_usd: int
    delivered: Mapping[str, int]
    idle: int

    @property
    def held(self) -> int:
        return sum(self.delivered.values())

    @property
    def occupancy(self) -> tuple[int, int]:
        """GPU-milliseconds that were held, and those that there were."""
        return self.held, self.held + self.idle


def outlook(
    span: Span, works: Iterable[Work], parts: Iterable[Part], evictions: Iterable[int], nodes: int, micro_usd: int
) -> Outlook:
    """The figures of the stretch; `nodes` are those at its end."""
    known = [work for work in works if work.submit < span.until]
    started = [work for work in known if span.holds(work.started)]
    waiting = [work for work in known if work.started is None and work.ended is None]
    waits = [work.started - work.submit for work in started if work.started is not None]
    waits += [span.until - work.submit for work in waiting]
    delivered, idle = _delivered(parts)
    return Outlook(
        started=len(started),
        finished=sum(span.holds(work.ended) for work in known),
        waiting=len(waiting),
        waiting_gpus=sum(work.gpus for work in waiting),
        median_wait=_median(waits),
        longest_wait=max(waits, default=None),
        evictions=sum(map(span.holds, evictions)),
        nodes=nodes,
        micro_usd=micro_usd,
        delivered=delivered,
        idle=idle,
    )


def _delivered(parts: Iterable[Part]) -> tuple[dict[str, int], int]:
    delivered: Counter[str] = Counter()
    idle = 0
    for part in parts:
        if part.key:
            delivered[part.key[0]] += part.gpu_milliseconds
        else:
            idle += part.gpu_milliseconds
    return dict(sorted(delivered.items())), idle


def _median(values: Sequence[int]) -> int | None:
    """The lower of the two in the middle of an even number."""
    return sorted(values)[(len(values) - 1) // 2] if values else None
