"""One node of a cluster: its facts, and what follows when a stage of its table (`app.core.node`) fires."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from app.core.failures import CAPACITY_MESSAGE, FAILURES
from app.core.lifecycle import Delays, Fired, due, fire
from app.core.node import BILLED, DEGRADED, LAUNCHABLE, PATCHED, TABLE, Node
from app.core.times import WorldTime
from app.core.timings import Timings
from app.core.values import evolve


@dataclass(frozen=True, slots=True)
class Instance:
    """A node's place in its group, and the instance that fills it at present.

    A fact is a timestamp. `launch_after` says from when on the next launch may be tried; `boot_after` to
    `script_hang_at` are set for each attempt when it is granted; `zone` is set while capacity is held.
    `hardware_fault_at` to `terminate_fault_at` appoint what befalls an instance that has run, `fault` says which fault
    (`app.core.health`). `patch_at` appoints the change from `image` to `next_image` (`app.core.software`).
    """

    group: str
    ordinal: int
    logical_id: str
    instance_type: str
    created_at: WorldTime
    listed_at: WorldTime
    status: Node
    since: WorldTime
    attempt: int = 0
    failures: int = 0
    instance_id: str | None = None
    zone: str | None = None
    launch_after: WorldTime | None = None
    launched_at: WorldTime | None = None
    boot_after: WorldTime | None = None
    script_at: WorldTime | None = None
    script_returns_at: WorldTime | None = None
    deep_check_at: WorldTime | None = None
    launch_fault_at: WorldTime | None = None
    unhealthy_at: WorldTime | None = None
    script_fault_at: WorldTime | None = None
    script_hang_at: WorldTime | None = None
    check_fault_at: WorldTime | None = None
    hardware_fault_at: WorldTime | None = None
    degraded_at: WorldTime | None = None
    fault: str | None = None
    examine_at: WorldTime | None = None
    move_at: WorldTime | None = None
    reboot_at: WorldTime | None = None
    reboot_fault_at: WorldTime | None = None
    replace_at: WorldTime | None = None
    replaced_at: WorldTime | None = None
    """Since when the node has been on its way to another instance; None once that runs."""
    terminate_fault_at: WorldTime | None = None
    terminate_at: WorldTime | None = None
    echo_at: WorldTime | None = None
    waiting_since: WorldTime | None = None
    message: str | None = None
    billings: int = 0
    billed_from: WorldTime | None = None
    billed_until: WorldTime | None = None
    wish: Mapping[str, tuple[str, ...]] | None = None
    """`zones` and `types` that this node alone is to be launched in; otherwise its group's."""
    image: str | None = None
    next_image: str | None = None
    patch_at: WorldTime | None = None
    retry_at: WorldTime | None = None
    patched_at: WorldTime | None = None
    reservation: str | None = None
    """The reserved capacity that the machine is of, and was of while `zone` is None; None for a pool's machine."""
    server: int | None = None


_NO_PATCH = dict.fromkeys(("patch_at", "retry_at", "next_image"))
_NO_TROUBLE = _NO_PATCH | dict.fromkeys(
    (
        *("check_fault_at", "hardware_fault_at", "degraded_at", "fault", "examine_at", "reboot_at", "reboot_fault_at"),
        "terminate_fault_at",
    )
)
_PATCH_ENDS = (Node.RECONFIGURING, Node.UNPATCHED)
PATCH_TRIES = 4
"""How often the lifecycle script is tried in one software update (seen in the field)."""

Enter = Callable[[Instance, Fired], Instance]
"""What befalls a node in the state that it has just reached, appointed by marks."""


def next_due(node: Instance, delays: Delays) -> WorldTime | None:
    """When the node next needs looking at: a stage, or the next launch attempt."""
    hit = due(node, TABLE, delays)
    stage_at = hit[0] if hit else None
    if node.status not in LAUNCHABLE or node.launch_after is None:
        return stage_at
    return node.launch_after if stage_at is None else min(stage_at, node.launch_after)


def wants_launch(node: Instance, now: WorldTime) -> bool:
    """True when a launch attempt is due."""
    return (
        node.status in LAUNCHABLE
        and node.terminate_at is None
        and node.launch_after is not None
        and node.launch_after <= now
    )


