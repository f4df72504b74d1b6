"""Workloads that are submitted to the scheduler itself: what may be asked for, and why not (CT-10, FS-4)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.budget_tree import Tree, hint
from app.core.cluster import Cluster, cluster_status
from app.core.errors import Conflict, Invalid, NotFound
from app.core.scheduling.budgets import Budget
from app.core.scheduling.policy import HOUR, Policy
from app.core.scheduling.workload import Kind

NAME = re.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII)
LONGEST_NAME = 63
MOST_REPLICAS = 10_000
MOST_PRIORITY = 10**6
LONGEST_RUNTIME = 3650 * 24 * HOUR
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """A gang of replicas with so many GPUs each. Durations are milliseconds; a `runtime` of None is until cancelled."""

    name: str
    gpus: int
    replicas: int = 1
    budget: str | None = None
    min_runtime: int = 0
    runtime: int | None = None
    priority: int = 0
    resumable: bool = True
    checkpoint: int | None = None
    kind: Kind = Kind.BATCH
    model: str = ""
    zone: str = ""


def check(wanted: Wanted, policy: Policy, tree: Tree) -> None:
    """Invalid, NotFound: the scheduler would never run it as it was declared."""
    check_name(wanted.name)
    if policy.sessions_only and wanted.kind is not Kind.SESSION:
        raise Invalid("This fleet takes interactive sessions alone. Give kind 'session', or name another cluster.")
    if wanted.min_runtime > policy.longest_minimum:
        raise Invalid(
            f"The minimum runtime is {wanted.min_runtime / HOUR:g} h; at most {policy.longest_minimum / HOUR:g} h are "
            "protected. Ask for what the work needs until its first checkpoint."
        )
    if wanted.budget is not None:
        _check_budget(wanted.budget, tree)


def check_name(name: str) -> None:
    """Invalid unless it can be told from the id of a job, which is a number."""
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name) or name.isdecimal():
        raise Invalid(
            f"{name[:80]!r} is no name of a workload. Use up to {LONGEST_NAME} of a-z, 0-9 and -, a letter or digit "
            "first and last, and not digits alone, such as train-7b."
        )


def _check_budget(name: str, tree: Tree) -> None:
    budget = tree.state.budgets.get(name) if name else None
    if budget is None:
        raise NotFound(f"There is no budget {name[:80]!r}. {hint(name, [one for one in tree.state.budgets if one])}")
    if budget.children:
        leaves = sorted(leaf.id for leaf in _leaves(budget))
        more = f" and {len(leaves) - _SHOWN} more" if len(leaves) > _SHOWN else ""
        raise Invalid(
            f"Budget {name} is split, and workloads are charged to leaves alone. Name one of "
            f"{', '.join(leaves[:_SHOWN])}{more}."
        )


def _leaves(budget: Budget) -> list[Budget]:
    if not budget.children:
        return [budget]
    return [leaf for child in budget.children.values() for leaf in _leaves(child)]


def meant(name: str | None, found: Sequence[Cluster], account: str, region: str) -> Cluster:
    """The cluster that a name, an id or an ARN found: the one of that account and region before others. Without a
    name, the only one that there is. NotFound, Invalid, Conflict: none is, several are, or it is going."""
    near = [one for one in found if (one.account, one.region) == (account, region)]
    candidates = (near or found) if name is not None else found
    if not candidates:
        which = "no cluster yet" if name is None else f"no cluster {name[:120]!r}"
        raise NotFound(f"There is {which}. `windtunnel fleet list` shows those with GPUs.")
    if len(candidates) > 1:
        which = "Several clusters are there" if name is None else f"{name[:120]!r} fits several clusters"
        arns = ", ".join(one.arn for one in candidates[:_SHOWN])
        raise Invalid(f"{which}: {arns}. Name one by its ARN.")
    [cluster] = candidates
    if (status := cluster_status(cluster)) in ("Deleting", "Failed"):
        raise Conflict(f"Cluster {cluster.name} is {status}: nothing can run there. Name another.")
    return cluster
