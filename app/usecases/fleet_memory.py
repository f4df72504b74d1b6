"""The scheduler's state of a fleet: kept in a process's memory between passes, and rebuilt from rows when it is not.

What is in memory is used only if the fleet's row still has the token of the pass that left it there: rows are the
truth, and whoever else has written since has left another token.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.budget_tree import Change
from app.core.errors import NotFound
from app.core.scheduling.history import TreeChange
from app.core.scheduling.keeping import Kept, KeptHost, KeptWorkload, rebuild
from app.core.scheduling.policy import Policy
from app.core.scheduling.state import State
from app.core.scheduling.workload import Kind, Workload
from app.core.scope import Scope
from app.store import budgets, scheduling, workloads
from app.store.db import Tx
from app.store.placements import NodeRow
from app.store.scheduling import FleetRow, HostRow
from app.store.workloads import Row

MOST_KEPT = 64
"""Fleets that one process keeps; the one used the longest ago goes first."""


@dataclass(slots=True)
class Loaded:
    """A fleet as the scheduler sees it: the policy's state, and of living workloads and hosts what is kept besides."""

    state: State
    rows: dict[str, Row]
    hosts: dict[str, HostRow]
    ends: dict[str, int] = field(default_factory=dict)
    """When those of our own workloads that run will be done."""
    nodes: Sequence[NodeRow] = ()
    """The cluster's, as they were last read."""
    nodes_version: int | None = None
    """Of what they were read from; None: they are to be read again."""
    hosts_of: Sequence[NodeRow] | None = None
    """The nodes that the hosts were last compared with."""


@dataclass(slots=True)
class Memory:
    """What this process remembers, by world, account, region and fleet."""

    _kept: OrderedDict[tuple[str, str, str, str], tuple[str, Loaded]] = field(default_factory=OrderedDict)

    def take(self, scope: Scope, fleet: str, version: str | None) -> Loaded | None:
        """What is remembered, if it is of this version; it is remembered no more: a pass may fail half-way."""
        known = self._kept.pop((scope.world, scope.account, scope.region, fleet), None)
        return known[1] if known is not None and known[0] == version else None

    def put(self, scope: Scope, fleet: str, version: str, loaded: Loaded) -> None:
        self._kept[scope.world, scope.account, scope.region, fleet] = (version, loaded)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def forget(self) -> None:
        """Nothing is remembered any more: every fleet is rebuilt from its rows."""
        self._kept.clear()


MEMORY = Memory()
"""The process's own: sharing it is harmless, since nothing in it is used unseen."""


async def load(tx: Tx, scope: Scope, fleet: str, row: FleetRow) -> Loaded:
    """The fleet as its last pass left it, from memory or from rows."""
    known = MEMORY.take(scope, fleet, row.version)
    return known if known is not None else await _from_rows(tx, scope, fleet, row)


async def _from_rows(tx: Tx, scope: Scope, fleet: str, row: FleetRow) -> Loaded:
    rows = await workloads.living(tx, scope, fleet)
    hosts = await scheduling.hosts(tx, scope, fleet)
    policy, flags = Policy(**row.policy), row.state
    now: int = flags.get("now", 0)
    kept = Kept(
        policy=policy,
        flags=dict(flags),
        changes=[tree_change(one) for one in await budgets.changes(tx, scope.world)],
        capacity=dict(await scheduling.capacity(tx, scope, fleet)).items(),
        segments=await scheduling.segments(tx, scope, fleet, now - policy.window),
        hosts=[KeptHost(one.host, one.number, one.gpus, one.model, one.zone, one.state) for one in hosts],
        workloads=[KeptWorkload(workload_of(one), dict(one.state)) for one in rows if one.state],
    )
    ends = {one.name: one.ends_at for one in rows if one.ends_at is not None}
    return Loaded(rebuild(kept), {one.name: one for one in rows}, {one.host: one for one in hosts}, ends)


def tree_change(change: Change) -> TreeChange:
    """The change as the policy takes it; limits are set apart, since what they leave depends on other fleets too."""
    return TreeChange(change.number, change.at, change.kind, change.name, change.parent, change.weight)


def workload_of(row: Row) -> Workload:
    """The workload as the policy knows it."""
    return Workload(
        row.name,
        leaf=row.leaf,
        gpus=row.gpus,
        replicas=row.replicas,
        min_runtime=row.min_runtime,
        priority=row.priority,
        submit=row.submit,
        resumable=row.resumable,
        kind=Kind(row.kind),
        checkpoint=row.checkpoint,
        model=row.model,
        zone=row.zone,
    )


async def look(tx: Tx, scope: Scope, fleet: str) -> Loaded:
    """The fleet as its last pass left it, to be read alone, and before anything is awaited: then a pass of this process
    may change it. NotFound: it has had no workload."""
    row = await scheduling.read(tx, scope, fleet)
    if row is None:
        raise NotFound(f"There is no fleet '{fleet}' with workloads.")
    loaded = await load(tx, scope, fleet, row)
    if row.version is not None:
        MEMORY.put(scope, fleet, row.version, loaded)
    return loaded


async def look_at(tx: Tx, scope: Scope, fleet: str, now: int) -> State | None:
    """The state of the fleet at that instant, in milliseconds, if no pass decides anything until then: one of its own,
    rebuilt from rows, since what is remembered must not run ahead. None: the fleet has had no pass."""
    row = await scheduling.read(tx, scope, fleet)
    if row is None or not row.state:
        return None
    state = (await _from_rows(tx, scope, fleet, row)).state
    state.advance(max(now, state.now))
    return state
