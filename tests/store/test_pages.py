"""Pages of lists: every row once, in order, whatever the page's size (RL-11)."""

from typing import Any

import pytest

from app.core.node import Node
from app.core.scope import Scope
from app.store import clusters, pages
from app.store.db import Database, Tx
from app.store.pages import ListedCluster, ListedNode
from tests.core.builders import ACCOUNT, REGION, SEED, T0, at, node
from tests.store.rows import CLUSTER_ID, add_cluster, add_nodes, nodes

ANY: dict[str, Any] = {"created_after": None, "created_before": None}


async def node_page(tx: Tx, scope: Scope, **question: Any) -> list[ListedNode]:
    defaults = {"by_name": False, "descending": False, "after": None, "limit": 100, "group_contains": None}
    found = await pages.nodes(tx, scope, CLUSTER_ID, **(defaults | ANY | {"unlaunched": True} | question))
    assert found is not None
    assert found.seed == SEED
    return found.nodes


async def cluster_page(tx: Tx, scope: Scope, **question: Any) -> list[ListedCluster]:
    defaults = {"by_name": False, "descending": False, "after": None, "limit": 100, "name_contains": None}
    return await pages.clusters(tx, scope, **(defaults | ANY | {"plan_arn": None} | question))


async def walk(tx: Tx, scope: Scope, by_name: bool, descending: bool) -> list[str]:
    """All nodes, page by page of two."""
    seen: list[str] = []
    after = None
    while found := await node_page(tx, scope, by_name=by_name, descending=descending, after=after, limit=2):
        seen += [one.logical_id for one in found]
        last = found[-1]
        after = (last.group, last.ordinal) if by_name else (last.created_at, last.logical_id)
    return seen


async def test_pages_show_each_node_once(database: Database, scope: Scope) -> None:
    """RL-11: also when many were made at one moment, and whenever they were launched."""
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        await add_nodes(tx, scope, *nodes(5), node(group="a", logical_id="a-1", created_at=at(3), listed_at=T0))
        by_time = ["n-1", "n-2", "n-3", "n-4", "n-5", "a-1"]
        by_name = ["a-1", "n-1", "n-2", "n-3", "n-4", "n-5"]
        assert await walk(tx, scope, by_name=False, descending=False) == by_time
        assert await walk(tx, scope, by_name=False, descending=True) == by_time[::-1]
        assert await walk(tx, scope, by_name=True, descending=False) == by_name
        assert await walk(tx, scope, by_name=True, descending=True) == by_name[::-1]


NODES = {
    "all": ({}, ["n-1", "n-2", "n-3"]),
    "those with an instance": ({"unlaunched": False}, ["n-2", "n-3"]),
    "later than": ({"created_after": at(1)}, ["n-2", "n-3"]),
    "earlier than": ({"created_before": at(2)}, ["n-1"]),
    "between": ({"created_after": at(1), "created_before": at(3)}, ["n-2"]),
    "of a group": ({"group_contains": "work"}, ["n-1", "n-2", "n-3"]),
    "of another": ({"group_contains": "log"}, []),
}


@pytest.mark.parametrize("name", NODES)
async def test_node_filters(name: str, database: Database, scope: Scope) -> None:
    """HP-W7."""
    question, expected = NODES[name]
    async with database.transaction() as tx:
        await add_cluster(tx, scope)
        booting = [node(Node.BOOTING, ordinal=n, logical_id=f"n-{n}", listed_at=at(n)) for n in (2, 3)]
        await add_nodes(tx, scope, node(listed_at=at(1)), *booting)
        assert [one.logical_id for one in await node_page(tx, scope, **question)] == expected


async def test_no_cluster_is_not_an_empty_one(database: Database, scope: Scope) -> None:
    async with database.transaction() as tx:
        question = {"by_name": False, "descending": False, "after": None, "limit": 9, "group_contains": None, **ANY}
        assert await pages.nodes(tx, scope, CLUSTER_ID, unlaunched=True, **question) is None
        await add_cluster(tx, scope)
        assert await node_page(tx, scope) == []


CLUSTERS = {
    "by time": ({}, ["b", "c", "a"]),
    "newest first": ({"descending": True}, ["a", "c", "b"]),
    "by name": ({"by_name": True}, ["a", "b", "c"]),
    "by name, backward": ({"by_name": True, "descending": True}, ["c", "b", "a"]),
    "a page": ({"limit": 2}, ["b", "c"]),
    "the next": ({"limit": 2, "after": (at(1), "c" * 12)}, ["a"]),
    "by a part of the name": ({"name_contains": "a"}, ["a"]),
    "a pattern is no pattern": ({"name_contains": "%"}, []),
    "later than": ({"created_after": at(0)}, ["c", "a"]),
    "earlier than": ({"created_before": at(2)}, ["b", "c"]),
    "with a training plan": ({"plan_arn": "arn:plan"}, []),
}


@pytest.mark.parametrize("name", CLUSTERS)
async def test_clusters(name: str, database: Database, scope: Scope) -> None:
    """HP-W7, RL-22: living ones of this account and region."""
    question, expected = CLUSTERS[name]
    async with database.transaction() as tx:
        for second, letter in enumerate("bcad"):
            await add_cluster(tx, scope, letter * 12, name=letter, created_at=at(second))
        await clusters.bury(tx, scope, "d" * 12, at(9))
        assert [one.name for one in await cluster_page(tx, scope, **question)] == expected
        assert await cluster_page(tx, Scope(scope.world, "444455556666", REGION)) == []
        assert await cluster_page(tx, Scope(scope.world, ACCOUNT, "eu-west-1")) == []
