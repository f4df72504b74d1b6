"""ListClusters, ListClusterNodes and ListClusterEvents: every filter, sort, order and page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.kit import Running, TestWorld, eks, group, slurm, workers
from tests.plans import buy

START = datetime(2026, 1, 1, tzinfo=UTC)


def names(answer: dict[str, Any]) -> list[str]:
    return [one["ClusterName"] for one in answer["ClusterSummaries"]]


@pytest.fixture
def four(world: TestWorld) -> TestWorld:
    """Clusters b, a, bb and c, a minute apart; c has a training plan."""
    plan = buy(world.sagemaker, "plan-1")
    for name, facts in (("b", {}), ("a", {}), ("bb", {}), ("c", {"TrainingPlanArn": plan})):
        world.sagemaker.create_cluster(**slurm(workers(1, **facts), name=name))
        world.advance(60)
    return world


def test_clusters_are_sorted_and_filtered(four: TestWorld) -> None:
    """HP-W7: by creation time ascending unless asked otherwise; every filter, and filters together."""
    lists = four.sagemaker.list_clusters
    assert names(lists()) == ["b", "a", "bb", "c"]
    assert names(lists(SortOrder="Descending")) == ["c", "bb", "a", "b"]
    assert names(lists(SortBy="NAME")) == ["a", "b", "bb", "c"]
    assert names(lists(SortBy="NAME", SortOrder="Descending")) == ["c", "bb", "b", "a"]
    assert names(lists(NameContains="b")) == ["b", "bb"]
    assert names(lists(NameContains="nobody")) == []
    minute = timedelta(minutes=1)
    assert names(lists(CreationTimeAfter=START + minute - timedelta(seconds=1))) == ["a", "bb", "c"]
    assert names(lists(CreationTimeBefore=START + 2 * minute)) == ["b", "a"]
    assert names(lists(CreationTimeAfter=START, CreationTimeBefore=START + 3 * minute)) == ["a", "bb"]
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan-1"
    assert names(lists(TrainingPlanArn=plan)) == ["c"]
    assert lists(TrainingPlanArn=plan)["ClusterSummaries"][0]["TrainingPlanArns"] == [plan]
    assert names(lists(TrainingPlanArn=plan, NameContains="b")) == []


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("sort", [{}, {"SortBy": "NAME"}, {"SortOrder": "Descending"}, {"NameContains": "b"}])
def test_clusters_by_pages(four: TestWorld, size: int, sort: dict[str, str]) -> None:
    """HP-W7, RL-11: pages of any size join to the whole; the last has no token."""
    whole = names(four.sagemaker.list_clusters(**sort))
    pages = list(four.sagemaker.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": size}, **sort))
    assert [name for page in pages for name in names(page)] == whole
    assert all(len(page["ClusterSummaries"]) <= size for page in pages)
    assert "NextToken" not in pages[-1]
    assert len(pages) == max(1, -(-len(whole) // size))


def test_nodes_are_sorted_and_filtered(world: TestWorld) -> None:
    """HP-W7: by launch time or by group; by a part of the group's name; between two instants."""
    world.sagemaker.create_cluster(**eks(group("beta", 2), group("alpha", 1)))
    world.advance(60)
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[group("alpha", 2), group("beta", 3)])
    world.advance(60)

    def listed(**more: Any) -> list[str]:
        return [node["InstanceGroupName"] for node in world.nodes(**more)]

    assert sorted(listed()) == ["alpha", "alpha", "beta", "beta", "beta"]
    times = [node["LaunchTime"] for node in world.nodes()]
    assert times == sorted(times)
    assert [node["LaunchTime"] for node in world.nodes(SortOrder="Descending")] == times[::-1]
    assert listed(SortBy="NAME") == ["alpha", "alpha", "beta", "beta", "beta"]
    assert listed(SortBy="NAME", SortOrder="Descending") == ["beta", "beta", "beta", "alpha", "alpha"]
    assert listed(InstanceGroupNameContains="lph") == ["alpha", "alpha"]
    assert listed(InstanceGroupNameContains="zzz") == []
    half = START + timedelta(seconds=30)
    assert len(listed(CreationTimeAfter=half)) == 2
    assert len(listed(CreationTimeBefore=half)) == 3
    assert listed(CreationTimeBefore=half, InstanceGroupNameContains="alpha") == ["alpha"]
    for size in (1, 2, 5):
        for sort in ({}, {"SortBy": "NAME"}, {"SortOrder": "Descending"}, {"IncludeNodeLogicalIds": True}):
            paged = world.nodes(PaginationConfig={"PageSize": size}, **sort)
            assert paged == world.nodes(**sort)


