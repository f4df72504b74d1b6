"""What a job's labels say to this service: the cluster it is to run on, its budget, its minimum runtime (VX-24)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from app.core.cluster import Cluster, cluster_status
from app.core.errors import Invalid

PREFIX = "windtunnel-"
CLUSTER, ACCOUNT, REGION = "windtunnel-cluster", "windtunnel-account", "windtunnel-region"
BUDGET, MIN_RUNTIME = "windtunnel-budget", "windtunnel-min-runtime"
PRIORITY = "windtunnel-priority"
RUN_TIME, CHECKPOINT, EXIT_CODE = "windtunnel-run-time", "windtunnel-checkpoint-interval", "windtunnel-exit-code"
KNOWN = (CLUSTER, ACCOUNT, REGION, BUDGET, MIN_RUNTIME, PRIORITY, RUN_TIME, CHECKPOINT, EXIT_CODE)
LONGEST_MINIMUM = 8 * 3600
"""Seconds; the most that a job may ask to be protected for (FS-4)."""

_ACCOUNT = re.compile("[0-9]{12}", re.ASCII)
_REGION = re.compile("[a-z]{2}(-[a-z]+)+-[0-9]+", re.ASCII)
_BUDGET = re.compile("[a-z0-9]([a-z0-9_-]*[a-z0-9])?", re.ASCII)
_PRIORITY = re.compile("[0-9]{1,6}|[a-z]([a-z0-9-]*[a-z0-9])?", re.ASCII)
_DURATION = re.compile("(?:[0-9]{1,9}[dhms])+", re.ASCII)
_PART = re.compile("([0-9]+)([dhms])", re.ASCII)
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST = 3650 * 86_400
_BOUGHT_ELSEWHERE = ("SPOT", "FLEX_START")


@dataclass(frozen=True, slots=True)
class Wish:
    """Where a job wants to run and under which terms. `cluster` None: in the pool of its own region.

    `min_runtime` is in seconds. `budget` is a word that the scheduler knows, or will refuse.
    """

    cluster: str | None = None
    account: str | None = None
    region: str | None = None
    budget: str | None = None
    min_runtime: int | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """The account and the region in which a cluster is looked for first, when no label names them: the service's
    defaults."""

    account: str = "111122223333"
    region: str = "us-west-2"


def wish_of(labels: Mapping[str, str], strategy: str) -> Wish:
    """The job's wish; Invalid for a label that this service does not know or cannot read."""
    _check_known(labels)
    _matching(labels, PRIORITY, _PRIORITY, "a number up to 999999, or the name of a priority class")
    wish = Wish(
        cluster=labels.get(CLUSTER),
        account=_matching(labels, ACCOUNT, _ACCOUNT, "the twelve digits of an AWS account"),
        region=_matching(labels, REGION, _REGION, "an AWS region such as us-west-2"),
        budget=_matching(labels, BUDGET, _BUDGET, "a budget's name such as team-a"),
        min_runtime=_minimum(labels),
    )
    if wish.cluster is None and (stray := [key for key in (ACCOUNT, REGION) if key in labels]):
        raise Invalid(
            f"Label {stray[0]} tells where a cluster is, but no {CLUSTER} names it. Add that, or leave it out."
        )
    if wish.cluster is not None and strategy in _BOUGHT_ELSEWHERE:
        raise Invalid(
            f"Scheduling strategy {strategy} buys machines from the region's pool, and label {CLUSTER} asks for a "
            "cluster's nodes, which run anyway. Leave one of the two out."
        )
    return wish