def unharmed(node: Instance, _: Fired) -> Instance:
    """Nothing lies in wait."""
    return node


def run(
    node: Instance, now: WorldTime, timings: Timings, seed: int, enter: Enter = unharmed
) -> tuple[Instance, list[tuple[Instance, Fired]]]:
    """Advance to `now`; give the node, and each fired stage with the node as it was right after that stage."""
    steps = list(_steps(node, now, timings, seed, enter))
    return (steps[-1][0] if steps else node), steps


def _steps(
    node: Instance, now: WorldTime, timings: Timings, seed: int, enter: Enter
) -> Iterator[tuple[Instance, Fired]]:
    while (hit := due(node, TABLE, timings.delays)) and hit[0] <= now:
        node, fired = fire(node, *hit)
        node = _bill(node, fired)
        if fired.target is Node.FAILED and fired.source is not Node.FAILED:
            node = failed(node, fired.at, FAILURES[fired.stage], timings, seed)
        elif fired.target in _PATCH_ENDS or (fired.source in PATCHED and fired.target is Node.RUNNING):
            node = _patched(node, fired)
        elif fired.target is Node.PATCHING:
            node = evolve(node, failures=0)
        elif fired.target is Node.RUNNING and fired.stage != DEGRADED:
            node = evolve(node, failures=0, message=None, replaced_at=None, **_NO_TROUBLE)
        elif fired.target is Node.VACATING:
            node = evolve(node, replaced_at=node.replaced_at or fired.at, **_NO_TROUBLE)
        elif fired.target is Node.TERMINATING:
            node = evolve(node, **_NO_TROUBLE)
        elif fired.target is Node.REQUESTED:
            node = _vacated(node, fired.at)
        yield (node := enter(node, fired)), fired


def _patched(node: Instance, fired: Fired) -> Instance:
    """HP-30: the root volume is another, then the script runs; while it is tried again the last failure stays told."""
    if fired.target is Node.RUNNING:
        facts = {"image": node.next_image or node.image, "patched_at": fired.at, "failures": 0, "message": None}
        return evolve(node, **facts, **_NO_PATCH)  # a fault that lies in wait is not cured by another root volume
    if fired.target is Node.UNPATCHED:
        retry_at = fired.at if node.failures + 1 < PATCH_TRIES else None
        return evolve(node, failures=node.failures + 1, message=FAILURES[fired.stage], retry_at=retry_at)
    return evolve(node, image=node.next_image)


def _vacated(node: Instance, at: WorldTime) -> Instance:
    """The instance is gone; its place in the group launches another (HP-29)."""
    return evolve(
        node,
        zone=None,
        instance_id=None,
        launched_at=None,
        listed_at=node.created_at,
        launch_after=at,
        message=None,
        **_NO_TROUBLE,
    )


def _bill(node: Instance, fired: Fired) -> Instance:
    """HP-22: billing runs from the start of the lifecycle script, or else from the end of the boot, to termination."""
    if fired.target in BILLED and node.billed_from is None:
        return evolve(node, billings=node.billings + 1, billed_from=fired.at)
    if fired.target not in BILLED and node.billed_from is not None:
        return evolve(node, billed_from=None, billed_until=fired.at)
    return node


def failed(node: Instance, at: WorldTime, message: str, timings: Timings, seed: int) -> Instance:
    """The attempt failed: capacity is given back, the second Error event and the next attempt are appointed."""
    failures = node.failures + 1
    wait = timings.retry(failures, seed, node.logical_id)
    return evolve(
        node,
        status=Node.FAILED,
        since=at,
        failures=failures,
        zone=None,
        message=message,
        echo_at=at,
        launch_after=WorldTime(at + wait),
        waiting_since=None,
    )


def refused(node: Instance, at: WorldTime, timings: Timings, seed: int) -> Instance:
    """There was no capacity: no instance came to be, and the node waits until some appears or its next attempt."""
    started = evolve(node, attempt=node.attempt + 1, instance_id=None, listed_at=node.created_at, launched_at=None)
    waiting = failed(started, at, CAPACITY_MESSAGE.format(node.instance_type), timings, seed)
    return evolve(waiting, waiting_since=node.waiting_since or at)
