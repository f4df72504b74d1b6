"""What `aiplatform.init(experiment=…)` asks for, and persistent resources, through Google's clients (VX-18)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1
from google.protobuf.field_mask_pb2 import FieldMask

from tests.kit import Running, TestWorld, custom_job

PARENT = "projects/p1/locations/us-central1"
STORE = f"{PARENT}/metadataStores/default"


@pytest.fixture
def metadata(world: TestWorld) -> Any:
    client = world.google(v1.MetadataServiceClient)
    client.create_metadata_store(parent=PARENT, metadata_store=v1.MetadataStore(), metadata_store_id="default").result()
    return client


def test_a_metadata_store(world: TestWorld) -> None:
    """VX-18: made by an operation whose response it is; its name is taken then."""
    client = world.google(v1.MetadataServiceClient)
    with pytest.raises(exceptions.NotFound):
        client.get_metadata_store(name=STORE)
    with pytest.raises(exceptions.NotFound):
        client.create_context(parent=STORE, context=v1.Context(), context_id="c")
    made = client.create_metadata_store(parent=PARENT, metadata_store=v1.MetadataStore(description="mine"))
    store: Any = made.result()
    assert store.name.endswith("/locations/us-central1/metadataStores/default")
    assert (store.description, store == client.get_metadata_store(name=STORE)) == ("mine", True)
    with pytest.raises(exceptions.Conflict):
        client.create_metadata_store(parent=PARENT, metadata_store=v1.MetadataStore(), metadata_store_id="default")
    assert [each.name for each in client.list_metadata_stores(parent=PARENT)] == [store.name]


def test_contexts(world: TestWorld, metadata: Any) -> None:
    """VX-18: created, found by filter, changed by mask, deleted with their store."""
    for name in ("one", "two"):
        context = v1.Context(display_name=name, schema_title="system.Experiment", labels={"a": "b"})
        made = metadata.create_context(parent=STORE, context=context, context_id=name)
        assert made.name.endswith(f"/metadataStores/default/contexts/{name}")
    found = metadata.list_contexts(
        request={"parent": STORE, "filter": 'schema_title="system.Experiment" AND display_name=two'}
    )
    [two] = found
    world.advance(5)
    two.metadata = {"tensorboard": "t", "count": 1.0}
    two.description = "left alone"
    changed = metadata.update_context(context=two, update_mask=FieldMask(paths=["metadata"]))
    assert (dict(changed.metadata), changed.description) == ({"tensorboard": "t", "count": 1.0}, "")
    assert changed.update_time > changed.create_time
    page = next(metadata.list_contexts(request={"parent": STORE, "page_size": 1}).pages)
    assert (len(page.contexts), bool(page.next_page_token)) == (1, True)
    metadata.delete_context(name=f"{STORE}/contexts/one").result()
    with pytest.raises(exceptions.NotFound):
        metadata.get_context(name=f"{STORE}/contexts/one")
    metadata.delete_metadata_store(name=STORE).result()
    with pytest.raises(exceptions.NotFound):
        metadata.get_context(name=two.name)


@pytest.mark.parametrize("given", ["A", "-a", "a b", "x" * 129])
def test_ids(metadata: Any, given: str) -> None:
    with pytest.raises(exceptions.BadRequest, match="is no id for context_id"):
        metadata.create_context(parent=STORE, context=v1.Context(), context_id=given)


def test_two_at_once(world: TestWorld, metadata: Any) -> None:
    """One name is given to one of them; ids that the service makes are each its own, in one instant too."""
    url = f"{world.endpoint}/v1/{STORE}/contexts"
    with ThreadPoolExecutor(8) as pool:
        same = list(pool.map(lambda _: world.http.post(f"{url}?contextId=same", json={}).status_code, range(16)))
        own = list(pool.map(lambda _: world.http.post(url, json={}).json()["name"], range(16)))
    assert sorted(same) == [200] + [409] * 15
    assert len(set(own)) == 16


def test_tensorboards(world: TestWorld) -> None:
    """VX-18: the default one is found by its flag."""
    client = world.google(v1.TensorboardServiceClient)
    for is_default in (True, False):
        board = v1.Tensorboard(display_name="board", is_default=is_default)
        client.create_tensorboard(parent=PARENT, tensorboard=board).result()
    [found] = client.list_tensorboards(request={"parent": PARENT, "filter": "is_default=true"})
    assert client.get_tensorboard(name=found.name).is_default
    with pytest.raises(exceptions.BadRequest, match="order"):
        client.list_tensorboards(request={"parent": PARENT, "order_by": "display_name"})
    client.delete_tensorboard(name=found.name).result()
    assert len(list(client.list_tensorboards(parent=PARENT))) == 1


def test_there_are_no_persistent_resources(world: TestWorld) -> None:
    """VX-18: so a job that names one is refused (tfx#6285)."""
    client = world.google(v1.PersistentResourceServiceClient)
    assert not list(client.list_persistent_resources(parent=PARENT))
    with pytest.raises(exceptions.NotFound):
        client.get_persistent_resource(name=f"{PARENT}/persistentResources/mine")
    with pytest.raises(exceptions.MethodNotImplemented):
        client.create_persistent_resource(
            parent=PARENT, persistent_resource=v1.PersistentResource(), persistent_resource_id="mine"
        )
    job = custom_job()
    job["job_spec"]["persistent_resource_id"] = "mine"
    with pytest.raises(exceptions.BadRequest, match="no persistent resource 'mine'"):
        world.vertex.create_custom_job(parent=PARENT, custom_job=job)


def test_forks_and_exports_have_them(service: Running, world: TestWorld, metadata: Any) -> None:
    """CT-2: documents and operations are of the world."""
    metadata.create_context(parent=STORE, context=v1.Context(display_name="kept"), context_id="kept")
    operations = world.http.get(f"{world.endpoint}/v1/{PARENT}/operations").json()
    context = world.http.get(f"{world.endpoint}/v1/{STORE}/contexts/kept").json()
    world.control("POST", "worlds", json={"name": f"{world.name}-fork", "fork_of": world.name})
    exported = world.export()
    answer = world.http.post(
        f"{service.base}/_windtunnel/worlds/import?name={world.name}-copy",
        content=exported,
        headers={"content-type": "application/json"},
    )
    assert answer.is_success, answer.text
    for name in (f"{world.name}-fork", f"{world.name}-copy"):
        base = f"{service.base}/w/{name}/v1"
        assert world.http.get(f"{base}/{PARENT}/operations").json() == operations
        assert world.http.get(f"{base}/{STORE}/contexts/kept").json() == context
