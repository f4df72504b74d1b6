"""Named snapshots (CT-2): the world as it was, its clock included."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.kit import Running, TestWorld, eks, login, slurm, workers


def snapshots(world: TestWorld, method: str = "GET", path: str = "", **kwargs: object) -> httpx.Response:
    return world.http.request(method, f"{world.endpoint}/_windtunnel/snapshots{path}", **kwargs)


def save(world: TestWorld, name: str) -> dict[str, object]:
    return world.control("POST", "snapshots", json={"name": name})


def restore(world: TestWorld, name: str) -> dict[str, object]:
    return world.control("POST", f"snapshots/{name}/restore")


@pytest.fixture
def built(world: TestWorld) -> Iterator[TestWorld]:
    """A world with a bit of everything under way."""
    world.capacity("ml.p5.48xlarge", 3)
    world.fault("boot-slow", group="workers", seconds=30, times=1)
    world.sagemaker.create_cluster(**slurm(login(), workers(4)))
    world.advance(minutes=2)
    yield world


def test_a_restored_world_is_what_it_was(built: TestWorld) -> None:
    """CT-2: byte for byte, and what follows is the same history again."""
    before = built.export()
    saved = save(built, "early")
    assert saved["at"] == built.now()
    built.capacity("ml.p5.48xlarge", 9)
    built.advance(hours=1)
    later = built.export()
    assert later != before
    clock = restore(built, "early")
    assert clock["now"] == saved["at"], "the world's time goes back with everything else"
    assert built.export() == before
    built.capacity("ml.p5.48xlarge", 9)
    built.advance(hours=1)
    assert built.export() == later


def test_a_snapshot_is_restored_as_often_as_one_likes(built: TestWorld) -> None:
    """CT-2; what happens to the world does not happen to the snapshot."""
    before = built.export()
    save(built, "early")
    for _ in range(2):
        built.sagemaker.delete_cluster(ClusterName="demo")
        built.advance(hours=1)
        restore(built, "early")
        assert built.export() == before
    assert [one["name"] for one in snapshots(built).json()["snapshots"]] == ["early"]


def test_the_clocks_state_comes_back(service: Running) -> None:
    """CT-2: frozen or running, rate, seed and profile are the snapshot's."""
    world = service.world(profile="realistic", seed=11)
    save(world, "still")
    world.control("POST", "reset", json={"seed": {"clock": {"start": "2030-01-01T00:00:00Z", "rate": 60.0}}})
    world.control("POST", "clock", json={"frozen": False})
    clock = restore(world, "still")
    assert (clock["frozen"], clock["rate"], clock["now"]) == (True, 1.0, "2026-01-01T00:00:00.000Z")
    assert clock["profile"] == "realistic"


def test_snapshots_outlive_a_reset_and_go_with_the_world(built: TestWorld, service: Running) -> None:
    """CT-2: a world of the same name that is made later has none of them."""
    before = built.export()
    save(built, "kept")
    built.control("POST", "reset", json={})
    restore(built, "kept")
    assert built.export() == before
    url = f"{service.base}/_windtunnel/worlds"
    assert httpx.delete(f"{url}/{built.name}").status_code == 200
    assert httpx.post(url, json={"name": built.name, "frozen": True}).status_code == 201
    assert snapshots(built).json() == {"snapshots": []}


def test_a_snapshot_is_no_world(built: TestWorld, service: Running) -> None:
    """CT-0, CT-2: no list shows it, nothing reaches it, no export or fork has it."""
    before = built.export()
    save(built, "hidden")
    listed = httpx.get(f"{service.base}/_windtunnel/worlds").json()["worlds"]
    assert not [one for one in listed if "hidden" in one["name"]]
    for path in ("export", f"compare/{built.name}"):
        assert httpx.get(f"{service.base}/_windtunnel/worlds/{built.name}@hidden/{path}").status_code == 404
    fork = {"name": "of-a-snapshot", "fork_of": f"{built.name}@hidden"}
    assert httpx.post(f"{service.base}/_windtunnel/worlds", json=fork).status_code == 404
    assert httpx.get(f"{service.base}/w/{built.name}@hidden/_windtunnel/clock").status_code == 404
    assert built.export() == before


def test_refusals_say_what_to_do(built: TestWorld) -> None:
    """CT-2: a name that is taken, one that is none, and one that is not there."""
    save(built, "one")
    taken = snapshots(built, "POST", json={"name": "one"})
    assert taken.status_code == 409
    assert "windtunnel snapshot rm one" in taken.json()["error"]["message"]
    for name in ("", "A", "a/b", "a@b", "a" * 64, "é"):
        refused = snapshots(built, "POST", json={"name": name})
        assert refused.status_code == 400
        assert "cannot name a snapshot" in refused.json()["error"]["message"]
    for method, path in (("POST", "/two/restore"), ("DELETE", "/two")):
        missing = snapshots(built, method, path)
        assert missing.status_code == 404
        assert "windtunnel snapshot list" in missing.json()["error"]["message"]
    assert snapshots(built, "DELETE", "/one").json() == {"removed": "one"}
    assert snapshots(built, "POST", "/one/restore").status_code == 404


def test_a_hundred_are_enough(world: TestWorld) -> None:
    """Bounded everything."""
    for number in range(100):
        save(world, f"s-{number}")
    refused = snapshots(world, "POST", json={"name": "s-100"})
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "LimitExceeded"


def test_two_at_once(built: TestWorld) -> None:
    """One of two that save under one name is told so; restores and advances take turns."""
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda _: snapshots(built, "POST", json={"name": "race"}).status_code, range(4)))
    assert sorted(codes) == [201, 409, 409, 409]
    before = built.export()

    def disturb(number: int) -> int:
        if number % 2:
            return snapshots(built, "POST", "/race/restore").status_code
        url = f"{built.endpoint}/_windtunnel/clock/advance"
        return httpx.post(url, json={"by": 60}, timeout=60).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(disturb, range(8))) <= {200, 409}
    restore(built, "race")
    assert built.export() == before


def test_client_tokens_come_back_too(world: TestWorld) -> None:
    """HP-31: a request that was answered before the snapshot is answered so again after the restore."""
    world.sagemaker.create_cluster(**_eks())
    world.advance(minutes=20)
    add = {"ClusterName": "demo", "ClientToken": "t" * 32, "NodesToAdd": [_ADDED]}
    first = world.sagemaker.batch_add_cluster_nodes(**add)["Successful"]
    save(world, "added")
    world.advance(minutes=20)
    restore(world, "added")
    assert world.sagemaker.batch_add_cluster_nodes(**add)["Successful"] == first


_ADDED = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}


def _eks() -> dict[str, object]:
    plain = workers(1)
    del plain["SlurmConfig"]
    return eks(plain)
