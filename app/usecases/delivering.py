"""Delivery to one webhook: a step sends what is next, cluster by cluster in order, and writes down how far it came.

What was sent is sent again when the writing down fails: at least once. Clusters are sent side by side; one whose post
fails gets a lane of its own and waits, while the others go on (`app.store.webhooks`).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.announcements import arn_of
from app.core.scope import Scope
from app.core.webhooks import wait
from app.store import outbox, webhooks
from app.store.db import Database, Tx
from app.store.outbox import Place, Wanted
from app.store.webhooks import Attempt, Lane, Webhook
from app.usecases import announcements
from app.usecases.announcements import Envelope
from app.usecases.posting import post

if TYPE_CHECKING:
    import httpx

BATCH = 50
LANES, LANE_BATCH = 8, 20
SIDE_BY_SIDE = 8


class LostLease(Exception):
    """Another relay leads; what this one has sent, that one sends again."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How posts are made: whom they may go to, how often and after how many wall seconds again, and by whose lease."""

    hosts: tuple[str, ...]
    attempts: int
    first_wait: float
    full: bool
    lease: str
    epoch: int


@dataclass(slots=True)
class Run:
    """A cluster's next envelopes. `lane` is where it stands; `in_lane` when it was behind before."""

    lane: Lane
    envelopes: Sequence[Envelope]
    in_lane: bool
    complete: bool = True
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What a webhook is sent next, and how far it is then."""

    hook: Webhook
    reached: Place
    runs: list[Run]


async def deliver(db: Database, key: tuple[str, int], client: "httpx.AsyncClient", terms: Terms) -> bool | None:
    """One step of the webhook: True when something was sent, None when it is gone. LostLease."""
    step = await db.run(_next, key, terms)
    if step is None:
        return None
    if not step.runs and step.reached == step.hook.reached:
        return False
    limit = asyncio.Semaphore(SIDE_BY_SIDE)
    sent = await asyncio.gather(*(_send(run, step.hook, client, terms, limit) for run in step.runs))
    made = [attempt for each in sent for attempt in each]
    return bool(made) if await db.run(_record, step, made, terms) else None


async def _next(tx: Tx, key: tuple[str, int], terms: Terms) -> Step | None:
    hook = await webhooks.get(tx, *key)
    if hook is None:
        return None
    runs = [await _behind(tx, hook, lane, terms) for lane in await webhooks.due_lanes(tx, hook, LANES)]
    waiting = await webhooks.behind(tx, hook)
    what = Wanted(hook.detail_type, hook.cluster)
    found, reached = await announcements.since(tx, hook.world, what, hook.reached, BATCH, terms.full)
    by_cluster: dict[tuple[str, str, str], list[Envelope]] = {}
    for one in found:
        by_cluster.setdefault((one.account, one.region, one.cluster_id), []).append(one)
    for (account, region, cluster_id), envelopes in by_cluster.items():
        if (account, region, cluster_id) not in waiting:
            lane = Lane(Scope(hook.world, account, region), cluster_id, _before(envelopes[0]), 0)
            runs.append(Run(lane, envelopes, in_lane=False))
    return Step(hook, reached, runs)


async def _behind(tx: Tx, hook: Webhook, lane: Lane, terms: Terms) -> Run:
    """What the lane's cluster has not been sent of what its webhook is past."""
    arn = arn_of(lane.scope.account, lane.scope.region, lane.cluster_id)
    what = Wanted(hook.detail_type, arn)
    told = await outbox.page(tx, hook.world, what, after=lane.reached, until=hook.reached, limit=LANE_BATCH)
    how = await announcements.style(tx, hook.world, terms.full)
    return Run(lane, [how(one) for one in told], in_lane=True, complete=len(told) < LANE_BATCH)


def _before(envelope: Envelope) -> Place:
    position, number = envelope.place
    return position, number - 1


async def _send(
    run: Run, hook: Webhook, client: "httpx.AsyncClient", terms: Terms, limit: asyncio.Semaphore
) -> list[Attempt]:
    """Post the run's envelopes until one fails that is to be tried again."""
    made = []
    async with limit:
        for envelope in run.envelopes:
            status, error = await post(client, hook.url, hook.secret, envelope.body, terms.hosts)
            tries = run.lane.attempts + 1
            run.has_failed = error is not None and tries < terms.attempts
            outcome = "failed" if run.has_failed else "delivered" if error is None else "given up"
            body = envelope.body
            made.append(Attempt(body["id"], body["detail-type"], envelope.cluster, outcome, status, error))
            if run.has_failed:
                run.lane = run.lane._replace(reached=_before(envelope), attempts=tries)
                break
            run.lane = run.lane._replace(reached=envelope.place, attempts=0)
    return made


async def _record(tx: Tx, step: Step, made: Sequence[Attempt], terms: Terms) -> bool:
    if not await webhooks.is_leading(tx, terms.lease, terms.epoch):
        raise LostLease
    if not await webhooks.reach(tx, step.hook, step.reached, made):
        return False
    moved = step.reached != step.hook.reached
    for run in step.runs:
        if run.has_failed:
            await webhooks.save_lane(tx, step.hook, run.lane, wait(terms.first_wait, run.lane.attempts))
        elif run.in_lane and (moved or not run.complete):  # the webhook may have passed over more of this cluster
            await webhooks.save_lane(tx, step.hook, run.lane, 0)
        elif run.in_lane:
            await webhooks.end_lane(tx, step.hook, run.lane)
    return True
