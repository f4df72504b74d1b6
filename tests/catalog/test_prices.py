"""CT-5: published prices carry their source, everything else is marked, the user's file wins."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

import pytest

from app import catalog
from app.catalog.tables import table

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("name", "region", "micro_usd"),
    [
        ("ml.p5.48xlarge", "us-east-1", 66_048_000),
        ("ml.p5en.48xlarge", "us-east-1", 75_955_200),
        ("ml.p4d.24xlarge", "us-east-1", 25_910_018),
        ("ml.p4d.24xlarge", "us-west-2", 25_910_018),
        ("ml.g6e.48xlarge", "us-east-1", 37_660_000),
        ("ml.g5.8xlarge", "us-east-1", 3_060_000),
        ("ml.c5.4xlarge", "us-east-1", 816_000),
    ],
)
def test_published_prices(name: str, region: str, micro_usd: int) -> None:
    """CT-5: figures that two public records agree on, in integer micro-dollars an hour."""
    found = catalog.price(name, region)
    assert (found.micro_usd_per_hour, found.evidence) == (micro_usd, "published")
    assert found.source
    assert found.date.year == 2026


def test_each_published_row_is_whole_and_of_a_real_type() -> None:
    """CT-5: no row without source and date, no duplicate, no type or region of our own invention."""
    rows = table("prices")["prices"]
    assert len({(row["type"], row["region"]) for row in rows}) == len(rows) == len(catalog.published())
    for row in rows:
        exact = (Decimal(row["usd"]) * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP)
        assert row["micro_usd_per_hour"] == exact, row
        assert row["type"] in catalog.instance_types()
        assert row["region"] in catalog.regions()
        assert row["evidence"] == "published"
        assert table("prices")["sources"][row["source"]]["url"].startswith("https://")


def test_sizes_of_a_family_cost_in_proportion() -> None:
    """CT-5: a slip of the pen in a row of a family that AWS prices per vCPU would stand out here."""
    for family in ("c5", "c6i", "m5", "m6i", "m7i", "r6i", "r7i"):
        rates = {
            round(price.micro_usd_per_hour / catalog.instance_type(name).vcpu)
            for (name, region), price in catalog.published().items()
            if name.startswith(f"ml.{family}.") and region == "us-east-1"
        }
        assert max(rates) - min(rates) <= 150, (family, rates)


def test_a_price_of_another_region_says_so() -> None:
    """CT-5: the figure of us-east-1 stands in, and does not pass for the region's own."""
    here, there = (catalog.price("ml.p5.48xlarge", region) for region in ("us-east-1", "eu-north-1"))
    assert there.micro_usd_per_hour == here.micro_usd_per_hour
    assert there.evidence == "published-other-region"
    assert there.source.startswith("Price of us-east-1")


def test_a_type_without_a_price_gets_the_stated_rule() -> None:
    """CT-5: 192 vCPU * 40,000 + 2,048 GiB * 4,500 + 8 * 141 GiB * 60,000, and marked as a placeholder."""
    found = catalog.price("ml.p5e.48xlarge", "us-east-1")
    assert found.micro_usd_per_hour == 7_680_000 + 9_216_000 + 67_680_000
    assert found.evidence == "placeholder"
    assert "not a published price" in found.source


def test_no_invented_figure_passes_for_a_published_one() -> None:
    """CT-5: evidence is "published" only where the table has a row for that very type and region."""
    for name in catalog.instance_types():
        for region in (*catalog.regions(), "xx-nowhere-1"):
            found = catalog.price(name, region)
            assert found.micro_usd_per_hour > 0
            assert (found.evidence == "published") == ((name, region) in catalog.published())


def test_the_users_file_wins_for_a_region_or_for_all() -> None:
    """CT-5: any price can be overridden by a file, zero too; what it leaves out stays."""
    own = catalog.read_price_file(
        """
        [[prices]]
        type = "ml.p5.48xlarge"
        region = "us-east-1"
        micro_usd_per_hour = 40_000_000
        source = "Our deal"
        date = 2026-01-02

        [[prices]]
        type = "ml.p5.48xlarge"
        micro_usd_per_hour = 0
        """,
        TODAY,
    )
    deal = catalog.price("ml.p5.48xlarge", "us-east-1", own)
    assert (deal.micro_usd_per_hour, deal.evidence, deal.source) == (40_000_000, "user", "Our deal")
    assert deal.date == date(2026, 1, 2)
    free = catalog.price("ml.p5.48xlarge", "us-west-2", own)
    assert (free.micro_usd_per_hour, free.evidence, free.date) == (0, "user", TODAY)
    assert catalog.price("ml.g5.8xlarge", "us-east-1", own).evidence == "published"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("prices = [", "not TOML"),
        ("", "must hold one list"),
        ("prices = []\nprice = 1", "must hold one list"),
        ("prices = [3]", "Price 1 must be a table"),
        ('prices = [{ type = "ml.p5.48xlarge", micro_usd_per_hour = 66.048 }]', "whole number"),
        ('prices = [{ type = "ml.p5.48xlarge", micro_usd_per_hour = true }]', "whole number"),
        ('prices = [{ type = "ml.p5.48xlarge", micro_usd_per_hour = -1 }]', "whole number"),
        ('prices = [{ type = "ml.p5.48xlarge", usd = 1 }]', "unknown field 'usd'"),
        ('prices = [{ type = "ml.p5.48xlarge", micro_usd_per_hour = 1_000_000_000_001 }]', "whole number"),
        ('prices = [{ type = "ml.t3.large", region = "us-east1", micro_usd_per_hour = 1 }]', "is no region"),
        ("prices = [{ micro_usd_per_hour = 1 }]", "needs type"),
        ('prices = [{ type = "p5", micro_usd_per_hour = 1 }]', "Price 1: 'p5' is not the name"),
        ('prices = [{ type = "ml.p5.48xlarge", region = 7, micro_usd_per_hour = 1 }]', "needs region"),
        ('prices = [{ type = "ml.t3.large", micro_usd_per_hour = 1, date = "today" }]', "date must be a day"),
        ('prices = [{ type = "ml.t3.large", micro_usd_per_hour = 1 }, '
         '{ type = "ml.t3.large", micro_usd_per_hour = 2 }]', "Price 2 repeats"),
    ],
)  # fmt: skip
def test_a_bad_price_file_is_refused_by_row(text: str, why: str) -> None:
    """CT-5, CT-13: the error names the row and says what it should be."""
    with pytest.raises(ValueError, match=why):
        catalog.read_price_file(text, TODAY)
