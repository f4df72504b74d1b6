"""The bill: what ran, from when to when, at which price (CT-6).

Rounding happens once, on the line: its milliseconds x micro-dollars per hour are summed over all its intervals and
then rounded half up. The total is the sum of its lines, so two groupings may differ by a micro-dollar a line.
What is part of a line (an interval, a day) is shown as the line's growth by it, so parts sum to their line exactly.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.core.errors import Invalid, NotFound
from app.core.ids import cluster_arn
from app.core.metering import charge, overlap_ms
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
    "instance": lambda e: (e.account, e.region, e.cluster_id, e.group, e.logical_id, e.instance_id),
    "group": lambda e: (e.account, e.region, e.cluster_id, e.group),
    "type": lambda e: (e.instance_type,),
    "account": lambda e: (e.account,),
    "cluster": lambda e: (e.account, e.region, e.cluster_id),
    "job": lambda e: (e.account, e.region, e.cluster_id),
    "budget": lambda e: (e.account, e.region, e.cluster_id),
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

    def common(self, read: Callable[[Entry], str | int]) -> str | int | None:
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
    since: WorldTime | None = None,
    until: WorldTime | None = None,
) -> Bill:
    """The bill of [since, until), of the clusters that have or had the name, id or ARN `cluster`; NotFound if none."""
    now = (await clocks.read(tx, world)).now
    if since is not None and until is not None and since >= until:
        raise Invalid("The period's 'from' must be earlier than its 'to'. Swap them, or leave one out.")
    entries = await _entries(tx, world, cluster, since, until)
    end = now if until is None else min(now, until)
    upfront = [] if cluster is not None else await plans.fees(tx, world, since, until)
    found = lines(entries, KEYS[by], since, end)
    if by == "job" or by == "budget":
        found = await _shared(tx, world, found, by, since, end)
    return Bill(now, found, upfront)


async def _shared(
    tx: Tx, world: str, found: Sequence[Line], by: shares.By, since: WorldTime | None, until: WorldTime
) -> list[Line]:
    """The lines with what each job or budget has had of them."""
    entries = [[share.entry for share in line.shares] for line in found]
    parts = await shares.parts(tx, world, entries, by, since, until)
    return [replace(line, workloads=of_line) for line, of_line in zip(found, parts, strict=True)]


async def _entries(
    tx: Tx, world: str, cluster: str | None, since: WorldTime | None, until: WorldTime | None
) -> list[Entry]:
    account, region, name = (None, None, cluster) if cluster is None else _named(cluster)
    found = await ledger.entries(tx, world, account=account, region=region, cluster=name, since=since, until=until)
    if cluster is None or name is None or found:
        return found
    if not await ledger.is_known(tx, world, account=account, region=region, cluster=name):
        raise NotFound(
            f"No cluster of world '{world}' has or ever had the name, id or ARN '{cluster[:120]}'. "
            "The bill of all clusters names those that there are: leave the cluster out."
        )
    return found


def _named(cluster: str) -> tuple[str | None, str | None, str]:
    """Account and region, of an ARN alone, and the cluster's name or id."""
    if not cluster.startswith("arn:"):
        return None, None, cluster
    parts = cluster.split(":", 5)
    name = parts[-1].removeprefix("cluster/")
    if len(parts) != 6 or cluster != cluster_arn(parts[3], parts[4], name):
        raise Invalid(f"'{cluster[:120]}' is not a cluster's ARN. Give its name, or the ClusterArn of CreateCluster.")
    return parts[4], parts[3], name


def arn_of(entry: Entry) -> str:
    return cluster_arn(entry.region, entry.account, entry.cluster_id)


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
