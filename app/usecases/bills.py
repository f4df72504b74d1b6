"""The bill: what ran, from when to when, at which price (CT-6).

Rounding happens once, on the line: its milliseconds x micro-dollars per hour are summed over all its intervals and
then rounded half up. The total is the sum of its lines, so two groupings may differ by a micro-dollar a line.
What is part of a line (an interval, a day) is shown as the line's growth by it, so parts sum to their line exactly.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from app.core.errors import Invalid, NotFound
from app.core.ids import cluster_arn
from app.core.job import job_name
from app.core.metering import charge, overlap_ms
from app.core.projects import number_of
from app.core.shares import Part
from app.core.times import WorldTime
from app.store import ledger, plans
from app.store.db import Tx
from app.store.ledger import Entry
from app.store.plans import Fee as Fee
from app.usecases import clocks, shares

Grain = Literal["instance", "group", "type", "account", "cluster", "job", "budget"]
Key = tuple[str, ...]

KEYS: dict[Grain, Callable[[Entry], Key]] = {
    "instance": lambda e: (e.account, e.region, e.owner_id, e.group, e.logical_id, e.instance_id),
    "group": lambda e: (e.account, e.region, e.owner_id, e.group),
    "type": lambda e: (e.instance_type,),
    "account": lambda e: (e.account,),
    "cluster": lambda e: (e.account, e.region, e.owner_id),
    "job": lambda e: (e.account, e.region, e.owner_id),
    "budget": lambda e: ("", e.budget or "") if e.is_of_job else (e.account, e.region, e.owner_id),
}


@dataclass(frozen=True, slots=True)
class Share:
    """One interval of a line, cut to the period; `micro_usd` is what the line grew by it.

    `ended` is when it really ended; None: it still ran at the period's end.
    """

    entry: Entry
    started: WorldTime
    ended: WorldTime | None
    milliseconds: int
    micro_usd: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line and what it is made of. `ended` None: something of it still ran at the period's end."""

    shares: Sequence[Share]
    started: WorldTime
    ended: WorldTime | None
    milliseconds: int
    micro_usd: int
    workloads: Sequence[Part] = ()
    """By job or by budget, for a cluster's line: who had which part of it, and what was idle. They sum to the line."""

    def common(self, read: Callable[[Entry], str | int | None]) -> str | int | None:
        """What all its intervals have in common, or None."""
        values = {read(share.entry) for share in self.shares}
        return values.pop() if len(values) == 1 else None

    @property
    def price_evidence(self) -> str:
        """Where its prices come from, each named: a placeholder never passes for a published price."""
        return ", ".join(sorted({share.entry.price_evidence for share in self.shares}))


@dataclass(frozen=True, slots=True)
class Bill:
    """The lines of a period, open intervals counted up to its end or to `as_of`, whichever is earlier."""

    as_of: WorldTime
    lines: Sequence[Line]
    upfront: Sequence[Fee] = ()
    """Training plans, charged at once when they were bought; no part of the total, which is of clusters."""

    @property
    def total_micro_usd(self) -> int:
        return sum(line.micro_usd for line in self.lines)


async def bill(
    tx: Tx,
    world: str,
    *,
    by: Grain = "instance",
    cluster: str | None = None,
    job: str | None = None,
    since: WorldTime | None = None,
    until: WorldTime | None = None,
) -> Bill:
    """The bill of [since, until), of the clusters that have or had the name, id or ARN `cluster`, or of the jobs with
    the name, id or resource name `job`; NotFound if there is none."""
    now = (await clocks.read(tx, world)).now
    if since is not None and until is not None and since >= until:
        raise Invalid("The period's 'from' must be earlier than its 'to'. Swap them, or leave one out.")
    owner = _owner(cluster, job)
    entries = await _entries(tx, world, owner, since, until)
    end = now if until is None else min(now, until)
    upfront = [] if owner is not None else await plans.fees(tx, world, since, until)
    found = lines(entries, KEYS[by], since, end)
    if by == "job" or by == "budget":
        found = await _shared(tx, world, found, by, since, end)
    return Bill(now, found, upfront)


async def _shared(
    tx: Tx, world: str, found: Sequence[Line], by: shares.By, since: WorldTime | None, until: WorldTime
) -> list[Line]:
    """The lines of clusters with what each job or budget has had of them."""
    entries = [[share.entry for share in line.shares if not share.entry.is_of_job] for line in found]
    parts = await shares.parts(tx, world, entries, by, since, until)
    return [replace(line, workloads=of_line) for line, of_line in zip(found, parts, strict=True)]


