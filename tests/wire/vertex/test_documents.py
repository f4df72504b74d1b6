"""What `aiplatform.init(experiment=…)` asks for, through Google's clients (VX-18)."""

from typing import Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform_v1 as v1

from tests.kit import TestWorld

PARENT = "projects/p1/locations/us-central1"


def test_metadata_store(world: TestWorld) -> None:
    client = world.google(v1.MetadataServiceClient)
    with pytest.raises(exceptions.NotFound):
        client.get_metadata_store(name=f"{PARENT}/metadataStores/default")
    made = client.create_metadata_store(parent=PARENT, metadata_store=v1.MetadataStore(), metadata_store_id="default")
    store: Any = made.result()
    assert store.name.endswith("/locations/us-central1/metadataStores/default")
