"""One batch of a cluster's due nodes: stages fire, launches are tried, and what follows is written down."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from app.core import health, leaving
from app.core.capacity import Grant, Stock, Want
from app.core.cluster import CONTROLLER, Cluster, Group
from app.core.cluster_events import Event
from app.core.failures import CAPACITY_MESSAGE
from app.core.faults import Faults, Subject
from app.core.health import hazards
from app.core.instance import Instance, refused, run, wants_launch
from app.core.lifecycle import Fired
from app.core.metering import Interval
from app.core.node import COUNTED, DEGRADED, UNHEALTHY, Node
from app.core.plans import reserved_arn
from app.core.reserving import Reserve
from app.core.telling import Told
from app.core.times import WorldTime, after
from app.core.timings import Timings
from app.core.values import evolve

_NOT_RETRYABLE = ("script-failed", "script-timed-out")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a batch meets: the world's seed and timings, the stock of machines, the faults that lie in wait, and the
    machines of training plans."""

    seed: int
    timings: Timings
    stock: Stock
    faults: Faults
    reserve: Reserve = field(default_factory=Reserve)


@dataclass(slots=True)
class Batch:
    """What came of a batch. `failure` is the first one that creation or an update may founder on."""

    cluster: Cluster
    groups: Mapping[str, Group]
    around: Surroundings
    told: Told = field(init=False)
    changed: list[Instance] = field(default_factory=list)
    gone: list[Instance] = field(default_factory=list)
    opened: list[Interval] = field(default_factory=list)
    closed: list[Interval] = field(default_factory=list)
    current: dict[str, int] = field(default_factory=dict)
    ill: dict[str, int] = field(default_factory=dict)
    examined: set[str] = field(default_factory=set)
    """The groups in which a deep health check on demand has ended."""
    left: dict[str, str] = field(default_factory=dict)
    """The nodes that have left Running, by logical id, with the reason."""
    degraded: list[Instance] = field(default_factory=list)
    """The nodes that are found not to work as they should, and go on (FS-11)."""
    came: bool = False
    """A node has come to be Running."""
    failure: str | None = None
    controller_failure: str | None = None

    def __post_init__(self) -> None:
        self.told = Told(self.cluster, self.groups)

    @property
    def events(self) -> list[Event]:
        return self.told.events

    def count(self, group: str, fired: Fired) -> None:
        """What the stage changes in the group's counts."""
        if fired.source is Node.EXAMINED:
            self.examined.add(group)
        for counts, states in ((self.current, COUNTED), (self.ill, UNHEALTHY)):
            if joined := (fired.target in states) - (fired.source in states):
                counts[group] = counts.get(group, 0) + joined


def work(
    cluster: Cluster,
    groups: Mapping[str, Group],
    nodes: Iterable[Instance],
    at: WorldTime,
    now: WorldTime,
    around: Surroundings,
) -> Batch:
    """Handle the nodes that are due at `at`, though it be `now` later already.

    Stages are stamped with `at`, and so are grants, unless the machine came free after that: then with that moment. So
    a worker that lags changes nothing but who gets a machine that others want too (CT-1).
    """
    batch = Batch(cluster, groups, around)
    waiting: list[Instance] = []
    for node in nodes:
        moved = _run(batch, node, at)
        if not wants_launch(moved, at):
            _keep(batch, moved)
        elif _launches_stopped(cluster):
            _keep(batch, evolve(moved, launch_after=None, waiting_since=None))
        else:
            waiting.append(moved)
    waiting.sort(key=lambda node: (node.launch_after, groups[node.group].position, node.ordinal))
    for node in waiting:
        _keep(batch, _run(batch, _launch(batch, node, at, now), at))
    return batch


def _launches_stopped(cluster: Cluster) -> bool:
    return cluster.failed_at is not None or cluster.delete_requested_at is not None


def _keep(batch: Batch, node: Instance) -> None:
    (batch.gone if node.status is Node.GONE else batch.changed).append(node)


def _run(batch: Batch, before: Instance, at: WorldTime) -> Instance:
    """Fire what is due and write down what follows."""
    node = before
    around = batch.around
    end, steps = run(before, at, around.timings, around.seed, partial(_enter, batch))
    for moved, fired in steps:
        _account(batch, node, moved, fired)
        batch.told.narrate(node, moved, fired)
        node = moved
    return end


def _enter(batch: Batch, node: Instance, fired: Fired) -> Instance:
    return hazards(batch.cluster, node, fired, batch.around.faults)


def _account(batch: Batch, before: Instance, node: Instance, fired: Fired) -> None:
    """Capacity, counts, bills and failures."""
    moved = fired.source is Node.DETACHING  # it takes its machine along
    if before.zone is not None and not moved and (node.zone is None or node.status is Node.GONE):
        _give_back(batch.around, before, fired.at)
    batch.count(node.group, fired)
    if fired.stage == DEGRADED:
        batch.degraded.append(node)
    elif fired.source is Node.RUNNING:
        batch.left[node.logical_id] = leaving.reason(fired.stage, batch.cluster, batch.groups.get(node.group))
    elif fired.target is Node.RUNNING:
        batch.came = True
    if node.billed_from is not None and before.billed_from is None:
        batch.opened.append(_interval(node, node.billed_from, None, before.billed_until))
    if before.billed_from is not None and node.billed_from is None:
        batch.closed.append(_interval(node, before.billed_from, node.billed_until, None))
    if fired.target is Node.FAILED and fired.source is not Node.FAILED:
        _note_failure(batch, node, fired.stage in _NOT_RETRYABLE)


