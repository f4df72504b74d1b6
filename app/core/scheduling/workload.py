"""A workload as the scheduler knows it: what was asked for, and where it stands (FS-3 to FS-5)."""

from enum import StrEnum

from app.core.scheduling.budgets import Shape, Turn
from app.core.scheduling.decisions import Code


class Status(StrEnum):
    WAITING = "waiting"
    HELD = "held"
    """GPUs are held for it until its victims' grace is over."""
    RUNNING = "running"
    LEAVING = "leaving"
    """It runs, evicted, for the rest of its grace."""


class Evictable(StrEnum):
    """As what a running gang may be a victim."""

    NO = "no"
    UNFUNDED = "unfunded"
    EXPIRED = "expired"


class Kind(StrEnum):
    BATCH = "batch"
    SESSION = "session"


def saved(ran: int, checkpoint: int | None, *, resumable: bool) -> int:
    """How much of a run's milliseconds its checkpoints hold: nothing, if it saves none or cannot be resumed."""
    return ran - ran % checkpoint if checkpoint and resumable else 0


class Workload:
    """A gang of `replicas`, each with `gpus` of one host. Times are milliseconds."""

    __slots__ = (
        "attempt",
        "bound_at",
        "checkpoint",
        "claim",
        "claim_code",
        "claim_due",
        "committed_gpus",
        "committed_until",
        "epoch",
        "evictable",
        "funded",
        "gpus",
        "hole_since",
        "id",
        "kind",
        "leaf",
        "leaves_at",
        "min_runtime",
        "model",
        "moved_at",
        "places",
        "priority",
        "protected_gpus",
        "protected_until",
        "queued_at",
        "replicas",
        "resumable",
        "segment_at",
        "segment_funded",
        "segment_gpus",
        "shape",
        "slices",
        "status",
        "submit",
        "wants_funds",
        "zone",
    )

    def __init__(
        self,
        name: str,
        *,
        leaf: str | None,
        gpus: int,
        replicas: int = 1,
        min_runtime: int = 0,
        priority: int = 0,
        submit: int = 0,
        resumable: bool = True,
        kind: Kind = Kind.BATCH,
        checkpoint: int | None = None,
        model: str = "",
        zone: str = "",
    ) -> None:
        """`checkpoint` is the interval at which it saves its work, None never; an empty model or zone fits any."""
        self.id = name
        self.leaf = leaf
        self.gpus = gpus
        self.replicas = replicas
        self.min_runtime = min_runtime
        self.priority = priority
        self.submit = submit
        self.resumable = resumable
        self.kind = kind
        self.checkpoint = checkpoint
        self.model = model
        self.zone = zone
        self.wants_funds = leaf is not None and min_runtime > 0
        """Whether it competes as funded work (FS-3)."""
        self.shape: Shape = (self.wants_funds, gpus, replicas, model, zone, min_runtime)
        """Workloads of one leaf and shape can start in the same places."""
        self.status = Status.WAITING
        self.funded = self.wants_funds
        self.slices = 0
        """How often its protection ran out."""
        self.attempt = 0
        self.queued_at = submit
        self.bound_at = 0
        self.protected_until = 0
        self.leaves_at = 0
        self.places: dict[str, int] = {}
        self.claim: dict[str, int] = {}
        """What is held for it: to start, to be moved to, or to fill its hole; bound at `claim_due`."""
        self.claim_due = 0
        self.hole_since: int | None = None
        self.moved_at: int | None = None
        self.claim_code = Code.FREE
        self.evictable = Evictable.NO
        self.committed_gpus = self.committed_until = 0
        self.protected_gpus = 0
        self.segment_at = self.segment_gpus = 0
        self.segment_funded = False
        self.epoch = 0
        """Grows whenever what is due for it changes, so that older timers mean nothing."""

    @property
    def turn(self) -> Turn:
        """Its place within its leaf, lowest first (FS-2)."""
        return (-self.priority, self.slices, self.submit, self.id)

    @property
    def missing(self) -> int:
        """How many replicas a lost host took."""
        return self.replicas - sum(self.places.values())

    def lost(self, now: int) -> int:
        """GPU-milliseconds of work since its last checkpoint, which an eviction now would lose (FS-7)."""
        ran = now - self.bound_at
        return (ran - saved(ran, self.checkpoint, resumable=self.resumable)) * self.gpus * self.replicas
