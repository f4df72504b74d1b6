"""How many statements the hot paths cost, so that what concerns few costs the others nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.core.scope import Scope
from app.store import worlds
from app.store.db import Database, Tx
from app.usecases import descriptions, nodes
from app.usecases.provisioning import Policy, pass_over
from tests.core.builders import T0
from tests.store.rows import CLUSTER_ID, add_cluster, add_nodes
from tests.store.rows import nodes as some_nodes

_SAVEPOINTS = ("SAVEPOINT", "RELEASE")


@contextmanager
def counted(tx: Tx) -> Iterator[list[str]]:
    """The statements that the block sends, savepoints left aside."""
    sent: list[str] = []
    with tx.query_logger(lambda record: sent.append(record.query)):
        yield sent
    sent[:] = [one for one in sent if not one.startswith(_SAVEPOINTS)]


async def test_hot_reads_are_one_statement(database: Database, scope: Scope) -> None:
    """Releases, lag and whatever else a world may have come with it."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *some_nodes(3))
        await _listed(tx, scope)  # the driver asks once a connection what a record is
        with counted(tx) as described:
            await descriptions.describe(tx, scope, CLUSTER_ID)
        with counted(tx) as listed:
            assert await _listed(tx, scope) == 3
    assert len(described) == len(listed) == 1


async def _listed(tx: Tx, scope: Scope) -> int:
    found = await nodes.page(
        tx,
        scope,
        CLUSTER_ID,
        by_name=False,
        descending=False,
        after=None,
        limit=10,
        group_contains=None,
        created_after=None,
        created_before=None,
        unlaunched=True,
    )
    return len(found.nodes)


async def test_a_pass_asks_only_for_what_the_cluster_has(database: Database, scope: Scope) -> None:
    """No move, no plan, no extension, no software update, no lag: nothing is asked of them."""
    async with database.transaction() as tx:
        await worlds.set_clock(tx, scope.world, T0, rate=1.0, frozen=False)
        await add_cluster(tx, scope)
        with counted(tx) as sent:
            assert (await pass_over(tx, scope.world, Policy())) is not None
    rare = ("DELETE FROM node_move", "FROM training_plan", "alarm", "cluster_operation", "count_change", "governance")
    assert not [one for one in sent if any(words in one for words in rare)]
    assert len(sent) <= 12
