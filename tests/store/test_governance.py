"""Rows of governance: what can be seen when, and what the end of a cluster does to them."""

from datetime import timedelta

from app.core.governance import KEPT, Kind, Resource, Status, status
from app.core.scope import Scope
from app.core.times import after
from app.store import governance
from app.store.db import Database, Tx
from tests.core.builders import at, compute_quota

CLUSTER = "abcdefghij12"


async def found(tx: Tx, scope: Scope, name: str) -> Resource:
    (one,) = [each for each in await governance.living(tx, scope, Kind.QUOTA, CLUSTER, at(1)) if each.name == name]
    return one


async def test_a_resource_comes_back_as_it_was(database: Database, scope: Scope) -> None:
    one = compute_quota(failure="why", vanishes_at=at(9), stable_version=3, version=4, outcome=Status.UPDATE_FAILED)
    async with database.transaction() as tx:
        await governance.insert(tx, scope, one)
        assert await governance.find(tx, scope, Kind.QUOTA, one.resource_id, at(1)) == one
        assert await governance.lock(tx, scope, Kind.QUOTA, one.resource_id, at(1)) == one
        assert await governance.find(tx, scope, Kind.CONFIG, one.resource_id, at(1)) is None
        assert await governance.find(tx, scope, Kind.QUOTA, one.resource_id, at(9)) is None
        kept = await governance.version(tx, scope, Kind.QUOTA, one.resource_id, 4)
        assert kept == (one.begun_at, one.outcome, "why", one.spec)
        assert await governance.version(tx, scope, Kind.QUOTA, one.resource_id, 3) is None


async def test_the_end_of_a_cluster(database: Database, scope: Scope) -> None:
    """What is being deleted ends as it was to; all else ends now, whatever it was in, and does not fail."""
    deleting = compute_quota("old", doing=Status.DELETING, outcome=Status.DELETED, vanishes_at=after(at(2), KEPT))
    async with database.transaction() as tx:
        for one in (deleting, compute_quota("new"), compute_quota("bad", outcome=Status.CREATE_FAILED, failure="x")):
            await governance.insert(tx, scope, one)
        await governance.insert(tx, scope, compute_quota("other", cluster_id="z" * 12))
        await governance.end_with_cluster(tx, scope, CLUSTER, at(1), timedelta(seconds=5))
        assert await found(tx, scope, "old") == deleting
        for name in ("new", "bad"):
            one = await found(tx, scope, name)
            assert [status(one, at(seconds)) for seconds in (1, 5, 6)] == ["Deleting", "Deleting", "Deleted"]
            assert (one.failure, one.vanishes_at) == (None, after(at(6), KEPT))
        assert await governance.count(tx, scope, Kind.QUOTA, at(2)) == 3
        assert await governance.count(tx, scope, Kind.QUOTA, at(6)) == 1
        assert await governance.living(tx, scope, Kind.QUOTA, CLUSTER, at(6)) == []
        assert await governance.generations(tx, scope, Kind.QUOTA, CLUSTER, "new") == 1, "its id is never given again"
