"""The emulated slurm.conf of a cluster: read, edited, merged (HP-12, CT-9)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.kit import TestWorld, classic, eks, group, login, slurm, workers

PATH = "clusters/demo/slurm.conf"


def file_of(world: TestWorld, **params: str) -> dict[str, Any]:
    return world.control("GET", PATH, params=params)


def put(world: TestWorld, content: str, version: str) -> httpx.Response:
    url = f"{world.endpoint}/_windtunnel/{PATH}"
    return world.http.put(url, json={"content": content, "version": version})


def edit(world: TestWorld, content: str) -> dict[str, Any]:
    answer = put(world, content, file_of(world)["version"])
    assert answer.status_code == 200, answer.text
    return answer.json()


def lines(world: TestWorld, key: str) -> dict[str, list[str]]:
    """Of each NodeName or PartitionName line: its name or its hosts, and the hosts of the partition."""
    found = [line.split() for line in file_of(world)["content"].splitlines() if line.startswith(f"{key}=")]
    return {first.partition("=")[2]: rest for first, *rest in found}


def hosts(world: TestWorld, name: str = "workers") -> list[str]:
    """As ListClusterNodes names the running nodes of a group."""
    nodes = world.nodes(InstanceGroupNameContains=name)
    running = [node for node in nodes if node["InstanceStatus"]["Status"] == "Running"]
    found = []
    for node in running:
        details = world.sagemaker.describe_cluster_node(ClusterName="demo", NodeId=node["InstanceId"])
        found.append(details["NodeDetails"]["PrivateDnsHostname"].partition(".")[0])
    return sorted(found)


def named(world: TestWorld) -> list[str]:
    return sorted(name for each in lines(world, "NodeName") for name in each.split(","))


@pytest.fixture
def built(world: TestWorld) -> TestWorld:
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    world.advance(minutes=30)
    return world


def scale(world: TestWorld, *groups: dict[str, Any], **facts: Any) -> None:
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=list(groups), **facts)


def test_the_file_names_the_nodes_as_the_api_does(built: TestWorld) -> None:
    """HP-12, CT-9: the hosts of the compute groups and their partitions; controller and login are no nodes of it."""
    assert named(built) == hosts(built)
    assert len(named(built)) == 2
    partition = lines(built, "PartitionName")
    assert sorted(partition["gpu"][0].partition("=")[2].split(",")) == hosts(built)
    (options,) = lines(built, "NodeName").values()
    assert options == ["CPUs=192", "RealMemory=2097152", "Gres=gpu:8"]
    (controller,) = hosts(built, "controller")
    assert f"\nSlurmctldHost={controller}\n" in file_of(built)["content"]
    assert file_of(built)["edited_at"] is None


def test_nodes_join_and_leave_and_edits_stay(built: TestWorld) -> None:
    """HP-12: merge mode through scalings up and down, groups added, renamed in their partition, and removed."""
    mine = "# mine\nNodeName=onprem[1-2] CPUs=4 \\\n   State=UP\n", "PartitionName=lab Nodes=onprem[1-2]\n"
    edit(built, "".join(mine) + file_of(built)["content"])
    for step in (
        lambda: scale(built, workers(4)),
        lambda: scale(built, workers(1)),
        lambda: scale(built, workers(2), workers(1, "spare")),
        lambda: scale(built, workers(2, SlurmConfig={"NodeType": "Compute", "PartitionNames": ["big"]})),
        lambda: scale(built, workers(0)),
    ):
        step()
        built.advance(minutes=30)
        content = file_of(built)["content"]
        assert content.startswith(mine[0])
        assert mine[1] in content
        ours = [name for name in named(built) if name.startswith("ip-")]
        assert ours == sorted(hosts(built) + hosts(built, "spare"))
    assert lines(built, "PartitionName")["gpu"][0] == f"Nodes={','.join(hosts(built, 'spare'))}"
    built.sagemaker.update_cluster(ClusterName="demo", InstanceGroupsToDelete=["spare"])
    built.advance(minutes=30)
    assert [name for name in named(built) if name.startswith("ip-")] == []
    assert file_of(built)["content"].startswith("".join(mine))


def test_two_groups_share_a_partition(world: TestWorld) -> None:
    """HP-12."""
    world.sagemaker.create_cluster(**slurm(workers(1), workers(2, "spare")))
    world.advance(minutes=30)
    (partition,) = lines(world, "PartitionName").values()
    assert sorted(partition[0].partition("=")[2].split(",")) == sorted(hosts(world) + hosts(world, "spare"))
    assert len(lines(world, "NodeName")) == 2


def test_no_drift_is_detected(built: TestWorld) -> None:
    """HP-12: what a user made of our lines stays until the group changes."""
    content = file_of(built)["content"]
    without = "".join(line for line in content.splitlines(True) if not line.startswith(("NodeName", "Partition")))
    edit(built, without)
    built.advance(hours=5)
    assert file_of(built)["content"] == without
    scale(built, workers(3))
    built.advance(minutes=30)
    assert named(built) == hosts(built)


def test_an_edit_of_an_older_file_is_refused(built: TestWorld) -> None:
    """CT-9: neither another's edit nor a node that came meanwhile is lost."""
    before = file_of(built)
    edit(built, before["content"] + "# first\n")
    late = put(built, before["content"] + "# second\n", before["version"])
    assert late.status_code == 409
    assert "Read it again" in late.json()["error"]["message"]
    before = file_of(built)
    scale(built, workers(3))
    built.advance(minutes=30)
    assert put(built, before["content"], before["version"]).status_code == 409
    assert file_of(built)["content"].endswith("# first\n")
    with ThreadPoolExecutor(4) as pool:
        now = file_of(built)
        codes = list(pool.map(lambda n: put(built, f"# {n}\n", now["version"]).status_code, range(4)))
    assert sorted(codes) == [200, 409, 409, 409]


