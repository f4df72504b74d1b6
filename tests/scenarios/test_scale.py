"""Large and many: counts, not seconds; the seconds are in the benchmarks."""

from collections import Counter

from tests.kit import Running, eks, group


def test_ten_thousand_nodes_in_fifty_groups(service: Running) -> None:
    """HP-2, CT-16: one cluster reaches its targets under `instant` in one advance; each node once."""
    world = service.world(profile="instant")
    world.sagemaker.create_cluster(**eks(*(group(f"g-{number}", 200) for number in range(50))))
    done = world.advance(1)
    assert done["counts"]["passes"] < 100  # whole sets are moved, not nodes
    found = world.describe()["InstanceGroups"]
    assert [g["CurrentCount"] for g in found] == [200] * 50
    nodes = world.nodes(PaginationConfig={"PageSize": 100})
    assert len(nodes) == len({node["InstanceId"] for node in nodes}) == 10_000
    assert Counter(node["InstanceGroupName"] for node in nodes) == {f"g-{number}": 200 for number in range(50)}
    assert len(world.bill(by="group")["lines"]) == 50
    world.sagemaker.delete_cluster(ClusterName="demo")
    world.advance(1)
    assert world.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_two_hundred_clusters_at_once(service: Running) -> None:
    """HP-2: all of them reach their targets in one advance."""
    world = service.world(profile="instant")
    for number in range(200):
        world.sagemaker.create_cluster(**eks(group("g", 3), name=f"c-{number}"))
    world.advance(1)
    pages = world.sagemaker.get_paginator("list_clusters").paginate()
    clusters = [cluster for page in pages for cluster in page["ClusterSummaries"]]
    assert Counter(cluster["ClusterStatus"] for cluster in clusters) == {"InService": 200}
    assert len({cluster["ClusterArn"] for cluster in clusters}) == 200
    assert len(world.bill()["lines"]) == 600
