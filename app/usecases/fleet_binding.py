"""What the scheduler's decisions mean for jobs and nodes: who is bound to which node, and who leaves (VX-24, FS-7)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from app.core.binding import bound, is_hole
from app.core.evicting import evicted, failed
from app.core.job import Job, is_managed
from app.core.job_errors import EVICTED, REFUSED
from app.core.log_lines import SERVICE, WARNING, Line
from app.core.replica import Replica
from app.core.scheduling.decisions import Admit, Decision, Fill, Requeue
from app.core.scope import Scope
from app.core.times import WorldTime
from app.core.values import evolve
from app.store import fleet_jobs, jobs, logs, placements, replicas
from app.store.db import Tx
from app.store.fleet_jobs import JobKey
from app.store.placements import NodeRow, Place
from app.store.workloads import Row
from app.usecases.fleet_memory import Loaded
from app.usecases.fleets import needs

OWN = ("", "")
"""Stands for the project and the region of our own workloads, which are no jobs."""
EVICTED_TEXT = "The scheduler took the job's GPUs away after its minimum runtime. It queues for others."


@dataclass(slots=True)
class Effects:
    """What becomes of workloads in one pass, by name."""

    evict: dict[str, None] = field(default_factory=dict)
    """They leave their nodes."""
    fail: dict[str, str] = field(default_factory=dict)
    """They end, by that failure."""
    bind: dict[str, None] = field(default_factory=dict)
    """They get all their nodes."""
    fill: dict[str, None] = field(default_factory=dict)
    """They get nodes in the places of lost ones."""

    def __bool__(self) -> bool:
        return bool(self.evict or self.fail or self.bind or self.fill)


def effects(loaded: Loaded, made: Sequence[Decision], holes: Iterable[str], refused: Iterable[str]) -> Effects:
    """The decisions of a pass put together, by workload; rows still say who was bound before it."""
    found = Effects(fill=dict.fromkeys(holes), fail=dict.fromkeys(refused, REFUSED))
    for one in made:
        match one:
            case Admit():
                if loaded.rows[one.workload].status in ("running", "leaving"):
                    found.evict[one.workload] = None
                found.bind[one.workload] = None
            case Requeue():
                found.bind.pop(one.workload, None)
                found.evict[one.workload] = None
                if not one.resumed:
                    found.fail[one.workload] = EVICTED
            case Fill():
                found.fill[one.workload] = None
    for name in (*found.evict, *found.bind):
        found.fill.pop(name, None)
    return found


async def carry_out(
    tx: Tx, scope: Scope, fleet: str, loaded: Loaded, nodes: Sequence[NodeRow], what: Effects, now: WorldTime
) -> None:
    """Write down who leaves and who gets which node. Jobs are locked; one that has ended meanwhile is left alone."""
    if not what:
        return
    rows = [loaded.rows[name] for name in dict.fromkeys((*what.evict, *what.fail, *what.bind, *what.fill))]
    by_key = {row.job: row for row in rows if row.job is not None}
    locked = await fleet_jobs.lock_jobs(tx, scope, fleet, by_key)
    leaving = [_owner(row) for row in rows if row.name in what.evict or row.name in what.fail]
    await placements.leave_all(tx, scope, fleet, leaving, now)  # behind jobs, as where jobs leave by themselves
    binder = _Binder(loaded, nodes, what, now)
    own = [row for row in rows if row.job is None and (row.name in what.bind or row.name in what.fill)]
    held = await placements.of_owners(tx, scope, fleet, list(map(_owner, own)))
    places = [place for row in own for place in binder.own(row, *held[_owner(row)])]
    for tenant, group in groupby(locked, key=lambda one: (one.job.account, one.job.region)):
        home = Scope(scope.world, *tenant)
        some = list(group)
        workers = await replicas.of_jobs(tx, home, [one.job.job_id for one in some])
        moved = [
            (*binder.job(one.job, by_key[(*tenant, one.job.job_id)], workers[one.job.job_id]), one) for one in some
        ]
        await _save(tx, home, moved, now)
        places += binder.places
        binder.places = []
    await placements.open_at(tx, scope, fleet, places, now)


def _owner(row: Row) -> JobKey:
    return row.job or (*OWN, row.name)


async def _save(
    tx: Tx, home: Scope, moved: Sequence[tuple[Job, list[Replica], list[Replica], jobs.Claimed]], now: WorldTime
) -> None:
    """Jobs and workers that have changed; the jobs are due."""
    lines = []
    rows = []
    for job, _, changed, was in moved:
        if job is was.job and not changed:
            continue  # nothing came of it: the job is not looked at for it, or it would ask again at once
        if job.retries.get(EVICTED, 0) > was.job.retries.get(EVICTED, 0):
            job = evolve(job, log_seq=job.log_seq + 1)
            lines.append(logs.Written(home, job.job_id, job.log_seq, Line(now, SERVICE, WARNING, EVICTED_TEXT)))
        rows.append((job, now if was.due_at is None else min(was.due_at, now)))
    await replicas.save(tx, home, {job.job_id: changed for job, _, changed, _ in moved if changed})
    await logs.append(tx, lines)
    await jobs.save(tx, home.world, rows)


class _Binder:
    """Gives replicas their nodes."""

    def __init__(self, loaded: Loaded, nodes: Sequence[NodeRow], what: Effects, now: WorldTime) -> None:
        self.loaded, self.what, self.now = loaded, what, now
        self.billing = {one.logical_id: one.billing for one in nodes}
        ready = [one.logical_id for one in nodes if one.ready]
        hosts = loaded.state.hosts
        self.bare = [name for name in ready if name not in hosts] or ready
        self.places: list[Place] = []

    def job(self, job: Job, row: Row, workers: Sequence[Replica]) -> tuple[Job, list[Replica], list[Replica]]:
        """The job and its workers as they are from now on, and those that have changed."""
        some = list(workers)
        if row.name in self.what.fail:
            job, some = failed(job, some, self.what.fail[row.name], self.now)
        elif row.name in self.what.evict:
            job, some = evicted(job, some, self.now)
        if row.name in self.what.bind:  # in a managed pool it asks for machines from now on
            job = evolve(job, admitted_at=self.now, updated_at=self.now)
            some = some if is_managed(job.fleet) else self._bound(job, row, some, fresh=True)
        elif row.name in self.what.fill:
            some = self._bound(job, row, some, fresh=False)
        return job, some, [new for old, new in zip(workers, some, strict=True) if new is not old]

    def _bound(self, job: Job, row: Row, workers: Sequence[Replica], *, fresh: bool) -> list[Replica]:
        gpus = {need.replica: need.gpus for need in needs(job.spec)}
        wanting = [one for one in workers if (one.node is None if fresh else is_hole(one))]
        taken = Counter(one.node for one in workers if one.node is not None and gpus[one.name])
        free = self._slots(row, taken)
        turn = 0
        nodes: dict[str, str] = {}
        for one in wanting:
            node = next(free, None) if gpus[one.name] else self.bare[turn % len(self.bare)] if self.bare else None
            turn += not gpus[one.name]
            if node is not None:
                nodes[one.name] = node
                self._place(row, one, node, row.gpus if gpus[one.name] else 0, job)
        return [bound(one, nodes[one.name], self.now) if one.name in nodes else one for one in workers]

    def _slots(self, row: Row, taken: Mapping[str, int]) -> Iterator[str]:
        """The nodes that the workload holds, each as often as it has a replica there that nobody has yet."""
        workload = self.loaded.state.workloads.get(row.name)
        places = workload.places if workload is not None else {}
        for name in sorted(places):
            yield from [name] * (places[name] - taken.get(name, 0))

    def _place(self, row: Row, one: Replica, node: str, gpus: int, job: Job) -> None:
        self.places.append(
            Place(
                job.account,
                job.region,
                job.job_id,
                replica=one.name,
                number=one.machines + 1,
                logical_id=node,
                billing=self.billing[node],
                gpus=gpus,
                job_name=job.display_name,
                budget=job.budget,
            )
        )

    def own(self, row: Row, held: Mapping[str, str], numbers: Mapping[str, int]) -> list[Place]:
        """The same for a workload of our own: its replicas are names and numbers."""
        free = self._slots(row, Counter(held.values()))
        missing = [name for place in range(row.replicas) if (name := f"replica-{place}") not in held]
        return [
            Place(
                *OWN, row.name, name, numbers.get(name, 0) + 1, node, self.billing[node], row.gpus, row.name, row.leaf
            )
            for name, node in zip(missing, free, strict=False)
        ]
