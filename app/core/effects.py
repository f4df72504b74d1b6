"""What a fault rule may do: each effect, what it strikes, which words it takes, what it means (CT-3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from app.core.errors import Invalid

Kind = Literal["launch", "node", "job", "work", "request"]
WHEN = frozenset({"account", "region", "probability", "every", "times", "after", "before"})
"""What every effect takes."""
_LAUNCH = frozenset({"cluster", "group", "instance_type", "node", "attempt"})
_NODE = frozenset({"cluster", "group", "instance_type", "node"})
_JOB = frozenset({"job", "replica", "instance_type", "attempt"})
_RUN = _JOB | {"node", "seconds"}
_SCRIPT = _LAUNCH | {"operation"}
_PATCH = "with the operation `UpdateClusterSoftware` only in software updates"
_SOFTWARE, _CHECK = ("UpdateClusterSoftware",), ("StartClusterHealthCheck",)
_WORK = (
    *("CreateCluster", "UpdateCluster", "BatchRebootClusterNodes", "BatchReplaceClusterNodes"),
    *("DetachClusterNodeVolume", "CreateTrainingPlan", "ExtendTrainingPlan", "CreateCustomJob"),
    *(
        f"{verb}{noun}"
        for noun in ("ClusterExtension", "ClusterSchedulerConfig", "ComputeQuota")
        for verb in ("Create", "Update", "Delete")
    ),
)
"""What begins something that an `internal-error` can make fail."""
_REQUEST = frozenset({"api", "cluster", "job", "operation"})
THROTTLES = (
    "ThrottlingException",
    "Throttling",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "TooManyRequestsException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "SlowDown",
)
"""What AWS's SDKs take for throttling."""


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect: what it strikes, the words of a rule that it takes beyond `WHEN`, and its meaning.

    `codes` and `operations` are the only ones that it takes; empty: any.
    """

    name: str
    kind: Kind
    takes: frozenset[str]
    meaning: str
    codes: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()


LATENCY = "api-latency"
DROP = "api-drop"
_TABLE = (
    Effect("launch-capacity", "launch", _LAUNCH, "no capacity, as if the pool were empty"),
    Effect("launch-transient", "launch", _LAUNCH, "the launch fails with an internal error; never billed"),
    Effect("launch-unhealthy", "launch", _LAUNCH, "the health check after the boot fails; never billed"),
    Effect("boot-slow", "launch", _LAUNCH | {"seconds"}, "the boot takes `seconds` longer"),
    Effect(
        "script-failed", "launch", _SCRIPT, f"the lifecycle script fails; its run is billed; {_PATCH}", (), _SOFTWARE
    ),
    Effect(
        "script-hang",
        "launch",
        _SCRIPT,
        f"the lifecycle script runs until it times out; billed; {_PATCH}",
        (),
        _SOFTWARE,
    ),
    Effect(
        "node-hardware",
        "node",
        _NODE | {"code", "seconds", "operation"},
        "a running node breaks with the fault `code`, `seconds` after it began to run; with the operation "
        "`StartClusterHealthCheck` a deep health check finds it instead",
        operations=_CHECK,
    ),
    Effect(
        "node-degraded",
        "node",
        _NODE | {"code", "seconds"},
        "a running node works on with the fault `code`, `seconds` after it began to run: where workloads run, its host "
        "is emptied before it is rebooted or replaced",
    ),
    Effect("reboot-failed", "node", _NODE | {"code"}, "a node does not come back from a reboot"),
    Effect("terminate-failed", "node", _NODE | {"code"}, "termination fails; `AccessDenied`: the role is gone"),
    Effect(
        "worker-exit",
        "job",
        _RUN | {"code"},
        "a worker's program exits with `code` (1), `seconds` after it began; the code `transient`: the worker is lost",
    ),
    Effect("worker-oom", "job", _RUN, "a worker's program runs out of memory, `seconds` after it began"),
    Effect("vm-maintenance", "job", _RUN, "a worker's machine is taken away, `seconds` after its program began"),
    Effect("spot-preemption", "job", _RUN, "the same to a machine of the strategy SPOT, which preempts the job"),
    Effect("stockout", "job", _JOB, "a worker finds no machine in this attempt of the job, as if the pool were empty"),
    Effect(
        "internal-error",
        "work",
        frozenset({"cluster", "job", "attempt", "operation", "code", "message", "seconds"}),
        "what `operation` has begun fails, as far as `code` says; a job's attempt `seconds` after it began",
        operations=_WORK,
    ),
    Effect("api-error", "request", _REQUEST | {"code", "message"}, "the request is refused with `code` and `message`"),
    Effect("api-throttle", "request", _REQUEST | {"code", "message"}, "the request is throttled", THROTTLES),
    Effect(LATENCY, "request", _REQUEST | {"seconds"}, "the answer comes `seconds` of wall time later"),
    Effect(
        DROP,
        "request",
        _REQUEST | {"code"},
        "the connection closes without an answer, `before` the request is done (default) or `after`",
        ("before", "after"),
    ),
)
EFFECTS: Mapping[str, Effect] = MappingProxyType({effect.name: effect for effect in _TABLE})
"""Every effect by its name."""
WORLD_EFFECTS = tuple(effect.name for effect in _TABLE if effect.kind != "request")
REQUEST_EFFECTS = tuple(effect.name for effect in _TABLE if effect.kind == "request")


def effect_of(name: str) -> Effect:
    """The effect of this name; Invalid, naming those that there are."""
    if name in EFFECTS:
        return EFFECTS[name]
    near = get_close_matches(name, EFFECTS, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise Invalid(f"Fault effect '{name[:80]}' is not available. {meant}Choose one of: {', '.join(EFFECTS)}.")


def check_words(effect: Effect, given: Iterable[str], code: str | None, operation: str | None = None) -> None:
    """Invalid if a rule of this effect says something that the effect has no use for: it would never strike."""
    for word in given:
        if word not in effect.takes | WHEN:
            fitting = [each.name for each in _TABLE if word in each.takes]
            raise Invalid(f"{effect.name} takes no '{word}': leave it out. It belongs to: {', '.join(fitting)}.")
    if code is not None and effect.codes and code not in effect.codes:
        raise Invalid(f"The code of {effect.name} is one of: {', '.join(effect.codes)}; not '{code}'.")
    if operation is not None and effect.operations and operation not in effect.operations:
        raise Invalid(
            f"{effect.name} never strikes {operation}. Leave the operation out, or choose one of: "
            f"{', '.join(effect.operations)}."
        )
