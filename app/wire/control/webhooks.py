"""Webhooks: who is told of what happens, by a signed post of each envelope (CT-8)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.times import WorldTime, to_iso
from app.usecases import webhooks
from app.usecases.webhooks import PREFIX
from app.wire.control.vocabulary import STRICT, TEXT, VISIBLE, ServiceOf, WorldOf

router = APIRouter(tags=["events"])
Name = Annotated[str, Field(min_length=1, max_length=256, pattern=TEXT)]
WebhookId = Annotated[str, Path(max_length=64, pattern=TEXT)]


class NewWebhook(BaseModel):
    """Where to, and of what; what is left out matches all."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"url": "http://127.0.0.1:8080/events"}]}}
    url: str = Field(max_length=4096)
    detail_type: Name | None = None
    cluster: Name | None = Field(default=None, description="Name, id or ARN.")
    secret: str | None = Field(
        default=None, min_length=8, max_length=256, pattern=VISIBLE, description="To sign with; else one is drawn."
    )


class Added(BaseModel):
    """The webhook, and the secret that was drawn for it, which is not told again; null when the caller gave one."""

    id: str = Field(examples=["wh-1"])
    url: str
    secret: str | None


class Webhook(BaseModel):
    """Whom to tell, and how it went. `behind` counts clusters whose next post waits for another attempt."""

    id: str
    url: str
    detail_type: str | None
    cluster: str | None
    created: str = Field(description="On the wall's clock.")
    delivered: int
    failed: int
    given_up: int
    behind: int


class Webhooks(BaseModel):
    webhooks: list[Webhook]


class Delivery(BaseModel):
    """An attempt, and why it failed."""

    at: str = Field(description="On the wall's clock.")
    event: str = Field(description="The envelope's id.")
    detail_type: str
    cluster: str
    outcome: str = Field(examples=["delivered", "failed", "given up"])
    status: int | None
    error: str | None


class Deliveries(BaseModel):
    deliveries: list[Delivery]


class Removed(BaseModel):
    removed: int


class Tested(BaseModel):
    status: int


@router.get("/webhooks", summary="Whom the world's events are posted to, and how that goes")
async def list_webhooks(service: ServiceOf, world: WorldOf) -> Webhooks:
    return Webhooks(webhooks=[_shown(row) for row in await service.db.run(webhooks.listed, world)])


@router.post("/webhooks", status_code=201, summary="Post what happens from now on to a URL")
async def add_webhook(new: NewWebhook, service: ServiceOf, world: WorldOf) -> Added:
    filters, hosts = (new.detail_type, new.cluster), service.settings.webhook_hosts
    made, secret = await service.db.run(webhooks.add, world, new.url, new.secret, filters, hosts)
    return Added(id=made, url=new.url, secret=secret if new.secret is None else None)


@router.delete("/webhooks/{webhook_id}", summary="Post nothing more to it")
async def remove_webhook(webhook_id: WebhookId, service: ServiceOf, world: WorldOf) -> Removed:
    await service.db.run(webhooks.remove, world, webhook_id)
    return Removed(removed=1)


@router.post("/webhooks/{webhook_id}/test", summary="Post it one envelope of our own, now")
async def test_webhook(webhook_id: WebhookId, service: ServiceOf, world: WorldOf) -> Tested:
    settings = service.settings
    owner = (settings.default_account, settings.default_region)
    status = await webhooks.test(service.db, world, webhook_id, settings.webhook_hosts, owner)
    return Tested(status=status or 0)


@router.get("/webhooks/{webhook_id}/deliveries", summary="The last attempts, the newest first")
async def list_deliveries(
    webhook_id: WebhookId, service: ServiceOf, world: WorldOf, limit: Annotated[int, Query(ge=1, le=100)] = 100
) -> Deliveries:
    rows = await service.db.run(webhooks.attempts, world, webhook_id, limit)
    return Deliveries(deliveries=[_attempt(row) for row in rows])


def _shown(row: Any) -> Webhook:
    facts = dict(row)
    return Webhook(id=f"{PREFIX}{facts.pop('number')}", created=_wall(facts.pop("created_wall")), **facts)


def _attempt(row: Any) -> Delivery:
    facts = dict(row)
    return Delivery(at=_wall(facts.pop("at_wall")), event=facts.pop("envelope_id"), **facts)


def _wall(moment: Any) -> str:
    return to_iso(WorldTime(moment))
