"""Cloud Logging over REST: the entries of jobs' logs (VX-17)."""

import orjson
from fastapi import APIRouter, Request, Response

from app.wire.exchange import suffer
from app.wire.google.errors import GoogleError, envelope
from app.wire.google.log_entries import LogCall, numbered
from app.wire.google.parameters import STANDARD, unbound, wants_numbers
from app.wire.google.reading import parsed, refusal
from app.wire.google.storage_requests import ServiceOf, WorldOf

MEDIA_TYPE = "application/json; charset=UTF-8"
DROPPED = 499
"""What the log of requests shows of one whose connection has been closed."""
router = APIRouter()


@router.post("/v2/entries:list")
async def list_log_entries(request: Request, service: ServiceOf, world: WorldOf) -> Response:
    call = LogCall(service, world)
    try:
        body, status = await _answer(request, call), 200
    except GoogleError as error:
        body, status = envelope(error), error.http
    if call.mishap is not None and await suffer(call.mishap, request.scope, request.receive):
        return Response(status_code=DROPPED)
    return Response(body, status, media_type=MEDIA_TYPE)


async def _answer(request: Request, call: LogCall) -> bytes:
    query = request.query_params
    if unknown := [name for name in query if name not in STANDARD]:
        raise refusal([unbound(name) for name in unknown])
    by_number = wants_numbers(query)
    answer = await call.answer(parsed(await request.body()))
    return orjson.dumps(numbered(answer) if by_number else answer, option=orjson.OPT_INDENT_2)
