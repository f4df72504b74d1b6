"""What was announced to the outside: EventBridge envelopes, to be polled."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.core.chance import digest
from app.core.ids import cluster_arn
from app.core.times import to_iso
from app.usecases import announcements
from app.wire.control.vocabulary import ServiceOf, WorldOf

router = APIRouter(tags=["events"])
SOURCE = "aws.sagemaker"


class Announcements(BaseModel):
    events: list[dict[str, Any]]


@router.get("/events", summary="The newest EventBridge envelopes, the oldest of them first")
async def list_announcements(
    service: ServiceOf, world: WorldOf, limit: Annotated[int, Query(ge=1, le=10_000)] = 100
) -> Announcements:
    seed, rows = await service.db.run(announcements.newest, world, limit)
    return Announcements(events=[_envelope(seed, row) for row in rows])


def _envelope(seed: int, row: Any) -> dict[str, Any]:
    subject = f"{row['account']}/{row['region']}/{row['cluster_id']}/{row['seq']}"
    return {
        "version": "0",
        "id": str(uuid.UUID(bytes=digest(seed, subject, "envelope-id", 16), version=4)),
        "detail-type": row["detail_type"],
        "source": SOURCE,
        "account": row["account"],
        "time": to_iso(row["at"])[:-5] + "Z",
        "region": row["region"],
        "resources": [cluster_arn(row["region"], row["account"], row["cluster_id"])],
        "detail": row["detail"],
    }
