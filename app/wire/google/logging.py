"""Cloud Logging over REST: the entries of jobs' logs (VX-17)."""

import orjson
from fastapi import APIRouter, Request, Response

from app.wire.exchange import MISHAP
from app.wire.google.log_entries import LogCall, numbered
from app.wire.google.parameters import STANDARD, unbound, wants_numbers
from app.wire.google.reading import parsed, refusal
from app.wire.google.storage_requests import ServiceOf, WorldOf

router = APIRouter()


@router.post("/v2/entries:list")
async def list_log_entries(request: Request, service: ServiceOf, world: WorldOf) -> Response:
    query = request.query_params
    if unknown := [name for name in query if name not in STANDARD]:
        raise refusal([unbound(name) for name in unknown])
    by_number = wants_numbers(query)
    call = LogCall(service, world)
    try:
        answer = await call.answer(parsed(await request.body()))
    finally:
        request.scope[MISHAP] = call.mishap
    body = orjson.dumps(numbered(answer) if by_number else answer, option=orjson.OPT_INDENT_2)
    return Response(body, media_type="application/json; charset=UTF-8")
