"""What a moto world's clients meet beyond moto's own tests, and that no other world is bent to it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from app.settings import Settings
from app.wire.aws.problems import Problems
from tests.kit import Running, TestWorld, controller, eks, group, serving, slurm, workers

LIFE = {"SourceS3Uri": "s3://sagemaker-scripts", "OnCreate": "on_create.sh"}
ACCOUNT = "123456789012"


def machines(name: str = "workers", count: int = 2, **facts: Any) -> dict[str, Any]:
    return group(name, count, LifeCycleConfig=LIFE, **facts)


def continuous(count: int = 2) -> dict[str, Any]:
    made = slurm(workers(count, LifeCycleConfig=LIFE))
    made["InstanceGroups"][0] = controller(LifeCycleConfig=LIFE)
    return made


@pytest.fixture
def moto(service: Running) -> Iterator[TestWorld]:
    made = service.world(profile="moto")
    yield made
    made.close()


def create(world: TestWorld, name: str = "demo", *groups: dict[str, Any], **facts: Any) -> str:
    chosen = list(groups) or [machines()]
    return world.sagemaker.create_cluster(ClusterName=name, InstanceGroups=chosen, **facts)["ClusterArn"]


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as caught:
        call(**request)
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


def node_ids(world: TestWorld) -> list[str]:
    return [node["InstanceId"] for node in world.nodes()]


def post(world: TestWorld, operation: str, body: bytes) -> httpx.Response:
    return world.http.post(f"{world.endpoint}/", headers={"x-amz-target": f"SageMaker.{operation}"}, content=body)


def test_a_name_is_new_again_after_its_deletion(moto: TestWorld) -> None:
    """moto keeps nothing of a deleted cluster: no tag, no bill, and no row that names it."""
    for generation in range(3):
        arn = create(moto, Tags=[{"Key": "turn", "Value": str(generation)}])
        assert moto.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "turn", "Value": str(generation)}]
        assert node_ids(moto) == ["workers-0", "workers-1"]
        moto.advance(hours=1)
        moto.sagemaker.delete_cluster(ClusterName="demo")
        assert moto.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert b'"demo"' not in moto.export()


def test_updates_have_happened_when_they_are_answered(moto: TestWorld) -> None:
    create(moto)
    moto.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[machines(count=4), machines("more", 1)])
    found = moto.describe()
    assert found["ClusterStatus"] == "InService"
    assert [(one["CurrentCount"], one["TargetCount"]) for one in found["InstanceGroups"]] == [(4, 4), (1, 1)]
    assert node_ids(moto) == ["workers-0", "workers-1", "workers-2", "workers-3", "more-0"]


def test_nodes_come_and_go_at_once(moto: TestWorld) -> None:
    """What moto has not got, BatchAddClusterNodes and BatchDeleteClusterNodes, goes by its names, too."""
    moto.sagemaker.create_cluster(**continuous())
    assert moto.describe()["ClusterStatus"] == "InService"
    moto.sagemaker.batch_add_cluster_nodes(
        ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    )
    assert node_ids(moto) == ["controller-0", "workers-0", "workers-1", "workers-2"]
    gone = moto.sagemaker.batch_delete_cluster_nodes(ClusterName="demo", NodeIds=["workers-1", "workers-9"])
    assert gone["Successful"] == ["workers-1"]
    assert [one["NodeId"] for one in gone["Failed"]] == ["workers-9"]
    assert node_ids(moto) == ["controller-0", "workers-0", "workers-2"]
    moto.sagemaker.batch_add_cluster_nodes(
        ClusterName="demo", NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    )
    assert node_ids(moto) == ["controller-0", "workers-0", "workers-2", "workers-3"], "no id has two lives"
    assert moto.events(), "events are told as in any world"


def test_nodes_are_repaired_at_once_and_keep_their_names(moto: TestWorld) -> None:
    """Replace, reboot and a health check, by the numbered ids; the id is the place, so a replacement has it, too."""
    moto.sagemaker.create_cluster(**continuous())
    replaced = moto.sagemaker.batch_replace_cluster_nodes(ClusterName="demo", NodeIds=["workers-0", "workers-9"])
    assert replaced["Successful"] == ["workers-0"]
    assert [one["NodeId"] for one in replaced["Failed"]] == ["workers-9"]
    assert moto.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=["workers-1"])["Successful"]
    found = [(node["InstanceId"], node["InstanceStatus"]["Status"]) for node in moto.nodes()]
    assert found == [("controller-0", "Running"), ("workers-0", "Running"), ("workers-1", "Running")]
    assert "workers-0" in {event.get("InstanceId") for event in moto.events()}


@pytest.mark.parametrize("name", ["nobody", f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/nobody"])
def test_what_is_not_there_is_told_in_motos_words(moto: TestWorld, name: str) -> None:
    words = ("ValidationException", "Could not find cluster 'nobody'.")
    client = moto.sagemaker
    assert refused(client.describe_cluster, ClusterName=name) == words
    assert refused(client.delete_cluster, ClusterName=name) == words
    assert refused(client.list_cluster_nodes, ClusterName=name) == words
    assert refused(client.describe_cluster_node, ClusterName=name, NodeId="workers-0") == words
    create(moto)
    missing = refused(client.describe_cluster_node, ClusterName="demo", NodeId="workers-7")
    assert missing == ("ValidationException", "Could not find node 'workers-7' in cluster 'demo'.")


def test_an_access_key_that_is_an_account_keeps_it(moto: TestWorld) -> None:
    mine = moto.client(account="999900001111")
    create(moto)
    assert mine.list_clusters()["ClusterSummaries"] == []
    theirs = moto.client(account="testing")
    made = theirs.create_cluster(ClusterName="theirs", InstanceGroups=[machines()])
    assert made["ClusterArn"] == f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/theirs"
    unsigned = post(moto, "ListClusters", b"{}").json()["ClusterSummaries"]
    assert [one["ClusterName"] for one in unsigned] == ["theirs"]


def test_pages_hold_a_hundred_at_most(moto: TestWorld) -> None:
    """moto takes any MaxResults; here a page is bounded, and the rest is behind its token."""
    create(moto, "demo", machines(count=120))
    first = moto.sagemaker.list_cluster_nodes(ClusterName="demo", MaxResults=1000)
    assert len(first["ClusterNodeSummaries"]) == 100
    assert first["NextToken"]
    assert node_ids(moto) == [f"workers-{n}" for n in range(120)]


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'{"ClusterName": 7}',
        b'{"ClusterName": "demo", "InstanceGroups": 7}',
        b'{"ClusterName": "demo", "InstanceGroups": [7, {"LifeCycleConfig": 7}]}',
        b'{"ClusterName": "demo", "InstanceGroups": [{"LifeCycleConfig": {"SourceS3Uri": 7}}]}',
    ],
)
def test_nonsense_is_refused_as_anywhere(moto: TestWorld, body: bytes) -> None:
    answer = post(moto, "CreateCluster", body)
    assert answer.status_code == 400
    assert answer.json()["__type"] in ("SerializationException", "ValidationException")


@pytest.mark.parametrize("operation", ["ListClusters", "ListClusterNodes", "DescribeClusterNode"])
@pytest.mark.parametrize("body", [b'{"SortBy": 7, "MaxResults": true, "ClusterName": null, "NodeId": {}}', b"null"])
def test_nonsense_in_what_the_dialect_reads_is_refused(moto: TestWorld, operation: str, body: bytes) -> None:
    assert post(moto, operation, body).status_code == 400


def test_a_node_id_may_be_anything_but_null() -> None:
    found = Problems(frozenset({"nodeIds"}))
    found.breaks(["x"], "nodeIds", "Member must …")
    assert found.broken == []
    found.breaks(["x"], "checks.1.member.nodeIds", "Member must …")
    assert found.broken == []
    found.breaks(None, "nodeIds", "Member must not be null")
    assert len(found.broken) == 1


def test_many_callers_at_once(moto: TestWorld) -> None:
    """One of those who want a name gets it, and everybody's cluster is there when he is answered."""

    def attempt(number: int) -> str:
        try:
            create(moto, f"demo-{number // 4}")
        except ClientError as error:
            return error.response["Error"]["Code"]
        return moto.describe(f"demo-{number // 4}")["ClusterStatus"]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(attempt, range(16)))
    assert sorted(found) == ["InService"] * 4 + ["ResourceInUse"] * 12


