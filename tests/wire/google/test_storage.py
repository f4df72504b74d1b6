"""Cloud Storage through Google's own client."""

import base64
import hashlib
import io
from typing import Any

import google_crc32c
import pytest
from google.api_core import exceptions

from tests.kit import Running, TestWorld

BIG = bytes(range(251)) * 40_000 + b"end"  # ten MB, so that the client sends it in pieces
NAMES = [
    "a",
    "a/b c",
    "a/b/../c",
    "a/ü?x=1&y#z",
    "a/%2F%",
    "日本語",
    "/lead",
    "trail/",
    "a//b",
    "rewriteTo/b/x/o/y",
    "+",
]


def names(world: TestWorld, **asked: Any) -> list[str]:
    return [blob.name for blob in world.storage.list_blobs("bkt", **asked)]


def write(world: TestWorld, name: str, content: bytes = b"hello", **asked: Any) -> Any:
    blob = world.storage.bucket("bkt").blob(name)
    blob.upload_from_string(content, **asked)
    return blob


@pytest.mark.parametrize("name", NAMES)
def test_names_are_names(world: TestWorld, name: str) -> None:
    """VX-20: an object's name is no path, and its slashes lead nowhere else."""
    write(world, "other", b"other")
    write(world, name, name.encode())
    assert world.storage.bucket("bkt").blob(name).download_as_bytes() == name.encode()
    assert sorted(names(world)) == sorted([name, "other"])
    world.storage.bucket("bkt").blob(name).delete()
    assert names(world) == ["other"]


def test_what_is_told_about_an_object(world: TestWorld) -> None:
    """VX-20: sums, times of the world, and what the writer says."""
    blob = world.storage.bucket("bkt").blob("a")
    blob.metadata, blob.cache_control, blob.content_language = {"k": "ü"}, "no-cache", "de"
    blob.upload_from_string(b"hello", content_type="text/x-é")
    found = world.storage.bucket("bkt").get_blob("a")
    assert found.md5_hash == base64.b64encode(hashlib.md5(b"hello").digest()).decode()
    assert found.crc32c == base64.b64encode(google_crc32c.value(b"hello").to_bytes(4)).decode()
    assert (found.size, found.metageneration, found.storage_class) == (5, 1, "STANDARD")
    assert (found.metadata, found.cache_control, found.content_language) == ({"k": "ü"}, "no-cache", "de")
    assert found.time_created.isoformat() == found.updated.isoformat() == "2026-01-01T00:00:00+00:00"
    world.advance(60)
    found.metadata, found.content_language = {"k": None, "l": "2"}, None
    found.patch()
    assert (found.metadata, found.content_language, found.metageneration) == ({"l": "2"}, None, 2)
    assert found.updated.isoformat() == "2026-01-01T00:01:00+00:00"
    fetched = world.storage.bucket("bkt").blob("a")
    assert fetched.download_as_bytes() == b"hello"
    assert (fetched.content_type, fetched.cache_control) == ("text/x-Ã©", "no-cache")