def check_budget(wish: Wish, parents: Mapping[str, str]) -> None:
    """Invalid unless the budget is a leaf of the tree, given as what each budget is below; and for protection that no
    budget pays for. In a world without budgets both labels are but labels (FS-20)."""
    if not parents:
        return
    if wish.budget is None:
        if wish.min_runtime:
            raise Invalid(
                f"Label {MIN_RUNTIME} asks for protection, which a budget pays for, and no label {BUDGET} names one. "
                "Add it, or leave the minimum runtime out: then the job runs unfunded."
            )
        return
    above = set(parents.values())
    if wish.budget not in parents:
        near = get_close_matches(wish.budget, [name for name in parents if name not in above], n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`windtunnel budget list` shows those there are."
        raise Invalid(f"Label {BUDGET} is {wish.budget!r}, and there is no such budget. {hint}")
    if wish.budget in above:
        below = ", ".join(sorted(name for name, parent in parents.items() if parent == wish.budget))
        raise Invalid(
            f"Label {BUDGET} is {wish.budget!r}, which is split into others; jobs are charged to those. Name one of "
            f"{below}."
        )


def duration(labels: Mapping[str, str], key: str) -> int | None:
    """The label's value, as `90s`, `2h` or `1h30m`, in seconds, ten years at most; None without the label."""
    text = labels.get(key)
    if text is None:
        return None
    if not _DURATION.fullmatch(text):
        raise Invalid(f"Label {key} is {text!r}, which is no duration. Write it as 90s, 15m, 2h or 1h30m.")
    return min(sum(int(count) * _SECONDS[unit] for count, unit in _PART.findall(text)), _LONGEST)


def chosen(wish: Wish, found: Sequence[Cluster], home: Home) -> Cluster:
    """The cluster that the wish means, of the living ones that have its name, in lower case, or its id.

    One in the labelled account and region, or else in the default ones; if there is none, the only one there is.
    """
    near = [
        one
        for one in found
        if one.account == (wish.account or home.account) and one.region == (wish.region or home.region)
    ]
    candidates = near or found
    if not candidates:
        raise Invalid(
            f"Label {CLUSTER} is {wish.cluster!r}, and no cluster{_where(wish)} has that name, written in lower case, "
            "or that id. ListClusters shows the clusters of an account and a region."
        )
    if len(candidates) > 1:
        raise Invalid(
            f"Label {CLUSTER} is {wish.cluster!r}, which fits {', '.join(one.arn for one in candidates)}. Add "
            f"{ACCOUNT} and {REGION}, or give the id at the end of the ARN instead of the name."
        )
    [cluster] = candidates
    if (status := cluster_status(cluster)) in ("Deleting", "Failed"):
        raise Invalid(
            f"Label {CLUSTER} names {cluster.arn}, which is {status}: no job can run there. Name another cluster."
        )
    return cluster


def _where(wish: Wish) -> str:
    parts = [f" of {word} {value}" for word, value in (("account", wish.account), ("region", wish.region)) if value]
    return "".join(parts) or " of this world"


def _check_known(labels: Mapping[str, str]) -> None:
    for key in sorted(labels):
        if key.startswith(PREFIX) and key not in KNOWN:
            words = [known.removeprefix(PREFIX) for known in KNOWN]
            near = get_close_matches(key.removeprefix(PREFIX), words, n=2)
            meant = " or ".join(PREFIX + word for word in near)
            hint = f"Did you mean {meant}?" if near else f"They are {', '.join(KNOWN)}."
            raise Invalid(f"Label {key} is unknown, and labels that begin with {PREFIX} are this service's own. {hint}")


def _matching(labels: Mapping[str, str], key: str, pattern: re.Pattern[str], form: str) -> str | None:
    text = labels.get(key)
    if text is not None and not pattern.fullmatch(text):
        raise Invalid(f"Label {key} is {text!r}, but must be {form}.")
    return text


def _minimum(labels: Mapping[str, str]) -> int | None:
    seconds = duration(labels, MIN_RUNTIME)
    if seconds is not None and seconds > LONGEST_MINIMUM:
        raise Invalid(f"Label {MIN_RUNTIME} is {labels[MIN_RUNTIME]!r}, but at most 8h are protected. Ask for less.")
    return seconds