def test_deletions_at_once(moto: TestWorld) -> None:
    names = [f"demo-{number}" for number in range(8)]
    for name in names:
        create(moto, name)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: moto.sagemaker.delete_cluster(ClusterName=name), names))
    assert moto.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_what_cannot_happen_waits(moto: TestWorld) -> None:
    """Capacity and faults are as in any world: nothing takes time, but a machine that is not there is not there."""
    moto.capacity("ml.c5.xlarge", 2)
    moto.sagemaker.create_cluster(**eks(machines(count=3)))
    assert moto.group("workers")["CurrentCount"] == 2
    moto.capacity("ml.c5.xlarge", 3)
    moto.advance(minutes=10)
    assert moto.group("workers")["CurrentCount"] == 3
    assert node_ids(moto) == ["workers-0", "workers-1", "workers-2"]


def test_a_fork_goes_on_in_the_same_manner(service: Running, moto: TestWorld) -> None:
    create(moto)
    name = f"{moto.name}-fork"
    moto.control("POST", "worlds", json={"name": name, "fork_of": moto.name})
    fork = TestWorld(service.base, name)
    try:
        assert node_ids(fork) == ["workers-0", "workers-1"]
        fork.sagemaker.delete_cluster(ClusterName="demo")
        create(fork)
        assert len(node_ids(moto)) == 2
    finally:
        fork.close()


