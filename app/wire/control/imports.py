"""A world made of an export, whose file is kept on disk while it arrives and read from there (CT-2, CT-14)."""

import asyncio
from io import TextIOWrapper
from tempfile import TemporaryFile
from typing import IO, Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.requests import ClientDisconnect

from app.core.world import World
from app.store.db import Tx
from app.usecases import imports
from app.wire.control.vocabulary import TEXT, ServiceOf
from app.wire.control.worlds import WorldFacts, shown
from app.wire.safety import MAX_UPLOAD, too_large

router = APIRouter(tags=["worlds"])
UPLOAD_DEADLINE_S = 300.0
_one_at_a_time = asyncio.Semaphore(1)
_BODY = {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}


@router.post(
    "/worlds/import",
    status_code=201,
    summary="Make a world of an export",
    openapi_extra={"requestBody": _BODY},
)
async def import_world(
    request: Request, service: ServiceOf, name: Annotated[str, Query(max_length=200, pattern=TEXT)]
) -> WorldFacts:
    """The body is what `/worlds/{name}/export` gives, up to 256 MiB. All of it is taken over, or nothing."""
    with TemporaryFile() as spooled:
        await _receive(request, spooled)
        async with _one_at_a_time:
            return shown(await service.db.run(_load, name, spooled))


async def _receive(request: Request, file: IO[bytes]) -> None:
    size = 0
    try:
        async with asyncio.timeout(UPLOAD_DEADLINE_S):
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_UPLOAD:
                    raise HTTPException(413, too_large(MAX_UPLOAD).message)
                file.write(chunk)
    except TimeoutError:
        told = f"The body did not arrive within {UPLOAD_DEADLINE_S:.0f} s. Send it again."
        raise HTTPException(408, told) from None
    except ClientDisconnect:
        raise HTTPException(400, "The body was cut off. Send it again.") from None


async def _load(tx: Tx, name: str, file: IO[bytes]) -> World:
    file.seek(0)
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return await imports.load(tx, name, text.read)
    finally:
        text.detach()