def test_events_are_sorted_and_filtered(world: TestWorld) -> None:
    """HP-W7, HP-26: newest first unless asked; by group, node, resource, time, and all together."""
    world.sagemaker.create_cluster(**slurm(workers(3)))
    world.advance(60)
    sagemaker = world.sagemaker
    story = world.events()
    assert len(story) > 30
    newest = sagemaker.list_cluster_events(ClusterName="demo", MaxResults=100)["Events"]
    assert [event["EventId"] for event in newest] == [event["EventId"] for event in story[::-1]]
    assert {e.get("InstanceGroupName") for e in world.events(InstanceGroupName="workers")} == {"workers"}
    node = world.nodes(InstanceGroupNameContains="workers")[0]["InstanceId"]
    of_node = world.events(NodeId=node)
    assert of_node == [event for event in story if event.get("InstanceId") == node]
    for resource in ("Cluster", "InstanceGroup", "Instance"):
        assert world.events(ResourceType=resource) == [e for e in story if e["ResourceType"] == resource]
    middle = story[len(story) // 2]["EventTime"]
    second = timedelta(seconds=1)
    before = world.events(EventTimeBefore=middle)
    after = world.events(EventTimeAfter=middle - second)
    assert {e["EventTime"] < middle for e in before} == {True}
    assert {e["EventTime"] > middle - second for e in after} == {True}
    assert [e["EventId"] for e in before + after] == [e["EventId"] for e in story]
    both = world.events(InstanceGroupName="workers", ResourceType="Instance", EventTimeAfter=middle, NodeId=node)
    assert both == [event for event in of_node if event["EventTime"] > middle]
    assert world.events(SortBy="EventTime", PaginationConfig={"PageSize": 7}) == story
    assert len({event["EventId"] for event in story}) == len(story)


def test_tokens_are_bound_to_caller_and_question(four: TestWorld) -> None:
    """HP-W7, RL-11: a forged, foreign or misused token is a ValidationException that says what to do."""
    mine = four.sagemaker
    token = mine.list_clusters(MaxResults=1)["NextToken"]
    assert names(mine.list_clusters(NextToken=token, MaxResults=2)) == ["a", "bb"]  # the page's size may change
    nodes = mine.list_cluster_nodes(ClusterName="a", MaxResults=1)["NextToken"]
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (mine, {"NextToken": "x"}),
        (mine, {"NextToken": token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")}),
        (mine, {"NextToken": token + "="}),
        (mine, {"NextToken": "é" * 10}),
        (mine, {"NextToken": nodes}),
        (mine, {"NextToken": token, "SortBy": "NAME"}),
        (mine, {"NextToken": token, "NameContains": "a"}),
        (four.client(account="444455556666"), {"NextToken": token}),
        (four.client(region="eu-west-1"), {"NextToken": token}),
    ]
    for client, request in wrong:
        with pytest.raises(ClientError) as refused:
            client.list_clusters(**request)
        error = refused.value.response["Error"]
        assert error["Code"] == "ValidationException"
        assert "NextToken" in error["Message"]


class Paging(RuleBasedStateMachine):
    """A reader goes through ListClusters and ListClusterNodes page by page while others insert and delete."""

    service: Running

    @initialize(sort=st.sampled_from([{}, {"SortBy": "NAME"}]), down=st.booleans(), size=st.integers(1, 4))
    def begin(self, sort: dict[str, str], down: bool, size: int) -> None:
        self.world = self.service.world(profile="instant")
        self.question = {"MaxResults": size, **sort} | ({"SortOrder": "Descending"} if down else {})
        self.number = 0
        self.alive: set[str] = set()
        for _ in range(5):
            self.insert(self.number % 3)
        self.staying, self.seen, self.token, self.reading = set(self.alive), [], None, True

    @rule(kind=st.integers(0, 2))
    def insert(self, kind: int) -> None:
        self.number += 1
        name = f"{'amz'[kind]}-{self.number}"
        self.world.sagemaker.create_cluster(**eks(group("g", 1), name=name))
        self.world.advance(1)
        self.alive.add(name)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.alive)))
        self.world.sagemaker.delete_cluster(ClusterName=name)
        self.world.advance(1)
        self.alive.remove(name)
        self.staying.discard(name)

    @precondition(lambda self: self.reading)
    @rule()
    def read(self) -> None:
        more = {} if self.token is None else {"NextToken": self.token}
        page = self.world.sagemaker.list_clusters(**self.question, **more)
        self.seen += names(page)
        self.token = page.get("NextToken")
        self.reading = self.token is not None

    @invariant()
    def nothing_twice(self) -> None:
        assert len(self.seen) == len(set(self.seen))

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        while self.reading:
            self.read()
        assert self.staying <= set(self.seen), "an item present throughout was not seen"
        self.world.close()


def test_pages_while_others_insert_and_delete(service: Running) -> None:
    """RL-11: every item present throughout is seen exactly once; the last page has no token."""
    Paging.service = service
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Paging,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_pages_of_nodes_while_others_come_and_go(world: TestWorld) -> None:
    """RL-11: the same for nodes, between every two pages."""
    world.sagemaker.create_cluster(**eks(group("a", 6), group("b", 6)))
    world.advance(60)
    nodes = world.nodes()
    seen: list[str] = []
    request: dict[str, Any] = {"ClusterName": "demo", "MaxResults": 3}
    gone: set[str] = set()
    while True:
        page = world.sagemaker.list_cluster_nodes(**request)
        seen += [node["InstanceId"] for node in page["ClusterNodeSummaries"]]
        if "NextToken" not in page:
            break
        request["NextToken"] = page["NextToken"]
        victim = next(node["InstanceId"] for node in nodes if node["InstanceId"] not in gone)
        gone.add(victim)
        world.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=[victim])
        more = [{"InstanceGroupName": "a", "IncrementTargetCountBy": 1}]
        world.sagemaker.batch_add_cluster_nodes(ClusterName="demo", NodesToAdd=more)
        world.advance(20)
    assert len(seen) == len(set(seen))
    assert {node["InstanceId"] for node in nodes} - gone <= set(seen)
