"""What happened, as the outside is told: EventBridge envelopes in one order a world, from any place in it (HP-28)."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.core.announcements import DETAIL_TYPES, UNION, arn_of, envelope, envelope_id
from app.core.cluster_events import Event
from app.core.errors import Invalid
from app.core.times import to_millis
from app.store import outbox
from app.store.db import Database, Tx
from app.store.outbox import BEFORE_ALL, Place, Told, Wanted
from app.usecases import clocks
from app.usecases.event_records import event_details

__all__ = ["BEFORE_ALL", "Place", "Wanted"]
_PLACE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
LAST = 10**15
"""Behind every event of a position."""


class Envelope(NamedTuple):
    """An envelope, its place in the world's order, and its cluster."""

    place: Place
    account: str
    region: str
    cluster_id: str
    cluster: str
    body: dict[str, Any]

    def fits(self, what: Wanted) -> bool:
        """It is among what is wanted."""
        names = (None, self.cluster, self.cluster_id, self.body["resources"][0])
        return what.detail_type in (None, self.body["detail-type"]) and what.cluster in names


@dataclass(frozen=True, slots=True)
class Style:
    """How a world is told: ids are drawn from its seed; `full` fills in the metadata that AWS leaves null."""

    seed: int
    full: bool

    def __call__(self, told: Told) -> Envelope:
        """The envelope of what is told."""
        key = (told.account, told.region, told.cluster_id)
        seq, detail = str(told.seq), told.detail
        if told.event is not None:
            seq, detail = f"event/{told.place[1]}", self._detail(told, told.event)
        made = envelope(envelope_id(self.seed, *key, seq), told.detail_type, told.at, arn_of(*key), detail)
        return Envelope(told.place, *key, told.cluster, made)

    def _detail(self, told: Told, event: Event) -> dict[str, Any]:
        """The event's record as DescribeClusterEvent gives it, without what it has not."""
        named = _Cluster(told.cluster_id, told.cluster, arn_of(told.account, told.region, told.cluster_id))
        record = event_details(named, told.place[1], event, self.seed)
        metadata = (record.pop("EventDetails") or {}).get("EventMetadata", {})
        shown = {key: value for key, value in record.items() if value is not None}
        filled = {kind: _filled(facts) for kind, facts in metadata.items()} if self.full else dict.fromkeys(UNION)
        return {
            "EventDetails": {
                **shown,
                "EventTime": to_millis(event.at),
                "EventDetails": {"EventMetadata": filled},
            }
        }


class _Cluster(NamedTuple):
    cluster_id: str
    name: str
    arn: str


def _filled(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}


def place_of(text: str) -> Place:
    """A reader's place from the id that it was given; `0` is before everything. Invalid for anything else."""
    if text == "0":
        return BEFORE_ALL
    found = _PLACE.fullmatch(text)
    if found is None:
        raise Invalid(f"'{text[:40]}' is no id of an event. Give one as it was received, such as 1-0, or 0 for all.")
    return int(found[1]), int(found[2])


def id_of(place: Place) -> str:
    """The id by which a reader goes on behind this place."""
    return f"{place[0]}-{place[1]}"


def wanted(detail_type: str | None, cluster: str | None) -> Wanted:
    """The filter; Invalid for a detail type that nothing here sends or an ARN of no cluster."""
    if detail_type is not None and detail_type not in DETAIL_TYPES:
        raise Invalid(f"No detail type '{detail_type[:80]}'. There are: {', '.join(DETAIL_TYPES)}.")
    if cluster is not None and cluster.startswith("arn:") and cluster.count(":") < 5:
        raise Invalid(f"'{cluster[:120]}' is not a cluster's ARN. Give its name, or the ClusterArn of CreateCluster.")
    return Wanted(detail_type, cluster)


async def style(tx: Tx, world: str, full: bool) -> Style:
    """How the world is told. NotFound without it."""
    return Style((await clocks.read(tx, world)).seed, full)


async def newest(tx: Tx, world: str, what: Wanted, limit: int, full: bool) -> list[Envelope]:
    """The last envelopes, oldest first."""
    how = await style(tx, world, full)
    await _arranged(tx, world)
    return [how(told) for told in await outbox.newest(tx, world, what, limit)]


async def since(tx: Tx, world: str, what: Wanted, after: Place, limit: int, full: bool) -> tuple[list[Envelope], Place]:
    """The envelopes behind a place, and up to where they are complete. NotFound without the world.

    A place that the world has not reached is of another that had its name: then everything is behind it.
    """
    how = await style(tx, world, full)
    last = await _arranged(tx, world)
    after = after if after[0] <= last else BEFORE_ALL
    found = await outbox.page(tx, world, what, after=after, until=(last, LAST), limit=limit)
    reached = found[-1].place if len(found) == limit else (last, LAST)
    return [how(told) for told in found], reached


async def end(tx: Tx, world: str) -> Place:
    """The place behind everything that has happened so far."""
    return await _arranged(tx, world), LAST


async def _arranged(tx: Tx, world: str) -> int:
    if await outbox.has_unarranged(tx, world):
        return await outbox.arrange(tx, world)
    return await outbox.head(tx, world)


async def arrange_all(db: Database) -> None:
    """Give every world's news their positions, each world in a transaction of its own."""
    for world in await db.run(outbox.unarranged):
        await db.run(outbox.arrange, world)
