"""Which workloads were on which nodes of a cluster within a window of time (FS-13). Worked out when asked."""

from collections.abc import Iterable, Sequence

from app import catalog
from app.core.cluster import Cluster
from app.core.errors import Invalid
from app.core.occupancy import Occupancy, Row, Stay, paired
from app.core.scheduling.policy import DAY, HOUR
from app.core.scope import Scope
from app.core.times import from_millis, to_millis
from app.store import hosts, occupancy
from app.store.db import Tx
from app.store.hosts import HostOf
from app.store.occupancy import Admitted, Reserving, StayRow
from app.usecases import clocks
from app.usecases.hosts import AWAY

MOST_STAYS = 20_000
LONGEST = 366 * DAY
_LONG_AGO = 8 * DAY
"""A reservation that is older has ended before the window begins: nothing is reserved for longer than a wait and the
longest minimum runtime."""


async def occupancy_of(tx: Tx, world: str, cluster: Cluster, since: int, until: int) -> Occupancy:
    """The cluster's nodes with what was on them within [since, until), in milliseconds. Invalid: no such window."""
    if not 0 <= since < until or until - since > LONGEST:
        raise Invalid(f"The window must end after it begins, and be of {LONGEST // DAY} days at most.")
    now, scope, fleet = to_millis((await clocks.read(tx, world)).now), Scope(world, *_home(cluster)), cluster.cluster_id
    rows = await occupancy.stays(tx, scope, fleet, from_millis(since), from_millis(until), MOST_STAYS + 1)
    names = list(dict.fromkeys(row.workload for row in rows))
    bound = await occupancy.admitted(tx, scope, fleet, names, until)
    evicted = await occupancy.evicted(tx, scope, fleet, since - HOUR, until)
    changes = await occupancy.reserving(tx, scope, fleet, since - _LONG_AGO, until)
    told = rows[:MOST_STAYS]
    return Occupancy(
        rows=_rows(await hosts.shown(tx, scope, fleet), told),
        stays=_stays(told, bound, evicted),
        kept=[one for one in paired(map(_change, changes)) if one.until is None or one.until > since],
        since=since,
        until=until,
        now=now,
        is_cut=len(rows) > MOST_STAYS,
    )


def _home(cluster: Cluster) -> tuple[str, str]:
    return cluster.account, cluster.region


def _rows(known: Iterable[HostOf], stays: Sequence[StayRow]) -> list[Row]:
    """The GPU nodes there are, then those that have gone and had work in the window."""
    found = [_row(one) for one in known if catalog.instance_type(one.instance_type).gpu is not None]
    there = {row.node for row in found}
    gone: dict[str, int] = {}
    for stay in stays:
        if stay.node not in there:
            gone[stay.node] = max(gone.get(stay.node, 0), stay.gpus)
    return found + [Row(node, "gone", gpus) for node, gpus in gone.items()]


def _row(one: HostOf) -> Row:
    state = AWAY if one.state is None or one.left_for is not None else one.state
    return Row(one.node, one.group, catalog.instance_type(one.instance_type).accelerators, state, one.marked_at)


def _stays(rows: Iterable[StayRow], bound: Iterable[Admitted], evicted: set[tuple[str, int]]) -> list[Stay]:
    admitted: dict[str, list[Admitted]] = {}
    for one in bound:
        admitted.setdefault(one.workload, []).append(one)
    return [_stay(row, admitted.get(row.workload, ()), evicted) for row in rows]


def _stay(row: StayRow, admitted: Sequence[Admitted], evicted: set[tuple[str, int]]) -> Stay:
    """What is bound in a pass is placed at its instant, so the last binding by then is the stay's."""
    since = to_millis(row.started_at)
    until = None if row.ended_at is None else to_millis(row.ended_at)
    last = next((one for one in reversed(admitted) if one.at <= since), None)
    is_funded = last is not None and last.funded
    protected = last.protected_until if last is not None and is_funded and last.protected_until > since else None
    was_evicted = until is not None and (row.workload, until) in evicted
    facts = (row.node, row.workload, row.shown, row.budget, row.gpus, since, until)
    return Stay(*facts, is_funded, protected, was_evicted)


def _change(one: Reserving) -> tuple[str, int, Sequence[str] | None, int | None]:
    return one.workload, one.at, one.hosts, one.due


def window(now: int, span: int, since: int | None) -> tuple[int, int]:
    """A window of that length from `since` on; without it three quarters lie before now, the rest is to come."""
    begins = max(0, now - span * 3 // 4) if since is None else since
    return begins, begins + span