@pytest.mark.parametrize("chunk", [None, 256 * 1024, 1024 * 1024])
@pytest.mark.parametrize("size", [None, len(BIG)])
def test_large_objects_are_sent_in_pieces(world: TestWorld, chunk: int | None, size: int | None) -> None:
    """VX-20, CT-14: also where their size is not known before."""
    blob = world.storage.bucket("bkt").blob("big", chunk_size=chunk)
    blob.upload_from_file(io.BytesIO(BIG), size=size)
    fresh = world.storage.bucket("bkt").blob("big")
    assert fresh.download_as_bytes() == BIG
    assert fresh.download_as_bytes(start=1_048_570, end=1_048_580) == BIG[1_048_570:1_048_581]
    assert fresh.download_as_bytes(start=len(BIG) - 3) == b"end"
    in_parts = world.storage.bucket("bkt").blob("big", chunk_size=3 * 1024 * 1024 // 4)
    assert in_parts.download_as_bytes() == BIG


def test_empty_objects(world: TestWorld) -> None:
    """VX-20: at once and in pieces."""
    write(world, "none", b"")
    blob = world.storage.bucket("bkt").blob("pieces", chunk_size=256 * 1024)
    blob.upload_from_file(io.BytesIO(b""))
    for name in ("none", "pieces"):
        assert world.storage.bucket("bkt").blob(name).download_as_bytes() == b""
        assert world.storage.bucket("bkt").get_blob(name).size == 0


def test_lists(world: TestWorld) -> None:
    """VX-20: prefixes, folders, offsets and pages, sorted by code point."""
    for name in ("b", "a/1", "a/2", "a/b/3", "a/c/4", "A", "a", "ä/5"):
        write(world, name)
    assert names(world) == ["A", "a", "a/1", "a/2", "a/b/3", "a/c/4", "b", "ä/5"]
    assert names(world, prefix="a/") == ["a/1", "a/2", "a/b/3", "a/c/4"]
    assert names(world, start_offset="a/2", end_offset="b") == ["a/2", "a/b/3", "a/c/4"]
    for page in (1, 2, 3, 1000):
        listed = world.storage.list_blobs("bkt", delimiter="/", page_size=page)
        assert [blob.name for blob in listed] == ["A", "a", "b"]
        assert listed.prefixes == {"a/", "ä/"}
        listed = world.storage.list_blobs("bkt", prefix="a/", delimiter="/", page_size=page)
        assert [blob.name for blob in listed] == ["a/1", "a/2"]
        assert listed.prefixes == {"a/b/", "a/c/"}
        assert names(world, page_size=page)[-1] == "ä/5"
    assert names(world, prefix="nothing") == []


def test_copies_and_compositions(world: TestWorld) -> None:
    """VX-20: with the sums of what they hold; a composed object has no MD5."""
    bucket = world.storage.bucket("bkt")
    one = write(world, "one", b"1" * 5, content_type="text/one")
    big = bucket.blob("big")
    big.upload_from_string(BIG)
    copied = bucket.copy_blob(one, bucket, "two")
    assert (copied.md5_hash, copied.content_type) == (one.md5_hash, "text/one")
    target = bucket.blob("three")
    target.content_type = "text/three"
    assert target.rewrite(one) == (None, 5, 5)
    assert target.content_type == "text/three"
    whole = bucket.blob("whole")
    whole.compose([one, big, one])
    whole.compose([whole, one])
    assert bucket.blob("whole").download_as_bytes() == b"11111" + BIG + b"1111111111"
    found = bucket.get_blob("whole")
    assert (found.md5_hash, found.component_count) == (None, 4)
    with pytest.raises(exceptions.BadRequest):
        whole.compose([])
    with pytest.raises(exceptions.NotFound, match="No such object: bkt/none"):
        whole.compose([one, bucket.blob("none")])
    world.storage.create_bucket("other")
    bucket.copy_blob(big, world.storage.bucket("other"), "big")
    assert world.storage.bucket("other").blob("big").download_as_bytes() == BIG


def test_preconditions(world: TestWorld) -> None:
    """VX-20: a generation is of one writing, and only rises."""
    first = write(world, "a", b"1", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed, match="At least one of the pre-conditions"):
        write(world, "a", b"2", if_generation_match=0)
    second = write(world, "a", b"2", if_generation_match=first.generation)
    assert second.generation > first.generation
    with pytest.raises(exceptions.PreconditionFailed):
        world.storage.bucket("bkt").blob("big").upload_from_string(BIG, if_generation_match=5)
    with pytest.raises(exceptions.PreconditionFailed):
        second.delete(if_metageneration_match=9)
    with pytest.raises(exceptions.NotFound):
        world.storage.bucket("bkt").blob("a", generation=first.generation).download_as_bytes()
    with pytest.raises(exceptions.PreconditionFailed):
        world.storage.bucket("bkt").copy_blob(second, second.bucket, "b", if_source_generation_match=1)
    second.delete(if_generation_match=second.generation)
    assert names(world) == []
    assert write(world, "a").generation > second.generation


def test_damaged_bytes_are_refused(world: TestWorld) -> None:
    """VX-20: the sums that the writer sends are compared; nothing is left of what is refused."""
    blob = world.storage.bucket("bkt").blob("a")
    blob.md5_hash = base64.b64encode(b"0" * 16).decode()
    with pytest.raises(exceptions.BadRequest, match=r"Provided MD5 hash .* doesn't match calculated MD5 hash"):
        blob.upload_from_string(b"hello", checksum=None)
    blob = world.storage.bucket("bkt").blob("a")
    blob.crc32c = "AAAAAA=="
    with pytest.raises(exceptions.BadRequest, match=r"Provided CRC32C .* doesn't match calculated CRC32C"):
        blob.upload_from_string(BIG, checksum=None)
    assert world.storage.bucket("bkt").get_blob("a") is None


def test_buckets(world: TestWorld) -> None:
    """VX-20: made, told, listed by project, and deleted when empty."""
    client = world.storage
    assert not client.bucket("bkt").exists()
    made = client.create_bucket("bkt", location="us-central1")
    assert (made.location, made.location_type, made.storage_class) == ("US-CENTRAL1", "region", "STANDARD")
    assert made.time_created.isoformat() == "2026-01-01T00:00:00+00:00"
    labelled = client.bucket("bkt-2")
    labelled.labels = {"team": "a"}
    client.create_bucket(labelled)
    assert client.get_bucket("bkt-2").labels == {"team": "a"}
    client.create_bucket("theirs", project="p2")
    assert [each.name for each in client.list_buckets(page_size=1)] == ["bkt", "bkt-2"]
    assert [each.name for each in client.list_buckets(project="p2")] == ["theirs"]
    assert made.project_number != client.get_bucket("theirs").project_number
    for taken in ("bkt", "theirs"):
        with pytest.raises(exceptions.Conflict, match="you already own it"):
            client.create_bucket(taken)
    with pytest.raises(exceptions.BadRequest, match="Invalid bucket name"):
        client.create_bucket("Not-A-Name")
    write(world, "a")
    with pytest.raises(exceptions.Conflict, match="The bucket you tried to delete is not empty"):
        made.delete()
    made.delete(force=True)
    assert not made.exists()
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        made.delete()
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        names(world)


def test_an_upload_makes_its_bucket(world: TestWorld) -> None:
    """VX-20: and nothing else does; every project's list shows a bucket that is of none."""
    for ask in (lambda: names(world), lambda: world.storage.bucket("bkt").blob("a").download_as_bytes()):
        with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
            ask()
    write(world, "a")
    assert [each.name for each in world.storage.list_buckets(project="p9")] == ["bkt"]
    with pytest.raises(exceptions.NotFound):
        world.storage.bucket("bkt").copy_blob(world.storage.bucket("bkt").blob("a"), world.storage.bucket("new"))
    with pytest.raises(exceptions.BadRequest, match="Invalid bucket name"):
        world.storage.bucket("Bkt").blob("a").upload_from_string("x")


def test_the_emulator_s_variable(world: TestWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """VX-20: all that the client needs, a world's path included; it then names no project."""
    from google.cloud import storage

    monkeypatch.setenv("STORAGE_EMULATOR_HOST", world.endpoint)
    with storage.Client() as client:
        client.bucket("bkt").blob("a").upload_from_string("hello")
        client.create_bucket("made")
        assert [each.name for each in client.list_buckets()] == ["bkt", "made"]
        assert client.bucket("bkt").blob("a").download_as_text() == "hello"


def test_worlds_do_not_meet(service: Running, world: TestWorld) -> None:
    """CT-0: one bucket's name in each."""
    other = service.world()
    write(world, "a", b"1")
    assert not other.storage.bucket("bkt").exists()
    write(other, "a", b"2")
    assert world.storage.bucket("bkt").blob("a").download_as_bytes() == b"1"
