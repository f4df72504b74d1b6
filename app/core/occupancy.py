"""Nodes over time as a chart shows them: who was on which, protected until when, and what was kept for whom (FS-13).

All times are milliseconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A node of the chart; one that has gone has no state."""

    node: str
    group: str
    gpus: int
    state: str | None = None
    marked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Stay:
    """A workload on a node; `until` None: it is there still. `evicted`: it was made to leave."""

    node: str
    workload: str
    shown: str
    budget: str | None
    gpus: int
    since: int
    until: int | None = None
    funded: bool = False
    protected_until: int | None = None
    evicted: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """Hosts that are reserved for a workload; it may evict there from `due` on, the T of FS-9."""

    workload: str
    hosts: Sequence[str]
    since: int
    due: int
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Occupancy:
    """A cluster's nodes within [since, until), as of `now`; `is_cut`: there were more stays than are told."""

    rows: Sequence[Row]
    stays: Sequence[Stay]
    kept: Sequence[Kept]
    since: int
    until: int
    now: int
    is_cut: bool = False


def paired(changes: Iterable[tuple[str, int, Sequence[str] | None, int | None]]) -> list[Kept]:
    """Reservations from what began and ended them, in the order of time: whose, when, and of a beginning its hosts and
    T. One that follows on another of the same workload ends it."""
    going: dict[str, Kept] = {}
    found: list[Kept] = []
    for workload, at, hosts, due in changes:
        before = going.pop(workload, None)
        if before is not None:
            found.append(Kept(workload, before.hosts, before.since, before.due, at))
        if hosts is not None and due is not None:
            going[workload] = Kept(workload, hosts, at, due)
    return [*found, *going.values()]
