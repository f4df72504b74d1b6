"""The words that several nouns of the control API share: instants, the world of a request, the shape of a refusal."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from app import clock
from app.core.scope import DEFAULT_WORLD, Scope
from app.core.times import WorldTime, floor_ms
from app.service import Service

STRICT = ConfigDict(extra="forbid", strict=True)
"""What a body may be: the members that are named, in their own types."""
REGION = r"^[a-z]{2,13}(-[a-z]+)+-?[0-9]{1,2}$"
"""A region of AWS, us-west-2, or of Google, us-central1."""
ACCOUNT = "^[0-9]{12}$"
MOST_NODES = 2**31 - 1


def _instant(value: Any) -> datetime:
    """ISO 8601 with an offset; TOML brings datetimes of its own."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(_text(value))
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        raise ValueError("must be an instant such as 2026-01-31T12:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("needs an offset from UTC, as in 2026-01-31T12:00:00Z")
    if not EARLIEST <= moment <= clock.LATEST:
        raise ValueError(f"must be between {EARLIEST:%Y} and {clock.LATEST:%Y}")
    return floor_ms(WorldTime(moment))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
Instant = Annotated[
    WorldTime,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-01-31T12:00:00Z"]}),
]
TEXT = r"^[^\x00]*$"
"""What Postgres can hold: anything but NUL."""
VISIBLE = r"^[!-~]*$"
Region = Annotated[str, Field(pattern=REGION, max_length=40, examples=["us-west-2", "us-central1"])]
Account = Annotated[str, Field(pattern=ACCOUNT, examples=["111122223333"])]
InstanceType = Annotated[str, Field(min_length=1, max_length=64, pattern=TEXT, examples=["ml.p5.48xlarge"])]


class Problem(BaseModel):
    """Why not, and what to do."""

    code: str = Field(examples=["Invalid"])
    message: str = Field(examples=["No instance type 'ml.p9.huge'. Use a name such as ml.p5.48xlarge."])


class Refused(BaseModel):
    """The body of every refusal."""

    error: Problem


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _world(request: Request) -> str:
    name: str = request.scope.get("windtunnel.world", DEFAULT_WORLD)
    return name


ServiceOf = Annotated[Service, Depends(_service)]
WorldOf = Annotated[str, Depends(_world)]
"""The world that the path's prefix names: `/w/NAME/_windtunnel/…`, else `main`."""


def tenant(service: Service, world: str, account: str | None, region: str | None) -> Scope:
    """The account's view of the region; what is not given is the service's default."""
    settings = service.settings
    return Scope(world, account or settings.default_account, region or settings.default_region)
