"""One pass of the scheduler over a fleet: what has happened, what follows, and all of it written down (FS-15).

One transaction under the locks of the cluster, or of the quota, and of the fleet's row. A pass is of a whole second,
and happens when something has, or when the policy itself is due; so its decisions are those of a simulation of the same
script.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from app import clock
from app.core.cluster import Cluster
from app.core.fleet_policy import ASKED
from app.core.ids import cluster_arn
from app.core.job import POOL, is_managed
from app.core.scheduling import events
from app.core.scheduling.decisions import Admit, Decision, Fill, Lost, Requeue
from app.core.scheduling.keeping import keep_flags
from app.core.scheduling.schedule import next_due, schedule
from app.core.scheduling.workload import saved
from app.core.scheduling_news import messages
from app.core.scope import Scope
from app.core.times import WorldTime, floor_second, from_millis, to_millis, whole_second
from app.core.world import World
from app.store import clusters, fleet_jobs, outbox, placements, scheduling, wakes, workloads, worlds
from app.store.db import Tx
from app.store.placements import NodeRow
from app.store.scheduling import Due, FleetRow
from app.store.workloads import ENDED, Row
from app.usecases import budget_limits, fleet_binding, fleet_changes, host_repairs, managed_pools, team_quotas
from app.usecases.attempts import attempt, told
from app.usecases.budget_limits import Outlook
from app.usecases.fleet_changes import standing
from app.usecases.fleet_memory import MEMORY, Loaded, load

log = logging.getLogger(__name__)
TOKEN_BYTES = 8
GONE, PREEMPTED = "fleet-gone", "preempted"


async def pass_over(
    tx: Tx, world_name: str, epoch: int | None = None, leader: str | None = None, lease_seconds: float = 0.0
) -> Counter[str] | None:
    """Schedule the fleet that has been due the longest; None when none is, or the world is not ours to move.

    `epoch` is the caller's lease on the world, as in a pass over a cluster. A `leader` is a scheduler that takes the
    fleet's lease, for so many seconds of wall time.
    """
    world = await worlds.share(tx, world_name)
    if world is None or not world.may_be_moved(epoch):
        return None
    due = await scheduling.first_due(tx, world_name, world.now, leader)
    if due is None:
        return None
    return await attempt(
        tx, partial(_handle, tx, world, due, leader, lease_seconds), lambda error: _postpone(tx, due, error)
    )


async def _postpone(tx: Tx, due: Due, error: Exception) -> Counter[str]:
    facts = {"world": due.scope.world, "fleet": due.fleet}
    log.error("pass over a fleet failed", exc_info=error, extra={"facts": facts})
    await scheduling.postpone(tx, due.scope, due.fleet, told(error))
    return Counter(failed=1)


async def _handle(tx: Tx, world: World, due: Due, leader: str | None, lease_seconds: float) -> Counter[str]:
    scope, fleet = due.scope, due.fleet
    now = floor_second(world.now)
    cluster = None
    if is_managed(fleet):
        await managed_pools.lock_quota(tx, scope)
    elif (held := await clusters.lock(tx, scope, cluster_arn(scope.region, scope.account, fleet))) is not None:
        cluster = held.cluster
        if held.due_at is not None and held.due_at < now:
            # What the cluster has still to do may take nodes away: the pass is of an instant before that.
            if held.due_at < due.at and await clusters.lags(tx, scope, fleet, due.at):
                return Counter(passes=1)
            now = floor_second(max(held.due_at, due.at))
    row = await scheduling.lock(tx, scope, fleet)
    seen = await scheduling.wakes(tx, scope, fleet, now)
    loaded = await load(tx, scope, fleet, row)
    served = await _Pass(tx, world, scope, fleet, row, loaded, now).run(cluster)
    row.version = clock.random_token(TOKEN_BYTES)
    await scheduling.save(tx, scope, fleet, row, leader, lease_seconds)
    await scheduling.forget_wakes(tx, scope, fleet, seen)
    MEMORY.put(scope, fleet, row.version, loaded)
    return Counter(served=served, passes=1)


class _Pass:
    """A pass under way."""

    def __init__(
        self, tx: Tx, world: World, scope: Scope, fleet: str, row: FleetRow, loaded: Loaded, now: WorldTime
    ) -> None:
        self.tx, self.world, self.scope, self.fleet = tx, world, scope, fleet
        self.row, self.loaded, self.state = row, loaded, loaded.state
        self.at = max(to_millis(now), self.state.now)
        self.now = from_millis(self.at)
        self.asked = [row.state[ASKED]] if ASKED in row.state else []
        """Instants for which requests have made the fleet due: in this second, and later than its beginning."""

    async def run(self, cluster: Cluster | None) -> int:
        """How many workloads were bound."""
        managed = is_managed(self.fleet)
        gone = not managed and (cluster is None or cluster.delete_requested_at is not None)
        nodes = await self._nodes(cluster, gone=gone)
        split = await self._split(cluster, nodes)
        room = await managed_pools.room(self.tx, self.scope, self.fleet) if managed else None
        changes, counts = await fleet_changes.take(
            self.tx, self.scope, self.fleet, self.row, self.loaded, nodes, room, self.at
        )
        self.asked += changes.later
        limits = await budget_limits.refresh(self.tx, self.scope, self.fleet, self.state, self.at)
        was_due = self.row.due_at is not None and to_millis(self.row.due_at) <= self.at
        made = schedule(self.state, self.at) if changes.any or was_due or split or limits.changed else []
        await host_repairs.begin(self.tx, self.world, self.scope, self.fleet, self.loaded, self.now)
        over = self._end_own() if gone else []
        bare = self._without_gpus(nodes)
        what = fleet_binding.effects(self.loaded, made, changes.holes, changes.refused)
        what.bind.update(dict.fromkeys(bare))
        what.fill.update(dict.fromkeys(await self._bare_holes(nodes)))
        self._work([*changes.lost, *made])
        what.evict.update(dict.fromkeys(self._own_that_ended()))
        await fleet_binding.carry_out(self.tx, self.scope, self.fleet, self.loaded, nodes, what, self.now)
        if cluster is not None:
            await outbox.announce(self.tx, self.scope, self.fleet, self.now, messages(cluster, made))
        await self._write([*changes.lost, *made], counts, [*bare, *over], limits)
        if managed and (made or changes.any):  # what it has left is for those without a budget
            await wakes.leave(self.tx, self.scope, wakes.FLEET, POOL, self.now)
        if made or changes.any or was_due:
            await budget_limits.tell_others(self.tx, self.scope, self.fleet, limits, self.at)
        return len(what.bind)

    async def _split(self, cluster: Cluster | None, nodes: Sequence[NodeRow]) -> bool:
        """By the cluster's compute quotas, if it has any; whether they have changed (FS-17)."""
        if cluster is None:
            return False
        types = {one.instance_type for one in nodes}
        return await team_quotas.refresh(self.tx, self.scope, cluster, self.state, types, self.at)

    async def _nodes(self, cluster: Cluster | None, *, gone: bool) -> Sequence[NodeRow]:
        """The cluster's nodes, none before it is in service: until then it has no scheduler (chosen).

        A thousand are read again only when anything of them was written.
        """
        loaded = self.loaded
        if gone or cluster is None or cluster.in_service_at is None:
            loaded.nodes, loaded.nodes_version = (), None
            return loaded.nodes
        version = await placements.nodes_version(self.tx, self.scope, self.fleet)
        if version != loaded.nodes_version:
            loaded.nodes = await placements.nodes(self.tx, self.scope, self.fleet)
            loaded.nodes_version = version
        return loaded.nodes

    def _without_gpus(self, nodes: Sequence[NodeRow]) -> list[str]:
        """Workloads that need no GPUs start on any node."""
        if not any(one.ready for one in nodes):
            return []
        waiting = [row for row in self.loaded.rows.values() if row.gpus == 0 and row.status == "waiting"]
        for row in waiting:
            row.status = "running"
        return [row.name for row in waiting]

    async def _bare_holes(self, nodes: Sequence[NodeRow]) -> list[str]:
        """Jobs that need no GPUs and have lost a node: the policy does not know of them, so they are asked for."""
        bare = {row.name for row in self.loaded.rows.values() if row.gpus == 0 and row.status == "running"}
        if not bare or not any(one.ready for one in nodes):
            return []
        guests = await fleet_jobs.holes(self.tx, self.scope, self.fleet)
        return [one.job_id for one in guests if one.job_id in bare]

    def _end_own(self) -> list[str]:
        """Nothing of ours goes on without its cluster; jobs are told by its pass."""
        own = [row for row in self.loaded.rows.values() if row.job is None and row.ended_at is None]
        for row in own:
            self.loaded.ends.pop(row.name, None)
            row.ended_at, row.end_reason, row.status, row.ends_at = self.at, GONE, ENDED, None
            if row.name in self.state.workloads:
                events.finish(self.state, row.name, self.at)
        return [row.name for row in own]

    def _own_that_ended(self) -> list[str]:
        """They give back their nodes; a job's pass does that for the job."""
        rows = [self.loaded.rows[name] for name in self.state.touched if name in self.loaded.rows]
        return [row.name for row in rows if row.ended_at is not None and row.job is None]

    def _work(self, made: Sequence[Decision | Lost]) -> None:
        """What our own workloads have done, and when they will be done (FS-5): a gang works while it is whole."""
        for one in made:
            match one:
                case Lost():
                    self._stop(self.loaded.rows[one.workload])
                case Admit():
                    row = self.loaded.rows[one.workload]
                    self._stop(row)
                    row.first_bound_at = row.first_bound_at or self.at
                    self._go_on(row)
                case Fill() if not self.state.workloads[one.workload].missing:
                    self._go_on(self.loaded.rows[one.workload])
                case Requeue():
                    row = self.loaded.rows[one.workload]
                    self._stop(row)
                    if not one.resumed:
                        row.ended_at, row.end_reason, row.status = self.at, PREEMPTED, ENDED

    def _go_on(self, row: Row) -> None:
        if row.runtime is not None:
            row.ends_at = self.loaded.ends[row.name] = self.at + row.runtime - row.done

    def _stop(self, row: Row) -> None:
        if row.runtime is not None and row.ends_at is not None:
            since = row.ends_at - (row.runtime - row.done)
            row.done += saved(self.at - since, row.checkpoint, resumable=row.resumable)
            row.ends_at = None
            self.loaded.ends.pop(row.name, None)

    async def _write(
        self, made: Sequence[Decision | Lost], taken: Mapping[str, int], more: Iterable[str], limits: Outlook
    ) -> None:
        tx, scope, fleet, row, state = self.tx, self.scope, self.fleet, self.row, self.state
        touched = dict.fromkeys((*state.touched, *taken, *more))
        changed = standing(self.loaded, touched)
        await workloads.save(tx, scope, fleet, changed, taken)
        for one in changed:
            if one.ended_at is not None:
                del self.loaded.rows[one.name]
        await self._write_hosts()
        await scheduling.append_capacity(tx, scope, fleet, row.capacities + 1, state.capacity_log)
        await scheduling.append_segments(tx, scope, fleet, row.segments + 1, state.ledger)
        await scheduling.append_decisions(tx, scope, fleet, row.decisions + 1, map(record, made))
        row.capacities += len(state.capacity_log)
        row.segments += len(state.ledger)
        row.decisions += len(made)
        for log_of in (state.touched, state.touched_hosts, state.capacity_log, state.ledger):
            log_of.clear()
        row.state = keep_flags(state)
        row.due_at = self._due(limits)

    async def _write_hosts(self) -> None:
        hosts, state = self.loaded.hosts, self.state
        for name in state.touched_hosts:
            if name in state.hosts:
                hosts[name].state, hosts[name].gpus = state.hosts[name].state, state.hosts[name].gpus
        changed = [hosts[name] for name in state.touched_hosts if name in state.hosts]
        gone = [name for name in state.touched_hosts if name not in state.hosts]
        await scheduling.save_hosts(self.tx, self.scope, self.fleet, changed, gone)

    def _due(self, limits: Outlook) -> WorldTime | None:
        of_limits = budget_limits.due(self.state, limits, self.at)
        asked = (time for time in self.asked if time > self.at)
        times = [next_due(self.state, self.at), of_limits, *asked, *self.loaded.ends.values()]
        at = min((time for time in times if time is not None), default=None)
        return None if at is None else whole_second(from_millis(at))


def record(one: Decision | Lost) -> tuple[int, str, str, str | None, dict[str, Any]]:
    """A decision as it is kept: when, its kind, its code, the workload that it is about, and all of it (FS-13)."""
    body = asdict(one)
    return body["at"], type(one).__name__.lower(), body["code"], body.get("workload"), body
