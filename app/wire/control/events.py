"""What was announced to the outside: EventBridge envelopes, to be polled or listened to (CT-8)."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from app.usecases import announcements
from app.usecases.announcements import id_of, place_of, wanted
from app.wire.control.refusals import refusal
from app.wire.control.streams import EventStream, Hub
from app.wire.control.vocabulary import TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["events"])
FULL = "full"
Text = Annotated[str | None, Query(max_length=256, pattern=TEXT)]
DetailType = Annotated[str | None, Query(alias="detail-type", max_length=256, pattern=TEXT, description="Of one type.")]
Cluster = Annotated[str | None, Query(max_length=256, pattern=TEXT, description="Of one cluster, by name, id or ARN.")]
After = Annotated[str | None, Query(max_length=40, pattern=TEXT, description="Behind the event of this id; 0 for all.")]
LastEventId = Annotated[
    str | None, Header(max_length=40, pattern=TEXT, description="What a browser sends for `after`.")
]


class Announcements(BaseModel):
    """Envelopes in order, and the id to go on behind."""

    events: list[dict[str, Any]]
    last: str = Field(examples=["1767225600001-12"])


@router.get("/events", summary="EventBridge envelopes, the oldest first: the newest, or those behind an id")
async def list_announcements(
    service: ServiceOf,
    world: WorldOf,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    detail_type: DetailType = None,
    cluster: Cluster = None,
    after: After = None,
) -> Announcements:
    what, full = wanted(detail_type, cluster), service.settings.event_metadata == FULL
    if after is None:
        last = await service.db.run(announcements.end, world)
        found = await service.db.run(announcements.newest, world, what, limit, full)
        return Announcements(events=[one.body for one in found], last=id_of(found[-1].place if found else last))
    found, reached = await service.db.run(announcements.since, world, what, place_of(after), limit, full)
    return Announcements(events=[one.body for one in found], last=id_of(reached))


@router.get(
    "/events/stream",
    summary="The same as server-sent events, as they happen; `id` is what to go on behind",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_announcements(
    request: Request,
    service: ServiceOf,
    world: WorldOf,
    detail_type: DetailType = None,
    cluster: Cluster = None,
    after: After = None,
    last_event_id: LastEventId = None,
) -> Response:
    hub: Hub = request.app.state.hub
    begin = last_event_id or after  # a browser that reconnects sends both, and its header is the newer
    place = None if begin is None else place_of(begin)
    what = wanted(detail_type, cluster)
    if hub.is_full:
        most = service.settings.event_streams
        text = f"{most} streams are open, and no more may be. Close one, or raise WINDTUNNEL_EVENT_STREAMS."
        return refusal(429, "TooManyStreams", text, {"Retry-After": "1"})
    return EventStream(hub, world, what, place)
