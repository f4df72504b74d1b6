"""CloudWatch alarms, as far as software updates watch them (HP-30)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.usecases import software
from app.wire.control.vocabulary import STRICT, TEXT, Account, Region, ServiceOf, WorldOf, tenant

router = APIRouter(tags=["alarms"])


class AlarmState(BaseModel):
    """The alarm is in this state from now on."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"name": "loss-rising", "state": "ALARM"}]}}
    name: str = Field(min_length=1, max_length=255, pattern=TEXT)
    state: Literal["ALARM", "OK"]
    account: Account | None = None
    region: Region | None = None


class Alarm(BaseModel):
    """An alarm and since when it has been in its state."""

    account: str
    region: str
    name: str
    state: str
    since: str


class Alarms(BaseModel):
    alarms: list[Alarm]


@router.get("/alarms", summary="The alarms that were given a state; any other is OK")
async def read_alarms(
    service: ServiceOf,
    world: WorldOf,
    account: Annotated[Account | None, Query()] = None,
    region: Annotated[Region | None, Query()] = None,
) -> Alarms:
    scope = tenant(service, world, account, region)
    found = await service.db.run(software.alarms, scope)
    return Alarms(
        alarms=[
            Alarm(account=scope.account, region=scope.region, name=name, state=state, since=to_iso(since))
            for name, state, since in found
        ]
    )


@router.post("/alarms", summary="Set the state of an alarm")
async def set_alarm(change: AlarmState, service: ServiceOf, world: WorldOf) -> Alarm:
    """A software update that watches the alarm is rolled back when it enters ALARM."""
    scope = tenant(service, world, change.account, change.region)
    name, state, since = await service.db.run(software.set_alarm, scope, change.name, change.state, service.policy)
    return Alarm(account=scope.account, region=scope.region, name=name, state=state, since=to_iso(since))
