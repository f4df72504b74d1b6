"""Extensions of a Slurm cluster. A status is computed from facts, the cluster's running nodes, and `now`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.cluster import Cluster, cluster_status
from app.core.errors import Conflict, InUse, Invalid
from app.core.intent import SLURM
from app.core.times import WorldTime, after
from app.core.timings import Timings

CREATE, UPDATE = "Create", "Update"
_UNDER_WAY = {CREATE: "Creating", UPDATE: "Updating"}
MOST_ISSUES = 20
OTHER, USUAL = "Other", "InternalFailure"
Failures = Mapping[str, Sequence[str]]
"""Code and message by the instance on which something failed."""
ISSUES: Mapping[str, str] = {
    "InvalidConfiguration": "The extension rejected its configuration on the node. Check ConfigurationValues.",
    "ConfigurationConflict": "Other software on the node conflicts with the extension. Remove it, then retry.",
    "AccessDenied": "The execution role of the instance group may not do what the extension needs. Extend its policy.",
    "ResourceNotFound": "Something that the configuration names does not exist. Create it or change the setting.",
    "DependencyUnreachable": "The node cannot reach a service that the extension needs. Check its network.",
    "ExtensionUnhealthy": "The extension runs on the node and reports that it is unhealthy.",
    USUAL: "The extension could not be changed on the node because of an internal failure. Retry.",
    OTHER: "Other problems.",
}


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension of a cluster. `changed_at` is when version or settings last changed, `tried_at` when the nodes were
    last worked on; `failures` say on which that fails, `earlier` on which the time before did."""

    name: str
    generation: int
    arn: str
    version: str
    settings: Mapping[str, Any]
    created_at: WorldTime
    modified_at: WorldTime
    changed_at: WorldTime
    tried_at: WorldTime
    attempt: str
    delete_requested_at: WorldTime | None
    failures: Mapping[str, Any]
    earlier: Mapping[str, Any]
    settles_at: WorldTime | None


@dataclass(frozen=True, slots=True)
class Census:
    """The cluster's running nodes: how many there are, how many of them long enough, and which of the suspects run."""

    total: int
    ready: int
    suspects: frozenset[str]
    ready_suspects: int


@dataclass(frozen=True, slots=True)
class Issue:
    """A problem and how many nodes have it."""

    code: str
    message: str
    nodes: int


@dataclass(frozen=True, slots=True)
class View:
    """The extension as it is seen now. `status` is None when it is gone."""

    extension: Extension
    status: str | None
    total: int
    active: int
    issues: Sequence[Issue]


def failing(extension: Extension, now: WorldTime) -> Failures:
    """Where it is known by now to fail: while the nodes are worked on, what failed the time before."""
    done = extension.settles_at is None or now >= extension.settles_at
    return extension.failures if done else extension.earlier


def ready_before(now: WorldTime, timings: Timings) -> WorldTime:
    """A node that has been running since then, or longer, has the extension."""
    return after(now, -timings.delays["extension"])


def view(extension: Extension, census: Census, now: WorldTime, timings: Timings) -> View:
    """What Describe shows. `census` counts by `ready_before`, and its suspects are among `failing`."""
    delay = timings.delays["extension"]
    known = failing(extension, now)
    ill = {one: known[one] for one in census.suspects}
    issues = _issues(ill)
    if extension.delete_requested_at is not None:
        return View(extension, _leaving(extension, len(ill), census, now), census.total, 0, issues)
    changing = now < after(extension.changed_at, delay)
    active = 0 if changing else census.ready - census.ready_suspects
    if now < after(extension.tried_at, delay):
        status = _UNDER_WAY[extension.attempt]
    elif ill and len(ill) == census.total:
        status = f"{extension.attempt}Failed"
    else:
        status = "Active" if active == census.total else "Degraded"
    return View(extension, status, census.total, active, issues)


def _leaving(extension: Extension, left: int, census: Census, now: WorldTime) -> str | None:
    if extension.settles_at is not None and now < extension.settles_at:
        return "Deleting"
    if not left:
        return None
    return "DeleteFailed" if left == census.total else "Degraded"


def _issues(ill: Failures) -> list[Issue]:
    """By cause, the most frequent first; the twentieth stands for all beyond it."""
    counts = Counter((code, message) for code, message in ill.values())
    found = [Issue(code, message, n) for (code, message), n in sorted(counts.items(), key=lambda e: (-e[1], e[0]))]
    if len(found) <= MOST_ISSUES:
        return found
    rest = sum(issue.nodes for issue in found[MOST_ISSUES - 1 :])
    return [*found[: MOST_ISSUES - 1], Issue(OTHER, ISSUES[OTHER], rest)]


def issue_of(code: str | None, message: str | None) -> list[str]:
    """A failure's code and message, as a fault rule gives them."""
    known = USUAL if code is None else code if code in ISSUES else OTHER
    return [known, (message or ISSUES[known])[:1024]]


def check_cluster(cluster: Cluster) -> None:
    """Only Slurm with continuous provisioning takes extensions, and only in service."""
    if cluster.orchestrator != SLURM or not cluster.continuous:
        raise Invalid(
            f"Cluster '{cluster.name}' takes no extensions: they need the Slurm orchestrator and NodeProvisioningMode "
            "Continuous. Use a cluster that has both."
        )
    status = cluster_status(cluster)
    if status != "InService":
        raise Conflict(f"Cluster '{cluster.name}' is in {status} state. Change its extensions when it is InService.")


def check_may_update(seen: View) -> None:
    """An extension that is being deleted, or could not be, takes no update."""
    if seen.extension.delete_requested_at is not None:
        raise Conflict(
            f"Extension '{seen.extension.name}' is {seen.status} after a deletion. Delete it, then create it again."
        )


def check_may_delete(seen: View) -> None:
    """Not while its nodes are worked on."""
    if seen.status == "Deleting":
        raise Conflict(f"Extension '{seen.extension.name}' is being deleted already. Wait until it is gone.")
    if seen.status in _UNDER_WAY.values():
        raise InUse(f"Extension '{seen.extension.name}' is {seen.status}. Delete it when that is over.")


def updated(seen: View, version: str, settings: Mapping[str, Any], now: WorldTime, timings: Timings) -> Extension:
    """The extension on its way to another version or other settings; without a change, to a retry where it failed."""
    old, until = seen.extension, after(now, timings.delays["extension"])
    changes = (version, settings) != (old.version, old.settings)
    return replace(
        old,
        version=version,
        settings=settings,
        modified_at=now,
        changed_at=now if changes else old.changed_at,
        tried_at=now,
        attempt=UPDATE,
        earlier=failing(old, now),
        failures={},
        settles_at=until,
    )


def deleted(seen: View, now: WorldTime, timings: Timings) -> Extension:
    """The extension on its way out."""
    old = seen.extension
    return replace(
        old,
        delete_requested_at=now,
        earlier=failing(old, now),
        failures={},
        settles_at=after(now, timings.delays["extension"]),
    )
