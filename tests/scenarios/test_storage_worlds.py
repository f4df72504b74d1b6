"""Objects of Cloud Storage in worlds that are forked, kept, exported, compared, emptied and dropped (CT-0, CT-2)."""

import json
from typing import Any

import httpx
import pytest

from app.usecases import worlds
from tests.kit import Running, TestWorld

BIG = bytes(range(256)) * 10_000


def write(world: TestWorld, name: str, content: bytes) -> None:
    world.storage.bucket("bkt").blob(name).upload_from_string(content)


def contents(world: TestWorld) -> dict[str, bytes]:
    return {blob.name: blob.download_as_bytes() for blob in world.storage.list_blobs("bkt")}


def unfinished(world: TestWorld) -> str:
    """An upload in pieces of which one is there."""
    query = {"uploadType": "resumable", "name": "unfinished"}
    url: str = world.http.post("/upload/storage/v1/b/bkt/o", params=query).headers["location"]
    world.http.put(url, content=b"x" * 262_144, headers={"content-range": "bytes 0-262143/*"})
    return url


def finish(url: str) -> httpx.Response:
    return httpx.put(url, content=b"y", headers={"content-range": "bytes 262144-262144/262145"})


def compared(world: TestWorld, other: TestWorld) -> Any:
    return httpx.get(f"{world.base}/_windtunnel/worlds/{world.name}/compare/{other.name}").json()


def fork_of(world: TestWorld) -> TestWorld:
    name = f"{world.name}-fork"
    made = httpx.post(f"{world.base}/_windtunnel/worlds", json={"name": name, "fork_of": world.name})
    assert made.is_success, made.text
    return TestWorld(world.base, name)


def test_a_fork_has_the_objects(world: TestWorld) -> None:
    """CT-0: bytes, uploads that are not complete, and generations; then each goes its own way."""
    write(world, "a", b"1")
    write(world, "big", BIG)
    url = unfinished(world)
    fork = fork_of(world)
    assert compared(world, fork)["equal"]
    assert contents(fork) == {"a": b"1", "big": BIG}
    for each in (url, url.replace(f"/w/{world.name}/", f"/w/{fork.name}/")):
        assert finish(each).status_code == 200
    assert compared(world, fork)["equal"], "the same was done in both"
    write(fork, "a", b"2")
    told = compared(world, fork)
    assert {each["table"] for each in told["differences"]} == {"storage_bucket", "storage_chunk", "storage_object"}
    assert len(json.dumps(told)) < 10_000, "bytes are told by their hash"
    assert contents(world)["a"] == b"1"
    fork.close()


def test_an_export_is_read_again(service: Running, world: TestWorld) -> None:
    """CT-2: the same bytes for the same objects, and the same objects for the same bytes."""
    write(world, "a", b"\x00\xff\\x00")
    write(world, "big", BIG)
    unfinished(world)
    exported = world.export()
    name = f"{world.name}-back"
    url = f"{world.base}/_windtunnel/worlds/import"
    answer = httpx.post(url, params={"name": name}, content=exported, headers={"content-type": "application/json"})
    assert answer.status_code == 201, answer.text
    back = TestWorld(world.base, name)
    assert contents(back) == {"a": b"\x00\xff\\x00", "big": BIG}
    assert back.export() == exported
    back.close()


@pytest.mark.parametrize("wrong", ["00", "\\x0", "\\xzz", "\\x00\n", 5, ""])
def test_bytes_that_are_none_are_refused(world: TestWorld, wrong: object) -> None:
    """CT-2: with the table and the column."""
    write(world, "a", b"1")
    exported = json.loads(world.export())
    exported["tables"]["storage_chunk"][0]["bytes"] = wrong
    url = f"{world.base}/_windtunnel/worlds/import"
    answer = httpx.post(url, params={"name": f"{world.name}-x"}, json=exported)
    assert answer.status_code == 400
    assert "storage_chunk.bytes" in answer.json()["error"]["message"]


def test_a_world_with_too_many_bytes_has_no_export(world: TestWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-2: a file that could not be read again is not written; a snapshot holds any number."""
    write(world, "big", BIG)
    monkeypatch.setattr(worlds, "MOST_EXPORTED", len(BIG) - 1)
    answer = httpx.get(f"{world.base}/_windtunnel/worlds/{world.name}/export")
    assert answer.status_code == 409
    assert str(len(BIG)) in answer.json()["error"]["message"]
    world.control("POST", "snapshots", json={"name": "kept"})


def test_snapshots_bring_objects_back(world: TestWorld) -> None:
    """CT-2: with their generations."""
    write(world, "a", b"1")
    before = world.http.get("/storage/v1/b/bkt/o/a").json()
    world.control("POST", "snapshots", json={"name": "kept"})
    write(world, "a", b"2")
    write(world, "b", b"3")
    world.control("POST", "snapshots/kept/restore")
    assert contents(world) == {"a": b"1"}
    assert world.http.get("/storage/v1/b/bkt/o/a").json() == before


def test_a_reset_takes_buckets_away(world: TestWorld) -> None:
    """CT-2: all of them."""
    write(world, "a", b"1")
    world.control("POST", "reset")
    assert not world.storage.bucket("bkt").exists()


def test_the_same_script_gives_the_same_bytes(service: Running, world: TestWorld) -> None:
    """CT-1: under a frozen clock, generations and upload ids included."""
    twin = service.world()
    for each in (world, twin):
        write(each, "a", b"1")
        write(each, "a", b"2")
        unfinished(each)
    assert world.export() == twin.export()
