"""The OpenAPI document, the coverage page and the routes, against the SDK (VX-18)."""

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.wire.google.errors import GoogleError
from app.wire.vertex.application import rpcs
from app.wire.vertex.document import openapi
from app.wire.vertex.routing import route
from app.wire.vertex.rpc import JOBS, METADATA, PIPELINES, RESOURCES, TENSORBOARDS

SAID = tomllib.loads((Path(__file__).parents[3] / "scripts" / "coverage.toml").read_text(encoding="utf-8"))["vertex"]
SERVICES = {
    JOBS: "job_service",
    PIPELINES: "pipeline_service",
    METADATA: "metadata_service",
    TENSORBOARDS: "tensorboard_service",
    RESOURCES: "persistent_resource_service",
}
MIXINS = {
    "GetIamPolicy", "SetIamPolicy", "TestIamPermissions", "GetLocation", "ListLocations", "GetOperation",
    "ListOperations", "DeleteOperation", "CancelOperation", "WaitOperation",
}  # fmt: skip

OURS = re.compile(
    r"/\w+/projects/\*/locations(/\*(/(customJobs|hyperparameterTuningJobs|trainingPipelines|persistentResources"
    r"|tensorboards|metadataStores|metadataStores/\*/contexts)(/\*)?)?(/operations(/\*)?)?(:\w+)?)?"
)


def bindings(service: str, version: str) -> dict[str, Any]:
    """The SDK's classes of REST bindings by the RPC."""
    module = importlib.import_module(
        f"google.cloud.aiplatform_{version}.services.{SERVICES[service]}.transports.rest_base"
    )
    transport = getattr(module, f"_Base{service}RestTransport")
    return {name.removeprefix("_Base"): getattr(transport, name) for name in dir(transport) if name.startswith("_Base")}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_every_rpc_of_the_sdk_is_on_the_page(service: str, version: str) -> None:
    """An RPC that the SDK gains must be emulated, or be said not to be."""
    known = set(bindings(service, version)) - MIXINS
    emulated = {name for name, each in rpcs().items() if each.service == service}
    absent = set(SAID["absent"].get(service, ()))
    assert not emulated & absent
    assert known == emulated | absent


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_every_binding_of_the_sdk_finds_its_rpc(version: str) -> None:
    """Method, path and body are those that the SDK's REST transport uses, operations under `/ui/` included."""
    seen = 0
    for service in SERVICES:
        for name, kind in bindings(service, version).items():
            if name not in rpcs() or not hasattr(kind, "_get_http_options"):
                continue
            options = kind._get_http_options()
            if name not in MIXINS:
                options = [one for one in options if f"/{version}/" in one["uri"]]
            for option in options:
                path = re.sub(r"\{[\w.]+=([^}]*)\}", r"\1", option["uri"])
                if not OURS.fullmatch(path):
                    continue  # operations of resources that are not emulated
                path = path.replace("locations/*", "locations/us-central1").replace("*", "1")
                found = route(option["method"].upper(), path)
                assert found.rpc.name == name, option
                if name not in MIXINS:
                    assert found.rpc.body == option.get("body", ""), option
                seen += 1
    assert seen > 150


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_what_is_said_not_to_be_emulated_is_501(version: str) -> None:
    """VX-18: never 404 or 405, which would be a caller's mistake."""
    for service in SERVICES:
        for name, kind in bindings(service, version).items():
            if name not in SAID["absent"].get(service, ()):
                continue
            for option in kind._get_http_options():
                path = re.sub(r"\{[\w.]+=([^}]*)\}", r"\1", option["uri"])
                path = path.replace("locations/*", "locations/us-central1").replace("*", "1")
                with pytest.raises(GoogleError) as raised:
                    route(option["method"].upper(), path)
                assert raised.value.http == 501, option


def test_differences_are_told_of_what_is_emulated() -> None:
    assert set(SAID["differences"]) >= set(rpcs())


def test_references_resolve_and_the_text_is_stable() -> None:
    """What is checked in must not change by itself."""
    document = openapi(rpcs(), version="1")
    text = orjson.dumps(document).decode()
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) == set(document["components"]["schemas"])
    assert text == orjson.dumps(openapi(rpcs(), version="1")).decode()
    create = document["paths"]["/v1/projects/{project}/locations/{location}/customJobs"]["post"]
    assert create["operationId"] == "CreateCustomJob"
    schemas = document["components"]["schemas"]
    assert schemas["CustomJob"]["required"] == ["displayName", "jobSpec"]
    assert schemas["CustomJob"]["properties"]["state"]["readOnly"]
    assert "NVIDIA_H100_80GB" in schemas["MachineSpec"]["properties"]["acceleratorType"]["enum"]
