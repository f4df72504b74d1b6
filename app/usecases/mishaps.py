"""Faults of requests: who asks learns what befalls the request; a world without such rules pays next to nothing."""

from collections.abc import Callable
from dataclasses import replace

from app.core.faults import Faults, Subject
from app.core.mishaps import Mishap, befall, may_befall
from app.core.scope import Scope
from app.store import clusters, faults, worlds
from app.store.db import Database, Tx
from app.usecases.peculiarities import Remembered


class Mishaps:
    """Which rules strike requests is remembered; whether one does is asked in its row."""

    def __init__(self, database: Callable[[], Database], remembered: Remembered) -> None:
        self._database = database
        self._remembered = remembered

    async def befall(self, scope: Scope, api: str, operation: str, cluster: str, job: str = "") -> Mishap | None:
        """What befalls this request; None: nothing. `cluster` is the name or ARN that it names, or empty; so is `job`,
        by id or, where the request makes it, by name."""
        rules = (await self._remembered.of(self._database(), scope.world)).rules
        if not rules:
            return None
        subject = Subject(scope.account, scope.region, cluster, api=api, operation=operation, job=job)
        if not may_befall(rules, subject):
            return None
        return await self._database().run(_strike, scope, subject)


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
