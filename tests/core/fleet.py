"""One cluster in memory, moved by the core alone: due nodes, then decisions, instant by instant."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.core.capacity import Pool, Stock
from app.core.cluster import SOFTWARE, Candidate, Cluster, Group, Work, cluster_status, group_status, new_node, victims
from app.core.cluster_events import Event
from app.core.faults import Faults, Rule
from app.core.instance import Instance, next_due
from app.core.launching import Batch, Surroundings, work
from app.core.metering import Interval, settle
from app.core.node import COUNTED, LAUNCHABLE, Node
from app.core.provisioning import Decision, decide, next_deadline
from app.core.releases import Release, Releases
from app.core.repair import reboot_problem
from app.core.software import Member, roll
from app.core.software import begin as begin_software
from app.core.software import settle as settle_software
from app.core.times import WorldTime
from app.core.timings import Timings
from app.core.updating import begin_update, revise
from tests.core.builders import FAST, KNOWN, SEED, T0, asked, at

HOLDING = set(Node) - {*LAUNCHABLE, Node.GONE}
"""States in which a node holds a machine: from its grant to its end."""


class Fleet:
    """A cluster, its groups and nodes, the machines that there are, and all that was told and charged."""

    def __init__(
        self,
        cluster: Cluster,
        *groups: Group,
        pools: Sequence[Pool] = (),
        faults: Sequence[Rule] = (),
        timings: Timings = FAST,
        seed: int = SEED,
    ) -> None:
        self.cluster = cluster
        self.groups = {group.name: group for group in groups}
        self.nodes: dict[str, Instance] = {}
        self.pools = list(pools)
        self.rules = list(faults)
        self.timings, self.seed = timings, seed
        self.now = T0
        self.events: list[Event] = []
        self.ledger: dict[tuple[str, int], Interval] = {}
        self.gone = False
        self.releases = [Release("1.0.0")]
        self.alarms: tuple[str, ...] = ()
        self.busy: set[str] = set()
        self._asked_at: WorldTime | None = T0

    def run(self, until: WorldTime) -> "Fleet":
        """Handle all that is due until then, in order."""
        while (due := self.next_due()) is not None and due <= until:
            self.now = max(self.now, due)
            self._pass(due)
        self.now = until
        return self

    def next_due(self) -> WorldTime | None:
        if self.gone:
            return None
        times = [self._asked_at, next_deadline(self.cluster, self.groups), *map(self._due, self.nodes.values())]
        return min((time for time in times if time is not None), default=None)

    def update(self, *changes: tuple[str, int, int | None], delete: Sequence[str] = ()) -> "Fleet":
        """UpdateCluster: (group, InstanceCount, MinInstanceCount) of groups that exist."""
        intents = [asked(name, count, least, instance_types=()) for name, count, least in changes]
        revision = revise(self.cluster, self.groups, intents, delete, self.now)
        self.groups |= revision.changed
        self.cluster = begin_update(self.cluster, {}, busy=True)
        self._asked_at = self.now
        return self

    def add(self, group: Group) -> "Fleet":
        """UpdateCluster with a new group."""
        self.groups[group.name] = group
        self.cluster = begin_update(self.cluster, {}, busy=True)
        self._asked_at = self.now
        return self

    def repair(self, change: Callable[[Instance, WorldTime], Instance]) -> "Fleet":
        """BatchReboot or BatchReplace of every node that may be."""
        for node in list(self.nodes.values()):
            if reboot_problem(self.cluster, self.groups[node.group], node) is None:
                self.nodes[node.logical_id] = change(node, self.now)
        self._asked_at = self.now
        return self

    def patch(self, config: Mapping[str, Any] | None = None) -> "Fleet":
        """UpdateClusterSoftware of all groups to a release that is newer than all before."""
        self.releases.append(Release(f"1.{len(self.releases)}.0"))
        changed = begin_software(self.cluster, self.groups, {}, None, config, Releases(self.releases))
        self.groups |= changed
        if not self.cluster.continuous and changed:
            self.cluster = replace(self.cluster, operation=SOFTWARE)
        self._asked_at = self.now
        return self

    def alarm(self, *names: str) -> "Fleet":
        """These alarms are in ALARM, and no others."""
        self.alarms = names
        self._asked_at = self.now
        return self

    def delete(self) -> "Fleet":
        """DeleteCluster."""
        self.cluster = replace(self.cluster, delete_requested_at=self.now, operation="deletion")
        self._asked_at = self.now
        return self

    def provide(self, *pools: Pool) -> "Fleet":
        """There are other machines now, and all who wait for some try again at once (HP-6)."""
        self.pools = [replace(pool, used=self._held(pool)) for pool in pools]
        for node in self.nodes.values():
            if node.waiting_since is not None:
                self.nodes[node.logical_id] = replace(node, launch_after=self.now)
        return self

    @property
    def status(self) -> str:
        return cluster_status(self.cluster)

    def group_status(self, name: str) -> str:
        return group_status(self.cluster, self.groups[name])

    def counts(self, name: str) -> tuple[int, int, int]:
        """CurrentCount, TargetCount, MinCount."""
        group = self.groups[name]
        return group.current, group.target, group.minimum

    def members(self, name: str) -> list[Instance]:
        return sorted((n for n in self.nodes.values() if n.group == name), key=lambda n: n.ordinal)

    def told(self, *kinds: str) -> list[tuple[str, float]]:
        """The events of these kinds (of all, if none is named) with their seconds since the beginning."""
        ordered = sorted(self.events, key=lambda event: event.at)
        return [(e.kind, (e.at - T0).total_seconds()) for e in ordered if not kinds or e.kind in kinds]

    def bills(self) -> list[tuple[float, float | None]]:
        """Every billable interval in seconds since the beginning; None while it is open."""
        spans = [(one.started_at, one.ended_at) for one in self.ledger.values()]
        return sorted(((s - T0).total_seconds(), e and (e - T0).total_seconds()) for s, e in spans)

    def _due(self, node: Instance) -> WorldTime | None:
        return next_due(node, self.timings.delays)

    def _held(self, pool: Pool) -> int:
        return sum(
            node.instance_type == pool.instance_type and node.zone is not None and pool.zone in ("", node.zone)
            for node in self.nodes.values()
        )

    def _pass(self, moment: WorldTime) -> None:
        self._asked_at = None
        due = [(d, n) for n in self.nodes.values() if (d := self._due(n)) is not None and d <= moment]
        nodes = [n for _, n in sorted(due, key=lambda pair: (pair[0], pair[1].group, pair[1].ordinal))]
        around = Surroundings(self.seed, self.timings, Stock(self.pools, KNOWN), Faults(self.rules, self.seed))
        batch = work(self.cluster, self.groups, nodes, moment, self.now, around)
        self._keep(batch)
        made = Decision(self.cluster, dict(self.groups), moment)
        decide(made, batch)
        self._take(made)
        while made.plan:
            first = work(made.cluster, made.groups, self._places(made, moment), moment, self.now, around)
            self._keep(first)
            made.groups = dict(self.groups)
            decide(made, first)
            self._take(made)
        self._carry_out(made)
        self._roll_out(moment)
        self._count(around)

    def _places(self, made: Decision, moment: WorldTime) -> list[Instance]:
        new = []
        for name, count in made.plan.items():
            group = made.groups[name]
            first = group.next_ordinal
            new += [new_node(made.cluster, group, first + place, moment, self.seed) for place in range(count)]
            made.change(group, rows=group.rows + count, slots=group.slots + count, next_ordinal=first + count)
        self.groups = dict(made.groups)
        return new

    def _keep(self, batch: Batch) -> None:
        """Nodes, counts, events and bills of a batch."""
        self.nodes |= {node.logical_id: node for node in batch.changed}
        for node in batch.gone:
            self.nodes.pop(node.logical_id, None)
        gone = Counter(node.group for node in batch.gone)
        for name, group in self.groups.items():
            moved = batch.current.get(name, 0)
            ill = group.ill + batch.ill.get(name, 0)
            self.groups[name] = replace(group, current=group.current + moved, ill=ill, rows=group.rows - gone[name])
        self.events += batch.events
        self._charge(batch.opened, batch.closed)

    def _charge(self, opened: Sequence[Interval], closed: Sequence[Interval]) -> None:
        """As the ledger's constraints have it: numbered, chained, none open twice."""
        over, new = settle(opened, closed)
        for one in over:
            interval = self.ledger[one.logical_id, one.number]
            assert interval.ended_at is None
            assert one.ended_at is not None and one.ended_at >= interval.started_at
            self.ledger[one.logical_id, one.number] = replace(interval, ended_at=one.ended_at)
        for one in new:
            before = self.ledger.get((one.logical_id, one.number - 1))
            assert (one.logical_id, one.number) not in self.ledger
            assert one.previous_end == (before.ended_at if before else None)
            assert before is None or (before.ended_at is not None and before.ended_at <= one.started_at)
            self.ledger[one.logical_id, one.number] = one

    def _take(self, made: Decision) -> None:
        self.cluster, self.groups, self.gone = made.cluster, dict(made.groups), made.gone
        self.events += made.events
        made.events = []

    def _carry_out(self, made: Decision) -> None:
        for node in list(self.nodes.values()):
            if made.stop_all or node.group in made.stop_groups:
                self._stop(node, made.at)
        for name, count in made.surplus.items():
            alive = [n for n in self.members(name) if n.terminate_at is None]
            busy = set() if name in made.rolled_back else self.busy
            rated = [Candidate(n.logical_id, n.status, n.launched_at, Work(n.logical_id in busy)) for n in alive]
            chosen = victims(rated, count)
            for logical_id in chosen:
                self._stop(self.nodes[logical_id], made.at)
            self.groups[name] = replace(self.groups[name], slots=self.groups[name].slots - len(chosen))

    def _roll_out(self, moment: WorldTime) -> None:
        if self.cluster.delete_requested_at is not None or self.cluster.failed_at is not None:
            return
        for name, group in list(self.groups.items()):
            if not group.under_update or group.delete_requested_at is not None:
                continue
            alive = [_member(node) for node in self.members(name) if node.terminate_at is None]
            step = roll(group, alive, self.alarms, self.cluster.recovers, moment)
            self.groups[name], script_at = step.group, moment if group.has_script else None
            self.events += step.events
            for one in step.chosen:
                facts = {"patch_at": moment, "next_image": step.group.image, "script_at": script_at}
                self.nodes[one] = replace(self.nodes[one], **facts)
            for one in step.given_up:
                replace_at = moment if self.cluster.recovers else None
                self.nodes[one] = replace(self.nodes[one], image=None, replace_at=replace_at)
        self.cluster = settle_software(self.cluster, self.groups)

    def _stop(self, node: Instance, moment: WorldTime) -> None:
        if node.terminate_at is None:
            self.nodes[node.logical_id] = replace(node, terminate_at=moment)

    def _count(self, around: Surroundings) -> None:
        changed = around.stock.deltas
        self.pools = [replace(p, used=p.used + changed.get((p.instance_type, p.zone), 0)) for p in self.pools]
        self.rules = [{r.rule_id: r for r in around.faults.counted}.get(one.rule_id, one) for one in self.rules]
        self.check()

    def check(self) -> None:
        """What must hold after every instant."""
        for name, group in self.groups.items():
            mine = self.members(name)
            assert group.rows == len(mine)
            assert group.slots == sum(n.terminate_at is None for n in mine)
            assert group.ill == sum(n.status in (Node.ILL, Node.UNPATCHED) for n in mine)
            assert group.current == sum(n.status in COUNTED for n in mine)
            assert 0 <= group.minimum <= group.target
            if self.cluster.recovers and group.update_status is not None and not group.under_update:
                assert {n.image for n in mine if n.status is Node.RUNNING} <= {group.image}
        for pool in self.pools:
            assert pool.used == self._held(pool)
        assert all((n.zone is not None) == (n.status in HOLDING) for n in self.nodes.values())


def _member(node: Instance) -> Member:
    told, retried = node.patch_at is not None, node.retry_at is not None
    return Member(node.logical_id, node.ordinal, node.status, node.instance_type, node.image, told, retried)


def story(fleet: Fleet) -> Mapping[str, object]:
    """All of a fleet's state that must not depend on how often it was looked at."""
    return {
        "cluster": fleet.cluster,
        "groups": fleet.groups,
        "nodes": fleet.nodes,
        "pools": fleet.pools,
        "rules": fleet.rules,
        "events": fleet.events,
        "ledger": fleet.ledger,
    }


def settled(fleet: Fleet, seconds: float = 60) -> Fleet:
    """The fleet a while later."""
    return fleet.run(at((fleet.now - T0).total_seconds() + seconds))