def test_a_seeded_cluster_is_in_service_when_somebody_looks(moto: TestWorld) -> None:
    request = {"ClusterName": "demo", "InstanceGroups": [machines()], "account": "111122223333"}
    moto.control("POST", "reset", json={"seed": {"clusters": [request]}})
    assert moto.describe()["ClusterStatus"] == "InService"


def test_the_largest_group_there_is(moto: TestWorld) -> None:
    create(moto, "demo", machines(count=6758))
    assert moto.describe()["InstanceGroups"][0]["CurrentCount"] == 6758


def test_reset_empties_this_world_alone(service: Running, moto: TestWorld) -> None:
    other = service.world(profile="moto")
    for world in (moto, other):
        create(world)
    answer = moto.http.post(f"{moto.endpoint}/moto-api/reset")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert moto.sagemaker.list_clusters()["ClusterSummaries"] == []
    assert len(other.sagemaker.list_clusters()["ClusterSummaries"]) == 1


def test_no_other_world_is_bent_to_it(world: TestWorld) -> None:
    """Names are no ids there, nodes are not numbered, and nobody's test suite empties it."""
    create(world)
    world.advance(minutes=20)
    arn = f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{'a' * 12}"
    assert refused(world.sagemaker.describe_cluster, ClusterName=arn)[0] == "ResourceNotFound"
    assert refused(world.sagemaker.describe_cluster_node, ClusterName="demo", NodeId="workers-0")[0] == (
        "ValidationException"
    )
    answer = world.http.post(f"{world.endpoint}/moto-api/reset")
    assert answer.status_code == 404
    assert "windtunnel world create NAME --profile moto" in answer.json()["error"]["message"]
    assert world.describe()["ClusterStatus"] == "InService"


def test_reset_is_guarded_like_our_own_api(dsn: str) -> None:
    """CT-14: with a control token nobody else empties a world."""
    settings = Settings(database_url=dsn, frozen=True, control_token="secret")
    with serving(settings) as running:
        assert httpx.post(f"{running.base}/moto-api/reset").status_code == 401


def test_a_world_that_takes_the_name_of_another_has_its_own_manners(service: Running) -> None:
    """What a process remembers of worlds ends with the world."""
    name, codes = "changing", {"moto": "ValidationException", "fast": "ResourceNotFound"}
    for profile in ("moto", "fast", "moto"):
        wanted = {"name": name, "profile": profile, "frozen": True}
        answer = httpx.post(f"{service.base}/_windtunnel/worlds", json=wanted)
        assert answer.status_code == 201, answer.text
        world = TestWorld(service.base, name)
        try:
            assert refused(world.sagemaker.describe_cluster, ClusterName="nobody")[0] == codes[profile]
        finally:
            world.close()
            httpx.delete(f"{service.base}/_windtunnel/worlds/{name}")