class Owner(NamedTuple):
    """Whose bill is asked for: a cluster or a job by name or id, of one account and region where those are given."""

    kind: Literal["cluster", "job"]
    account: str | None
    region: str | None
    name: str
    given: str
    """As it was asked for."""


def _owner(cluster: str | None, job: str | None) -> Owner | None:
    if cluster is not None and job is not None:
        raise Invalid("The bill is of a cluster or of a job. Leave one of the two out.")
    if cluster is not None:
        return of_cluster(cluster)
    return None if job is None else _job(job)


_POOL = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/(?P<pool>pool:[^/]+)")


def of_cluster(cluster: str) -> Owner:
    """The cluster that a name, an id or an ARN means, or the managed pool of a whole name. Invalid for an ARN that is
    none."""
    if pool := _POOL.fullmatch(cluster):
        return Owner("cluster", number_of(pool["project"]), pool["region"], pool["pool"], cluster)
    if not cluster.startswith("arn:"):
        return Owner("cluster", None, None, cluster, cluster)
    parts = cluster.split(":", 5)
    name = parts[-1].removeprefix("cluster/")
    if len(parts) != 6 or cluster != cluster_arn(parts[3], parts[4], name):
        raise Invalid(f"'{cluster[:120]}' is not a cluster's ARN. Give its name, or the ClusterArn of CreateCluster.")
    return Owner("cluster", parts[4], parts[3], name, cluster)


def _job(job: str) -> Owner:
    if not job.startswith("projects/"):
        return Owner("job", None, None, job, job)
    match job.split("/"):
        case [_, project, "locations", location, "customJobs", job_id]:
            return Owner("job", number_of(project), location, job_id, job)
    raise Invalid(
        f"'{job[:120]}' is not a job's name. Write it as projects/my-project/locations/us-central1/customJobs/123, or "
        "give the display name or the id alone."
    )


async def _entries(
    tx: Tx, world: str, owner: Owner | None, since: WorldTime | None, until: WorldTime | None
) -> list[Entry]:
    if owner is None:
        return await ledger.entries(tx, world, since=since, until=until)
    home = {"account": owner.account, "region": owner.region}
    if owner.kind == "job":
        found = await ledger.entries(tx, world, **home, job=owner.name, since=since, until=until)
        known = found or await ledger.is_known_job(tx, world, **home, job=owner.name)
    else:
        found = await ledger.entries(tx, world, **home, cluster=owner.name, since=since, until=until)
        known = found or await ledger.is_known(tx, world, **home, cluster=owner.name)
    if not known:
        forms = "name, id or ARN" if owner.kind == "cluster" else "display name, id or resource name"
        raise NotFound(
            f"No {owner.kind} of world '{world}' has or ever had the {forms} '{owner.given[:120]}'. "
            f"The bill of all {owner.kind}s names those that there are: leave the {owner.kind} out."
        )
    return found


def arn_of(entry: Entry) -> str | None:
    """The cluster's ARN; None of a job."""
    return None if entry.is_of_job else cluster_arn(entry.region, entry.account, entry.owner_id)


def job_of(entry: Entry) -> str | None:
    """The job's resource name; None of a cluster."""
    return job_name(entry.account, entry.region, entry.owner_id) if entry.is_of_job else None


def lines(
    entries: Iterable[Entry], key: Callable[[Entry], Key], since: WorldTime | None, until: WorldTime
) -> list[Line]:
    """One line for each key, in the order in which the keys appear."""
    grouped: dict[Key, list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(key(entry), []).append(entry)
    return [_line(group, since, until) for group in grouped.values()]


def _line(entries: Sequence[Entry], since: WorldTime | None, until: WorldTime) -> Line:
    shares = []
    weighted = charged = 0
    for entry in entries:
        milliseconds = overlap_ms(entry.started_at, entry.ended_at, since, until)
        weighted += milliseconds * entry.micro_usd_per_hour
        grown = charge(weighted)
        shares.append(Share(entry, *_cut(entry, since, until), milliseconds, grown - charged))
        charged = grown
    ends = [share.ended for share in shares if share.ended is not None]
    return Line(
        shares,
        min(share.started for share in shares),
        max(ends) if len(ends) == len(shares) else None,
        sum(share.milliseconds for share in shares),
        charged,
    )


def _cut(entry: Entry, since: WorldTime | None, until: WorldTime) -> tuple[WorldTime, WorldTime | None]:
    """The interval within the period; one that still ran when the period ended has no end in it."""
    started = entry.started_at if since is None else max(since, entry.started_at)
    return started, None if entry.ended_at is None or entry.ended_at > until else entry.ended_at
