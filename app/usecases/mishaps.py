"""Faults of requests: who asks learns what befalls the request; a world without such rules pays next to nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from app import clock
from app.core.faults import Faults, Rule, Subject
from app.core.mishaps import Mishap, befall, may_befall
from app.core.scope import Scope
from app.store import clusters, faults, worlds
from app.store.db import Database, Tx

REMEMBERED_SECONDS = 0.25
"""So late, at most, does a process notice a rule that another has added."""
MOST_WORLDS = 10_000


class _Known(NamedTuple):
    until: float
    rules: Sequence[Rule]


class Mishaps:
    """Remembers for a moment which rules strike requests, world by world; whether one does is asked in its row."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self._known: dict[str, _Known] = {}
        self._epoch = 0

    def forget(self) -> None:
        """Rules may have changed: the next request looks."""
        self._known.clear()
        self._epoch += 1

    async def befall(self, scope: Scope, api: str, operation: str, cluster: str, job: str = "") -> Mishap | None:
        """What befalls this request; None: nothing. `cluster` is the name or ARN that it names, or empty; so is `job`,
        by id or, where the request makes it, by name."""
        rules = await self._rules(scope.world)
        if not rules:
            return None
        subject = Subject(scope.account, scope.region, cluster, api=api, operation=operation, job=job)
        if not may_befall(rules, subject):
            return None
        return await self._database().run(_strike, scope, subject)

    async def _rules(self, world: str) -> Sequence[Rule]:
        now = clock.monotonic()
        known = self._known.get(world)
        if known is not None:
            if known.until > now:
                return known.rules
            # Whoever comes while we look takes what was known: one look a moment, however many ask.
            self._known[world] = _Known(now + REMEMBERED_SECONDS, known.rules)
        epoch = self._epoch
        async with self._database().connection() as tx:
            rules = await faults.request_rules(tx, world)
        if epoch == self._epoch:
            if len(self._known) > MOST_WORLDS:
                self._known.clear()
            self._known[world] = _Known(now + REMEMBERED_SECONDS, rules)
        return rules


async def _strike(tx: Tx, scope: Scope, subject: Subject) -> Mishap | None:
    """Count and record, under the rules' lock, what befalls the request."""
    world = await worlds.keep(tx, scope.world)
    if world is None:
        return None  # whoever looks for it will say so
    rules = await faults.lock_request_rules(tx, scope.world)
    if any(rule.cluster is not None for rule in rules):
        subject = await _with_cluster(tx, scope, subject)
    struck = Faults(rules, world.seed)
    mishap = befall(struck, subject, world.now)
    if struck.counted:
        await faults.record(tx, scope.world, struck.counted, struck.hits, struck.hits_before)
    return mishap


async def _with_cluster(tx: Tx, scope: Scope, subject: Subject) -> Subject:
    """The subject with its cluster's name and id, if there is such a cluster: a rule may name either."""
    found = await clusters.get(tx, scope, subject.cluster) if subject.cluster else None
    return subject if found is None else replace(subject, cluster=found.name, cluster_id=found.cluster_id)
