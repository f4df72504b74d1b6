"""What a simulation runs: workloads of a trace, the fleet they meet and the tree of budgets. Times are milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.scheduling.workload import Kind


@dataclass(frozen=True, slots=True)
class Job:
    """A gang of `replicas`, each with `gpus` GPUs of one host, that has `runtime` of work to do.

    `min_runtime` above zero asks to be funded (FS-3). `checkpoint` is the interval at which it saves its work, None
    never. `priority` is what its owner wrote, 0 the lowest; `debug` marks the short ones that somebody waits for.
    At `withdraw` its owner takes it back, whether it waits or runs; None: never.
    """

    id: str
    submit: int
    runtime: int
    gpus: int
    replicas: int = 1
    leaf: str | None = None
    min_runtime: int = 0
    priority: int = 0
    resumable: bool = True
    checkpoint: int | None = None
    kind: Kind = Kind.BATCH
    model: str = ""
    debug: bool = False
    withdraw: int | None = None

    @property
    def size(self) -> int:
        """GPUs of the whole gang."""
        return self.gpus * self.replicas


@dataclass(frozen=True, slots=True)
class Node:
    """A host with `gpus` GPUs."""

    id: str
    gpus: int
    model: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Share:
    """A budget: its weight among its siblings; the root is no budget, and stands as the parent ""."""

    id: str
    parent: str
    weight: int


@dataclass(frozen=True, slots=True)
class Mishap:
    """A node breaks: `gone` at once, or degraded, so that it may be drained first; its repair takes `repair`."""

    at: int
    node: str
    gone: bool
    repair: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that happens whatever the policy; `jobs` by submit time. `begins` to `ends` is what is measured."""

    name: str
    jobs: Sequence[Job]
    nodes: Sequence[Node]
    shares: Sequence[Share]
    begins: int
    ends: int
    mishaps: Sequence[Mishap] = field(default=())
    source: str = ""
    """Where it comes from, with its licence."""

    @property
    def gpus(self) -> int:
        return sum(node.gpus for node in self.nodes)
