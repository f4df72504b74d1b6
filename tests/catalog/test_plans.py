"""CT-5: what training plans offer, and what is known of their fees."""

from datetime import date

import pytest

from app import catalog


def test_the_types_are_the_model_s() -> None:
    """In the model's order; each is an instance type of the catalogue."""
    import botocore.loaders

    model = botocore.loaders.Loader().load_service_model("sagemaker", "service-2")
    assert list(catalog.reservable()) == model["shapes"]["ReservedCapacityInstanceType"]["enum"]
    assert set(catalog.reservable()) <= set(catalog.instance_types())


def test_recorded_fees_and_placeholders() -> None:
    """A fee that nobody has seen is the on-demand price for the time, and says so."""
    seen = catalog.upfront_fee("ml.p5.48xlarge", "us-west-2")
    assert (seen.micro_usd_per_day, seen.evidence, seen.date) == (1_098_420_000, "recorded", date(2026, 10, 4))
    for name in catalog.reservable():
        fee = catalog.upfront_fee(name, "us-east-1")
        assert fee.micro_usd_per_day > 0 and fee.source
        if fee.evidence == "placeholder":
            assert fee.micro_usd_per_day == 24 * catalog.price(name, "us-east-1").micro_usd_per_hour
    with pytest.raises(LookupError):
        catalog.upfront_fee("ml.c5.xlarge", "us-east-1")


def test_ultra_servers_are_of_reservable_types() -> None:
    for name, server in catalog.ultra_servers().items():
        gpus = catalog.instance_type(server.instance_type).accelerators
        assert server.instance_type in catalog.reservable() and name.endswith(f"x{gpus * server.instances}")
