"""Account quotas by AWS's names (CT-4)."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.usecases import quotas
from app.wire.control.vocabulary import MOST_NODES, STRICT, TEXT, Account, Region, ServiceOf, WorldOf, tenant

router = APIRouter(tags=["quotas"])
Value = Annotated[int, Field(ge=0, le=MOST_NODES)]


class QuotaChange(BaseModel):
    """The quota's new value; null takes the limit away."""

    model_config = STRICT | {
        "json_schema_extra": {"examples": [{"name": "ml.p5.48xlarge for cluster usage", "value": 16}]}
    }
    name: str = Field(min_length=1, max_length=200, pattern=TEXT)
    value: Value | None
    account: Account | None = None
    region: Region | None = None


class Quota(BaseModel):
    account: str
    region: str
    name: str
    value: int | None = Field(description="Null: nothing is limited.")


class Quotas(BaseModel):
    quotas: list[Quota]


@router.get("/quotas", summary="The account's quotas in a region")
async def read_quotas(
    service: ServiceOf,
    world: WorldOf,
    account: Annotated[Account | None, Query()] = None,
    region: Annotated[Region | None, Query()] = None,
) -> Quotas:
    scope = tenant(service, world, account, region)
    found = await service.db.run(quotas.listed, scope)
    return Quotas(
        quotas=[
            Quota(account=scope.account, region=scope.region, name=name, value=found[name]) for name in sorted(found)
        ]
    )


@router.post("/quotas", summary="Set a quota")
async def set_quota(change: QuotaChange, service: ServiceOf, world: WorldOf) -> Quota:
    scope = tenant(service, world, change.account, change.region)
    await service.db.run(quotas.set_quota, scope, change.name, change.value)
    return Quota(account=scope.account, region=scope.region, name=change.name, value=change.value)