def test_a_look_changes_nothing(built: TestWorld) -> None:
    """CT-1: equal worlds stay equal, whoever looks into them."""
    before = built.export()
    file_of(built)
    assert built.export() == before


def test_the_edit_goes_with_the_world_and_with_its_cluster(built: TestWorld, service: Any) -> None:
    """CT-2: fork, snapshot and export have it; a cluster of the same name that comes later has not."""
    edited = edit(built, "# mine\n")
    assert (edited["content"], edited["edited_at"]) == ("# mine\n", built.now())
    built.control("POST", "snapshots", json={"name": "s"})
    fork = {"name": f"{built.name}-f", "fork_of": built.name}
    httpx.post(f"{service.base}/_windtunnel/worlds", json=fork)
    forked = httpx.get(f"{service.base}/w/{built.name}-f/_windtunnel/{PATH}").json()
    assert forked == edited
    built.sagemaker.delete_cluster(ClusterName="demo")
    built.advance(hours=1)
    assert '"slurm_conf":[]' in built.export().decode()
    built.sagemaker.create_cluster(**slurm(workers(1)))
    built.advance(minutes=30)
    assert "# mine" not in file_of(built)["content"]
    built.control("POST", "snapshots/s/restore")
    assert file_of(built) == edited


def refused(world: TestWorld) -> tuple[int, str]:
    answer = world.http.get(f"{world.endpoint}/_windtunnel/{PATH}")
    return answer.status_code, answer.json()["error"]["message"]


def test_clusters_without_a_file(world: TestWorld) -> None:
    """CT-9: none of that name, EKS, classic without SlurmConfig, and before the controller is up."""
    assert refused(world)[0] == 404
    plain = group("workers")
    world.sagemaker.create_cluster(**eks(plain))
    assert refused(world) == (400, "Cluster 'demo' is orchestrated by EKS and has no slurm.conf. Name a Slurm cluster.")
    world.control("POST", "reset", json={})
    world.sagemaker.create_cluster(**classic(plain))
    world.advance(minutes=30)
    assert "lifecycle scripts" in refused(world)[1]
    world.control("POST", "reset", json={})
    world.sagemaker.create_cluster(**slurm(workers(1)))
    status, text = refused(world)
    assert status == 409
    assert "once the controller is up" in text
    assert put(world, "", "x").status_code == 409


def test_a_classic_cluster_with_slurm_config_has_a_file(world: TestWorld) -> None:
    """CT-9."""
    world.sagemaker.create_cluster(**classic(*slurm(workers(2))["InstanceGroups"]))
    world.advance(minutes=30)
    assert named(world) == hosts(world)


def test_other_accounts_and_regions(world: TestWorld) -> None:
    """CT-0: the file is looked for where it is said."""
    world.client(account="999988887777", region="eu-north-1").create_cluster(**slurm(workers(1)))
    world.advance(minutes=30)
    assert "demo" in file_of(world, account="999988887777", region="eu-north-1")["content"]
    assert refused(world)[0] == 404


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"content": "NodeName=a[1-999999999]\n"}, "more than 65536 hosts"),
        ({"content": "a\0b"}, "NUL"),
        ({"content": 7}, "must be text"),
        ({"content": "", "version": None}, "version"),
        ({}, "content: is missing"),
    ],
)
def test_what_is_no_file_is_refused(built: TestWorld, body: dict[str, Any], told: str) -> None:
    before = file_of(built)
    url = f"{built.endpoint}/_windtunnel/{PATH}"
    answer = built.http.put(url, json={"version": before["version"]} | body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
    assert file_of(built) == before


def test_an_empty_file_is_a_file(built: TestWorld) -> None:
    edit(built, "")
    assert file_of(built)["content"] == ""
