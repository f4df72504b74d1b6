"""One worker of a job: its facts, and the table that moves it (VX-2 to VX-8)."""

from dataclasses import dataclass
from enum import StrEnum

from app.core.lifecycle import Delays, Stage, due, table
from app.core.times import WorldTime


class Worker(StrEnum):
    """Where a worker stands."""

    WAITING = "Waiting"
    PROVISIONING = "Provisioning"
    STARTING = "Starting"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    DONE = "Done"
    STOPPING = "Stopping"
    STOPPED = "Stopped"


@dataclass(frozen=True, slots=True)
class Replica:
    """A worker's place in its pool, and the machine that it has at present.

    A fact is a timestamp. `launch_after` says from when on a machine may be asked for, `waiting_since` since when
    there has been none; `zone` is set while a machine of the region's pool is held, `node` while a HyperPod cluster's
    node is. `done_at` (exit code 0) and `exit_at` (with `exit_code`) are planned when a run begins; `lost_at`, with
    what takes the machine away as `lost_to`, and `stop_at` are appointed from outside.
    """

    pool: int
    ordinal: int
    status: Worker
    since: WorldTime
    machine_type: str
    launch_after: WorldTime | None = None
    waiting_since: WorldTime | None = None
    zone: str | None = None
    node: str | None = None
    machine: str | None = None
    """The id of the machine that it has, or had last."""
    machines: int = 0
    """How many it has had."""
    boot_after: WorldTime | None = None
    up_at: WorldTime | None = None
    """When its program first ran in this attempt of the job."""
    run_at: WorldTime | None = None
    """When its last run began."""
    runs: int = 0
    """How often its program has begun, over all attempts."""
    restarts: int = 0
    """How often it was lost and came back in this attempt of the job."""
    done_at: WorldTime | None = None
    exit_at: WorldTime | None = None
    exit_code: int | None = None
    lost_at: WorldTime | None = None
    lost_to: str | None = None
    stop_at: WorldTime | None = None
    saved_ms: int = 0
    """How much of its work the last checkpoint holds."""
    lost_ms: int = 0
    """How much work has been done for nothing, over all attempts."""
    billings: int = 0
    billed_from: WorldTime | None = None
    billed_until: WorldTime | None = None

    @property
    def name(self) -> str:
        """`workerpool0-0`."""
        return f"workerpool{self.pool}-{self.ordinal}"

    @property
    def is_primary(self) -> bool:
        """The first replica of the first pool, which decides when the job is done (VX-8)."""
        return self.pool == 0 and self.ordinal == 0


_STOP = ("since", "stop_at")
_LOST = ("since", "lost_at")
_HOLDING = (Worker.PROVISIONING, Worker.STARTING, Worker.RUNNING, Worker.RESTARTING, Worker.DONE)
LOSABLE = (Worker.PROVISIONING, Worker.STARTING, Worker.RUNNING, Worker.RESTARTING)
"""What is lost with its machine, and goes on elsewhere."""

STAGES = (
    *(Stage(f"stop-{source.lower()}", source, Worker.STOPPING, _STOP) for source in _HOLDING),
    Stage("withdraw", Worker.WAITING, Worker.STOPPED, _STOP),
    Stage("stopped", Worker.STOPPING, Worker.STOPPED, delay="vm_stop"),
    Stage("done", Worker.RUNNING, Worker.DONE, ("since", "done_at"), clears=("exit_at",)),
    Stage("exited", Worker.RUNNING, Worker.RESTARTING, ("since", "exit_at"), clears=("exit_at", "done_at")),
    *(Stage(f"lost-{source.lower()}", source, Worker.WAITING, _LOST, clears=("lost_at",)) for source in LOSABLE),
    Stage("provisioned", Worker.PROVISIONING, Worker.STARTING, ("since", "boot_after"), "vm"),
    Stage("started", Worker.STARTING, Worker.RUNNING, ("since", "boot_after"), "container"),
    Stage("restarted", Worker.RESTARTING, Worker.RUNNING, delay="container_restart"),
)
TABLE = table(STAGES)

AT_WORK = frozenset((Worker.RUNNING, Worker.RESTARTING, Worker.DONE))
"""The worker is available: its program runs, runs again at once, or has done its work (VX-2)."""
BILLED = frozenset((Worker.STARTING, Worker.RUNNING, Worker.RESTARTING, Worker.DONE))
"""Its machine is up (VX-23)."""
IDLE = frozenset((Worker.WAITING, Worker.STOPPED))
"""It has no machine."""


def next_due(replica: Replica, delays: Delays) -> WorldTime | None:
    """When the worker next needs looking at: a stage, or the next request for a machine."""
    hit = due(replica, TABLE, delays)
    stage_at = hit[0] if hit else None
    if replica.status is not Worker.WAITING or replica.launch_after is None:
        return stage_at
    return replica.launch_after if stage_at is None else min(stage_at, replica.launch_after)
