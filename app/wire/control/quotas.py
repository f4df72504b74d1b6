"""Account quotas by AWS's and Google's names (CT-4)."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.core.errors import Invalid
from app.core.projects import number_of
from app.core.scope import Scope
from app.service import Service
from app.usecases import quotas, types
from app.wire.control.vocabulary import MOST_NODES, STRICT, TEXT, Account, Region, ServiceOf, WorldOf, tenant

router = APIRouter(tags=["quotas"])
Value = Annotated[int, Field(ge=0, le=MOST_NODES)]
Project = Annotated[
    str,
    Field(
        pattern=r"^([a-z0-9.-]{1,63}:)?[a-z0-9][a-z0-9-]{0,62}$",
        max_length=127,
        description="Vertex AI's word for the account: a project by its id or number.",
    ),
]


class QuotaChange(BaseModel):
    """The quota's new value; null takes the limit away."""

    model_config = STRICT | {
        "json_schema_extra": {"examples": [{"name": "ml.p5.48xlarge for cluster usage", "value": 16}]}
    }
    name: str = Field(min_length=1, max_length=200, pattern=TEXT)
    value: Value | None
    account: Account | None = None
    project: Project | None = None
    region: Region | None = Field(default=None, description="Left out: the default region; for metrics us-central1.")


class Quota(BaseModel):
    account: str
    region: str
    name: str
    value: int | None = Field(description="Null: nothing is limited.")
    recorded: int | None = Field(
        description="What a real account has: documented, or seen in one, as `evidence` says. Null: unknown."
    )
    evidence: str
    source: str


class Quotas(BaseModel):
    quotas: list[Quota]


@router.get("/quotas", summary="The account's quotas in a region")
async def read_quotas(
    service: ServiceOf,
    world: WorldOf,
    account: Annotated[Account | None, Query()] = None,
    project: Annotated[Project | None, Query()] = None,
    region: Annotated[Region | None, Query()] = None,
) -> Quotas:
    """Those that are set, and those that are not of one type."""
    place = region or (types.DEFAULT_LOCATION if project is not None else None)
    scope = tenant(service, world, _account(account, project), place)
    found = await service.db.run(quotas.listed, scope)
    return Quotas(quotas=[_written(scope, limit) for limit in found])


@router.post("/quotas", summary="Set a quota")
async def set_quota(change: QuotaChange, service: ServiceOf, world: WorldOf) -> Quota:
    scope = scope_of(change, service, world)
    return _written(scope, await service.db.run(quotas.set_quota, scope, change.name, change.value))


def scope_of(change: QuotaChange, service: Service, world: str) -> Scope:
    """Whose quota is meant, and where."""
    region = change.region or quotas.default_region(change.name, service.settings.default_region)
    return tenant(service, world, _account(change.account, change.project), region)


def _account(account: str | None, project: str | None) -> str | None:
    if account is not None and project is not None:
        raise Invalid("'account' and 'project' are two words for one thing. Give one of them.")
    return account if project is None else number_of(project)


def _written(scope: Scope, limit: quotas.Limit) -> Quota:
    return Quota(account=scope.account, region=scope.region, **limit._asdict())
