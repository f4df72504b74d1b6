"""What has happened to a fleet since its last pass: budgets, workloads, nodes; told to the policy in the order of time.

Whatever happened within one second is told before the pass of that second decides (FS-15).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from app import catalog
from app.core.errors import DomainError
from app.core.managed_pools import ROOM
from app.core.scheduling import events
from app.core.scheduling.decisions import Code, Lost
from app.core.scheduling.history import TreeChange, apply_change
from app.core.scheduling.keeping import keep_workload
from app.core.scheduling.packing import Host
from app.core.scheduling.workload import Workload
from app.core.scope import Scope
from app.store import budgets, hosts, workloads
from app.store.db import Tx
from app.store.hosts import Mark
from app.store.placements import NodeRow
from app.store.scheduling import FleetRow, HostRow
from app.store.workloads import CANCEL, ENDED, FINISH, HOLE, NEW, PRIORITY, SUBMIT, News, Row
from app.usecases.fleet_memory import Loaded, tree_change, workload_of

log = logging.getLogger(__name__)
REASONS = {CANCEL: "cancelled", FINISH: "finished"}
"""Why a workload ended, by what was told of it."""
UNMARKED = Mark()


@dataclass(slots=True)
class Changes:
    """What a pass found: whether anything was news to the policy, who lacks a node, who cannot be scheduled at all, who
    lost which hosts, and the instants of changes of the tree that are still to come."""

    any: bool = False
    holes: dict[str, None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    later: list[int] = field(default_factory=list)


async def take(
    tx: Tx, scope: Scope, fleet: str, row: FleetRow, loaded: Loaded, nodes: Sequence[NodeRow], room: int | None, at: int
) -> tuple[Changes, dict[str, int]]:
    """Tell the state all that has happened until `at`, and how much news of each workload that was. `room` are the GPUs
    of a managed pool, which has no nodes."""
    due, counts = await workloads.news(tx, scope, fleet, at)
    await _know_new(tx, scope, fleet, loaded, due)
    tree: list[TreeChange] = []
    if loaded.state.quotas is None:  # else its teams stand in for the world's budgets (FS-17)
        tree = [tree_change(one) for one in await budgets.changes(tx, scope.world, loaded.state.applied)]
    taker = _Taker(loaded, row, at)
    taker.take([one for one in tree if one.at <= at], due)
    if room is None:
        taker.sync(nodes, await hosts.marks(tx, scope, fleet))
    else:
        taker.resize(room)
    taker.changes.later = [one.at for one in tree if one.at > at]
    return taker.changes, counts


async def _know_new(tx: Tx, scope: Scope, fleet: str, loaded: Loaded, news: Iterable[News]) -> None:
    unknown = sorted({one.name for one in news} - loaded.rows.keys())
    if unknown:
        for row in await workloads.named(tx, scope, fleet, unknown):
            if row.ended_at is None:
                loaded.rows[row.name] = row


class _Taker:
    """Tells the state of one fleet."""

    def __init__(self, loaded: Loaded, row: FleetRow, at: int) -> None:
        self.loaded, self.state, self.row, self.at = loaded, loaded.state, row, at
        self.changes = Changes()

    def take(self, tree: Sequence[TreeChange], news: Sequence[News]) -> None:
        """Changes of budgets, news of workloads, and our own workloads that are done, in the order of time."""
        due: list[tuple[int, int, Callable[[int], None]]] = [(one.at, 0, partial(self._change, one)) for one in tree]
        done = sorted((at, name) for name, at in self.loaded.ends.items() if at <= self.at)
        due += [(at, 1, partial(self._done, name)) for at, name in done]
        due += [(one.at, 2, partial(self._tell, one)) for one in news]
        for at, _, tell in sorted(due, key=lambda one: one[:2]):
            tell(max(at, self.state.now))

    def _change(self, change: TreeChange, _: int) -> None:
        self.changes.any = True
        apply_change(self.state, change)

    def _done(self, name: str, now: int) -> None:
        self._end(name, FINISH, now)
        row = self.loaded.rows[name]
        row.done = row.runtime or 0

    def _tell(self, one: News, now: int) -> None:
        row = self.loaded.rows.get(one.name)
        if row is None or row.ended_at is not None:
            return
        if one.kind == HOLE:
            self.changes.holes[one.name] = None
        elif one.kind == SUBMIT:
            self._submit(row, now)
        elif one.kind == PRIORITY:
            self._prioritise(row, one, now)
        else:
            self._end(one.name, one.kind, now, one.facts.get("reason"))

    def _submit(self, row: Row, now: int) -> None:
        self.changes.any = True
        if row.status != NEW or row.gpus == 0:
            row.status = "waiting" if row.status == NEW else row.status
            return
        try:
            events.submit(self.state, workload_of(row), now)
        except DomainError as error:
            log.info("workload refused", extra={"facts": {"workload": row.name, "error": str(error)}})
            self.changes.refused[row.name] = str(error)
            row.ended_at, row.end_reason, row.status = now, "refused", ENDED

    def _prioritise(self, row: Row, one: News, now: int) -> None:
        row.priority = one.facts["priority"]
        if row.name in self.state.workloads:
            self.changes.any = True
            events.set_priority(self.state, row.name, row.priority, now)

    def _end(self, name: str, kind: str, now: int, reason: str | None = None) -> None:
        self.changes.any = True
        row = self.loaded.rows[name]
        self.loaded.ends.pop(name, None)
        row.ended_at, row.end_reason, row.status, row.ends_at = now, reason or REASONS[kind], ENDED, None
        if name in self.state.workloads:
            (events.cancel if kind == CANCEL else events.finish)(self.state, name, now)

    def sync(self, nodes: Sequence[NodeRow], marks: dict[str, Mark]) -> None:
        """The hosts are the nodes with GPUs that take work; one that left and is back again is a new one. Nodes that
        were compared with the hosts already are not again."""
        if nodes is not self.loaded.hosts_of or any(mark.left_for is not None for mark in marks.values()):
            self._compare(nodes, marks)
            self.loaded.hosts_of = nodes
        for name, host in self.loaded.hosts.items():
            host.marked_at, host.reason, host.repair, _ = marks.get(name, UNMARKED)
            self._mark(name, host)

    def _compare(self, nodes: Sequence[NodeRow], marks: dict[str, Mark]) -> None:
        wanted = {one.logical_id: one for one in nodes if one.ready and catalog.instance_type(one.instance_type).gpu}
        for name in list(self.state.hosts):
            if name not in wanted or marks.get(name, UNMARKED).left_for is not None:
                self._lose(name, marks.pop(name, UNMARKED))
        for name, one in wanted.items():
            if name not in self.state.hosts:
                self._ready(name, one)

    def resize(self, gpus: int) -> None:
        """A managed pool has so many GPUs; nobody is evicted when they are fewer than before."""
        host = self.state.hosts.get(ROOM)
        if gpus == (0 if host is None else host.gpus):
            return
        self.changes.any = True
        if host is None:
            self._open(ROOM, gpus, "", "")
        else:
            events.resize(self.state, ROOM, gpus, self.at)

    def _lose(self, name: str, mark: Mark) -> None:
        self.changes.any = True
        code = Code.NODE_GONE if mark.left_for is None else Code(mark.left_for)
        residents = self.state.hosts[name].residents.items()
        self.changes.lost += [Lost(self.at, who, name, count, code) for who, count in sorted(residents)]
        events.node_lost(self.state, name, self.at)
        self.loaded.hosts.pop(name, None)

    def _ready(self, name: str, node: NodeRow) -> None:
        self.changes.any = True
        kind = catalog.instance_type(node.instance_type)
        assert kind.gpu is not None
        self._open(name, kind.accelerators, kind.gpu.name, node.zone)

    def _open(self, name: str, gpus: int, model: str, zone: str) -> None:
        events.node_ready(self.state, name, self.at, gpus=gpus, model=model, zone=zone)
        host = self.state.hosts[name]
        self.row.hosts += 1
        self.loaded.hosts[name] = HostRow(name, host.number, host.gpus, host.model, host.zone, host.state)

    def _mark(self, name: str, row: HostRow) -> None:
        host = self.state.hosts[name]
        if row.marked_at is not None and host.state == Host.HEALTHY:
            self.changes.any = True
            events.drain(self.state, name, self.at)
        elif row.marked_at is None and host.state != Host.HEALTHY:
            self.changes.any = True
            events.node_ready(self.state, name, self.at)


def standing(loaded: Loaded, touched: Iterable[str]) -> list[Row]:
    """The rows of those workloads, as the state has them now; who has left it has ended."""
    found: list[Row] = []
    for name in touched:
        row, workload = loaded.rows.get(name), loaded.state.workloads.get(name)
        if row is None:
            continue
        if workload is not None:
            _stand(row, workload, keep_workload(workload))
        found.append(row)
    return found


def _stand(row: Row, workload: Workload, kept: Mapping[str, object]) -> None:
    runs = workload.status.value in ("running", "leaving")
    row.status, row.state, row.attempt = workload.status.value, kept, workload.attempt
    row.funded, row.priority = workload.funded, workload.priority
    row.bound_at = workload.bound_at if runs else None
    row.protected_until = workload.protected_until if runs else None
