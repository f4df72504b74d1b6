"""How many statements the hot paths cost, so that what concerns few costs the others nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.core.cluster_events import Event
from app.core.scope import Scope
from app.store import creation, worlds
from app.store.db import Database, Tx
from app.usecases import descriptions, job_passes, jobs, nodes
from app.usecases.images import releases_of
from app.usecases.jobs import JobIntent
from app.usecases.peculiarities import Peculiarities
from app.usecases.provisioning import Policy, pass_over
from tests.core.builders import T0, cluster
from tests.jobs import LOCATION, PROJECT, gpus, pool, spec
from tests.store.conftest import make_world
from tests.store.rows import ANNOUNCED, CLUSTER_ID, add_cluster, add_nodes
from tests.store.rows import nodes as some_nodes

PLAIN = Peculiarities([], releases_of([]), late=False)
_SAVEPOINTS = ("SAVEPOINT", "RELEASE")


@asynccontextmanager
async def counted(tx: Tx) -> AsyncIterator[list[str]]:
    """The statements that the block sends, savepoints left aside."""
    sent: list[str] = []
    with tx.query_logger(lambda record: sent.append(record.query)):
        yield sent
    await tx.execute("SELECT")  # the driver tells of a statement a turn of the loop later
    sent[:] = [one for one in sent if not one.startswith(_SAVEPOINTS)]


async def test_hot_reads_are_one_statement(database: Database, scope: Scope) -> None:
    """Releases, lag and whatever else few worlds have is known before."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *some_nodes(3))
        async with counted(tx) as described:
            await descriptions.describe(tx, scope, CLUSTER_ID, PLAIN)
        async with counted(tx) as listed:
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
        async with counted(tx) as sent:
            assert (await pass_over(tx, scope.world, Policy())) is not None
    rare = (
        "DELETE FROM node_move",
        "FROM training_plan",
        "alarm",
        "cluster_operation",
        "count_change",
        "governance",
        "custom_job",
        "placement",
    )
    assert not [one for one in sent if any(words in one for words in rare)]
    assert len(sent) <= 8


async def test_a_create_writes_only_what_there_is(database: Database, scope: Scope) -> None:
    """No event, no operation, no tag: no part of the statement is about them."""
    tables = ("cluster_event", "cluster_operation", "tag")
    async with database.transaction() as tx:
        async with counted(tx) as plain:
            await add_cluster(tx, scope)
        told = [Event("cluster-started", T0, params={"operation": "creation"})]
        async with counted(tx) as tagged:
            other = cluster(account=scope.account, cluster_id="b" * 12, name="other")
            assert await creation.create(tx, scope.world, other, [], told, {"a": "1"}, T0, ANNOUNCED)
    assert [[table for table in tables if f"INTO {table} " in one] for one in plain] == [[]]
    assert [[table for table in tables if f"INTO {table} " in one] for one in tagged] == [["cluster_event", "tag"]]


async def test_a_batch_of_jobs_costs_as_many_statements_as_one(database: Database) -> None:
    """Whatever their number, and that of their workers: so a thousand jobs run through in seconds."""
    costs = []
    for count in (1, 1, 12):  # the driver asks once a connection what a type is
        world = await make_world(database, profile="instant")
        here = Scope(world, PROJECT, LOCATION)
        async with database.transaction() as tx:
            for number in range(count):
                wanted = JobIntent(f"job-{number}", spec(pool(), gpus(3)))
                async with counted(tx) as created:
                    await jobs.create(tx, here, wanted)
            epoch = await worlds.take_lease(tx, world, "a test", 60)
            async with counted(tx) as sent:
                done = await job_passes.pass_over(tx, world, Policy(), epoch)
            assert done == {"jobs": count, "passes": 1}
            costs.append(len(sent))
            await worlds.remove(tx, world)
    assert len(created) <= 5
    assert costs[1] == costs[2] <= 10
