"""CT-4: regions and zones; CT-6: the usage types that a bill names."""

import re

import pytest

from app import catalog
from app.catalog.tables import table

ZONE_NAME = re.compile(r"[a-z]{2}-[a-z]+-\d[a-z]")
ZONE_ID = re.compile(r"[a-z]{3,5}\d-az\d")
"""ClusterAvailabilityZone and ClusterAvailabilityZoneId of the SageMaker model."""


def test_every_zone_has_the_models_form_and_no_two_are_alike() -> None:
    """CT-4: names and ids that the wire may print."""
    every = [zone for region in catalog.regions().values() for zone in region.zones]
    assert all(ZONE_NAME.fullmatch(zone.name) and ZONE_ID.fullmatch(zone.id) for zone in every)
    assert len({zone.name for zone in every}) == len({zone.id for zone in every}) == len(every)
    assert len({region.usage_prefix for region in catalog.regions().values()}) == len(catalog.regions())


def test_regions_of_hyperpod_are_those_that_the_guide_lists() -> None:
    """CT-4: sixteen regions, each with its zones and a source."""
    listed = [region for region in catalog.regions().values() if region.hyperpod]
    assert len(listed) == 16
    assert {"us-east-1", "us-west-2", "eu-north-1", "ap-southeast-4"} <= {region.name for region in listed}
    assert all(len(region.zones) >= 2 and region.source for region in listed)
    assert all(set(row) == set(table("regions")["regions"][0]) for row in table("regions")["regions"])


@pytest.mark.parametrize(
    ("region", "names", "ids"),
    [
        ("us-west-2", "abcd", "1234"),
        ("us-east-1", "abcdef", "123456"),
        ("us-west-1", "ab", "13"),
        ("ap-northeast-1", "acd", "124"),
    ],
)
def test_zones_of_known_regions(region: str, names: str, ids: str) -> None:
    """CT-4: real zones, also where letters or numbers have gaps."""
    zones = catalog.zones(region)
    assert [zone.name for zone in zones] == [region + letter for letter in names]
    assert [zone.id[-1] for zone in zones] == list(ids)


@pytest.mark.parametrize(
    ("region", "first"),
    [
        ("xx-southeast-9", "xxse9-az1"),
        ("mx-central-1", "mxc1-az1"),
        ("us-gov-west-1", "usw1-az1"),
        ("local", "lox1-az1"),
    ],
)
def test_an_unknown_region_gets_three_zones_by_rule(region: str, first: str) -> None:
    """CT-4: a region newer than the catalogue works, and is marked as made up."""
    zones = catalog.zones(region)
    assert [zone.name for zone in zones] == [f"{region}{letter}" for letter in "abc"]
    assert zones[0].id == first
    assert all(ZONE_ID.fullmatch(zone.id) for zone in zones)
    assert catalog.region(region).evidence == "placeholder"


def test_usage_types_are_those_of_the_bill() -> None:
    """CT-6: the component Cluster of AmazonSageMaker."""
    assert catalog.usage_type("ml.p5.48xlarge", "us-east-1") == "USE1-Cluster:ml.p5.48xlarge"
    assert catalog.usage_type("ml.p4d.24xlarge", "us-west-2") == "USW2-Cluster:ml.p4d.24xlarge"
