"""CT-5, VX-22: what machines of Vertex AI cost, how well that is known, and what the rule makes of the rest."""

from decimal import ROUND_HALF_UP, Decimal

import pytest

from app import catalog
from app.catalog.tables import table


def test_published_prices_are_as_printed() -> None:
    """CT-5: figures of custom training, in integer micro-dollars an hour, each of a good that exists."""
    for row in table("vertex_prices")["prices"]:
        exact = (Decimal(row["usd"]) * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP)
        assert row["micro_usd_per_hour"] == exact, row
        name = catalog.Good(row["of"], row["strategy"]).name
        found = catalog.vertex_price(name, row["region"])
        assert (found.micro_usd_per_hour, found.evidence) == (exact, "published")
        assert name in catalog.goods()


def test_a_price_of_another_region_says_so() -> None:
    """CT-5: the figure of us-central1 stands in, and does not pass for the region's own."""
    there = catalog.vertex_price("a3-highgpu-8g", "europe-west4")
    assert (there.micro_usd_per_hour, there.evidence) == (101_007_352, "published-other-region")
    assert there.source.startswith("Price of us-central1")


@pytest.mark.parametrize(
    ("name", "micro_usd"),
    [
        ("n1-standard-8", 436_998),  # 15 % above 8 * 0.031611 + 30 * 0.004237
        ("NVIDIA_TESLA_T4", 402_500),
        ("a2-highgpu-1g", 4_224_393),
        ("a3-highgpu-1g/flex-start", 6_354_672),  # 26 vCPUs, 234 GB and an H100 of DWS, and 15 % of the list price
        ("a3-ultragpu-8g", 97_527_945),
        ("n1-standard-8/spot", 208_999),  # 40 % and 15 % of the list price
        ("a4x-highgpu-4g", 62_074_700),  # no rate is known: 140 vCPUs, 884 GB, 4 * 186 GiB by the rule, and the fee
    ],
)
def test_the_rest_gets_the_stated_rule(name: str, micro_usd: int) -> None:
    """CT-5: Compute Engine's list price and the fee, marked as a placeholder, with source and date."""
    found = catalog.vertex_price(name, "us-central1")
    assert (found.micro_usd_per_hour, found.evidence) == (micro_usd, "placeholder")
    assert "not a published price" in found.source and found.date.year == 2026


def test_the_rule_meets_what_is_published() -> None:
    """CT-5: so the fee of 15 % is the service's; FLEX_START's printed price has local SSD besides."""
    from app.catalog.vertex_prices import _placeholder

    for row in table("vertex_prices")["prices"]:
        ruled = _placeholder(catalog.Good(row["of"], row["strategy"])).micro_usd_per_hour
        slack = 0.02 if row["strategy"] == "FLEX_START" else 0.000_001
        assert ruled == pytest.approx(row["micro_usd_per_hour"], rel=slack)


def test_every_good_costs_something_and_spot_less() -> None:
    """CT-5: no invented figure passes for a published one. A Cloud TPU's host costs nothing: its chips do."""
    printed = {catalog.Good(row["of"], row["strategy"]) for row in table("vertex_prices")["prices"]}
    for name, good in catalog.goods().items():
        found = catalog.vertex_price(name, "us-central1")
        assert (found.evidence == "published") == (good in printed)
        assert (found.micro_usd_per_hour > 0) == (good.of != "cloud-tpu")
        if good.strategy != "STANDARD" and good.of != "cloud-tpu":
            assert found.micro_usd_per_hour < catalog.vertex_price(good.of, "us-central1").micro_usd_per_hour


def test_each_rate_is_of_something() -> None:
    """CT-5: a slip of the pen in a row would never be used."""
    families = {f"{one.family} {part}" for one in catalog.machine_types().values() for part in ("vcpu", "memory")}
    rows = [row["of"] for row in table("vertex_prices")["rates"]]
    assert len(set(rows)) == len(rows)
    assert set(rows) <= families | set(catalog.machine_types()) | set(catalog.accelerators())


def test_what_is_no_good_has_no_price() -> None:
    for name in ("n1-standard-4/flex-start", "NVIDIA_H100_80GB", "a3-highgpu-8g/", "ml.p5.48xlarge", ""):
        with pytest.raises(LookupError):
            catalog.vertex_price(name, "us-central1")


def test_boot_disks() -> None:
    """CT-5: 100 GB of pd-ssd are the 0.0002678 an hour and GB that the service's SKU says."""
    assert catalog.disk_price("pd-ssd", 100, "us-central1").micro_usd_per_hour == 26_781
    assert catalog.disk_price("pd-ssd", 100, "us-central1").evidence == "published"
    assert catalog.disk_price("pd-ssd", 100, "asia-east1").evidence == "published-other-region"
    assert catalog.disk_price("pd-standard", 100, "us-central1").evidence == "placeholder"
    with pytest.raises(LookupError, match="Known: pd-ssd"):
        catalog.disk_price("floppy", 1, "us-central1")