def _give_back(around: Surroundings, node: Instance, at: WorldTime) -> None:
    if node.reservation is not None:
        around.reserve.give_back(node)
    else:
        around.stock.give_back(node.instance_type, node.zone or "", at)


def _interval(node: Instance, start: WorldTime, end: WorldTime | None, previous: WorldTime | None) -> Interval:
    return Interval(
        node.logical_id,
        node.billings,
        node.instance_id or "",
        node.group,
        node.instance_type,
        start,
        end,
        previous,
        node.reservation is not None,
    )


def _note_failure(batch: Batch, node: Instance, final: bool) -> None:
    """HP-9: capacity and lifecycle scripts are no passing troubles for a controller; HP-40: any failure is final."""
    batch.failure = batch.failure or node.message
    if final and batch.groups[node.group].node_type == CONTROLLER:
        batch.controller_failure = batch.controller_failure or node.message


def _launch(batch: Batch, node: Instance, at: WorldTime, now: WorldTime) -> Instance:
    """Try once: with a grant the node is on its way, without one it waits from `now` on."""
    group = batch.groups[node.group]
    subject = health.subject(batch.cluster, evolve(node, attempt=node.attempt + 1))
    struck = batch.around.faults.strike("launch-capacity", subject, at)
    grant = None if struck else _grant(batch.around, group, node, at)
    moment = now if grant is None else max(at, node.since, grant.since or at)
    _narrate_attempt(batch, node, moment)
    if grant is None:
        waiting = refused(node, moment, batch.around.timings, batch.around.seed)
        if group.training_plan is not None:
            waiting = batch.around.reserve.sooner(group.training_plan, waiting, moment)
        _note_failure(batch, waiting, final=True)
        batch.told.tell("provision-failed", moment, waiting, failure=CAPACITY_MESSAGE.format(node.instance_type))
        return waiting
    launched = _granted(batch, group, node, grant, subject, moment)
    if node.replaced_at is not None:
        batch.told.tell("replacement-started", moment, launched)
    if grant.reservation is None:
        batch.told.tell("no-reservation", moment, launched)
    else:
        arn = reserved_arn(batch.cluster.region, batch.cluster.account, grant.reservation)
        batch.told.tell("reservation-found", moment, launched, reservation=grant.reservation, reservation_arn=arn)
    if group.own_network:
        batch.told.tell("eni-created", moment, launched)
    return launched


def _grant(around: Surroundings, group: Group, node: Instance, at: WorldTime) -> Grant | None:
    """A machine of the group's training plan, or without one of the pools."""
    wish = node.wish or {}
    zones = _turn(wish.get("zones", group.zones), node.ordinal)
    want = Want(node.logical_id, wish.get("types", group.instance_types), zones)
    if group.training_plan is not None:
        return around.reserve.take(group.training_plan, want, at)
    return around.stock.take(want)


def _narrate_attempt(batch: Batch, node: Instance, moment: WorldTime) -> None:
    if node.attempt == 0:
        batch.told.tell("instance-started", moment, node, operation="creation")
    if node.echo_at is not None:  # woken within the second, so the pair's second event comes now at the latest (HP-27)
        told_at = min(moment, after(node.echo_at, batch.around.timings.delays["second"]))
        batch.told.tell("creation-failed", told_at, node, failure=node.message)


def _granted(batch: Batch, group: Group, node: Instance, grant: Grant, subject: Subject, now: WorldTime) -> Instance:
    subject = evolve(subject, instance_type=grant.instance_type)
    attempt, delays = node.attempt + 1, batch.around.timings.delays
    extra = _slow_boot(batch, subject, now)
    fate = _fate(batch.around.faults, group, subject, now)
    script = now if group.has_script else None
    cluster, seed = batch.cluster, batch.around.seed
    name = cluster.naming.instance_id(seed, cluster.cluster_id, node.group, node.ordinal, node.logical_id, attempt)
    return evolve(
        node,
        status=Node.LAUNCHING,
        since=now,
        attempt=attempt,
        instance_type=grant.instance_type,
        instance_id=name,
        zone=grant.zone,
        reservation=grant.reservation,
        server=grant.server,
        launch_after=None,
        launched_at=now,
        listed_at=now,
        boot_after=WorldTime(now + delays["launch"] + extra),
        script_at=script,
        script_returns_at=None if fate == "script-hang" else script,
        deep_check_at=now if group.deep_check else None,
        launch_fault_at=now if fate == "launch-transient" else None,
        unhealthy_at=now if fate == "launch-unhealthy" else None,
        script_fault_at=now if fate == "script-failed" else None,
        script_hang_at=now if fate == "script-hang" else None,
        check_fault_at=None,
        fault=None,
        echo_at=None,
        waiting_since=None,
        message=None,
        image=group.image,
        patched_at=None,
    )


def _slow_boot(batch: Batch, subject: Subject, now: WorldTime) -> timedelta:
    rule = batch.around.faults.strike("boot-slow", subject, now)
    if rule is None:
        return timedelta(0)
    return batch.around.timings.delays["slow_boot"] if rule.seconds is None else timedelta(seconds=rule.seconds)


def _fate(faults: Faults, group: Group, subject: Subject, now: WorldTime) -> str | None:
    """The fault that ends the attempt. An attempt ends once, so those that would come later are not spent on it."""
    later = ("script-hang", "script-failed") if group.has_script else ()
    effects: tuple[str, ...] = ("launch-transient", "launch-unhealthy", *later)
    return next((effect for effect in effects if faults.strike(effect, subject, now)), None)


def _turn(zones: Sequence[str], ordinal: int) -> Sequence[str]:
    """The zones in order, beginning at another one for each node, so that a group spreads."""
    start = (ordinal - 1) % len(zones)
    return (*zones[start:], *zones[:start])
