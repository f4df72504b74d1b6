"""The document and the table that follow from the registry."""

from typing import Any

import orjson

from app.wire.openapi_aws import CoverageRow, coverage, openapi
from tests.wire.aws.samples import emulated_names, silent_service

SERVICE = silent_service(emulated_names())


def test_each_emulated_operation_is_described_with_its_constraints() -> None:
    """HP-W4: the document says what the wire checks."""
    document = openapi(SERVICE)
    assert list(document["paths"]) == [f"/#{name}" for name in sorted(SERVICE.operations)]
    schemas = document["components"]["schemas"]
    assert schemas["ClusterName"] == {
        "type": "string", "minLength": 1, "maxLength": 63, "pattern": "^(?:[a-zA-Z0-9](-*[a-zA-Z0-9])*)$",
    }  # fmt: skip
    assert schemas["CreateClusterRequest"]["required"] == ["ClusterName"]
    assert "ml.p5.48xlarge" in schemas["ClusterInstanceType"]["enum"]
    assert (schemas["ClusterInstanceCount"]["minimum"], schemas["ClusterInstanceCount"]["maximum"]) == (0, 6758)
    assert schemas["ClusterInstanceStorageConfig"]["maxProperties"] == 1


def test_references_resolve_and_the_text_is_stable() -> None:
    """What is checked in must not change by itself."""
    document = openapi(SERVICE)
    names = set(document["components"]["schemas"])

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"].rpartition("/")[2]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(item) for item in value.values()))
        return set().union(*(references(item) for item in value)) if isinstance(value, list) else set()

    assert references(document) == names
    assert orjson.dumps(document) == orjson.dumps(openapi(SERVICE))


def test_coverage_lists_what_is_and_what_is_not() -> None:
    """HP-W5: what answers 501 is in the table."""
    rows = coverage(SERVICE, ("Cluster", "TrainingJob"))
    assert CoverageRow("sagemaker", "CreateCluster", True) in rows
    assert CoverageRow("sagemaker", "AddTags", True) in rows
    assert CoverageRow("sagemaker", "StopTrainingJob", False) in rows
    assert all(row.operation != "CreateModel" for row in rows)
