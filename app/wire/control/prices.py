"""What an hour of a type costs (CT-5)."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.usecases import prices, types
from app.wire.control.vocabulary import STRICT, InstanceType, Region, ServiceOf, WorldOf

router = APIRouter(tags=["prices"])
HIGHEST = 10**12


class PriceChange(BaseModel):
    """The user's price; `*` or nothing as region stands for every region."""

    model_config = STRICT | {
        "json_schema_extra": {"examples": [{"instance_type": "ml.p5.48xlarge", "micro_usd_per_hour": 66_048_000}]}
    }
    instance_type: InstanceType
    region: Region | Annotated[str, Field(pattern=r"^\*$")] | None = None
    micro_usd_per_hour: int = Field(ge=0, le=HIGHEST, description="Millionths of a US dollar an hour.")


class Price(BaseModel):
    """A price and how far to trust it: `evidence` is published, published-other-region, placeholder or user."""

    instance_type: str
    region: str
    micro_usd_per_hour: int
    evidence: str
    source: str
    date: str | None


class Prices(BaseModel):
    prices: list[Price]


@router.get("/prices", summary="Prices with their source and date")
async def read_prices(
    service: ServiceOf,
    world: WorldOf,
    instance_type: Annotated[InstanceType | None, Query(description="One type; all if left out.")] = None,
    region: Annotated[
        Region | None, Query(description="Left out: the default region; for machine types us-central1.")
    ] = None,
) -> Prices:
    """What a billable interval that begins now would cost."""
    where = region or types.default_region(instance_type or "", service.settings.default_region)
    quotes = await service.db.run(prices.quotes, world, where, instance_type)
    return Prices(prices=[Price(**quote._asdict()) for quote in quotes])


@router.post("/prices", summary="Override a price from the next billable interval on")
async def set_price(change: PriceChange, service: ServiceOf, world: WorldOf) -> Price:
    where = change.region or prices.EVERY_REGION
    await service.db.run(prices.set_price, world, change.instance_type, where, change.micro_usd_per_hour)
    return Price(
        instance_type=change.instance_type,
        region=where,
        micro_usd_per_hour=change.micro_usd_per_hour,
        evidence="user",
        source=prices.USER_SOURCE,
        date=None,
    )
