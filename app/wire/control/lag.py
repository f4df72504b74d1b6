"""How late a world shows its counts."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.usecases import lag
from app.wire.control.vocabulary import STRICT, ServiceOf, WorldOf

router = APIRouter(tags=["worlds"])
MOST_SECONDS = 86_400


class Lag(BaseModel):
    """Seconds of the world's time by which counts are late; with 0 every answer tells the same."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"seconds": 60}]}}
    seconds: int = Field(ge=0, le=MOST_SECONDS)


@router.get("/lag", summary="How late DescribeCluster counts")
async def read_lag(service: ServiceOf, world: WorldOf) -> Lag:
    return Lag(seconds=await service.db.run(lag.read, world))


@router.post("/lag", summary="Let DescribeCluster count late")
async def set_lag(wanted: Lag, service: ServiceOf, world: WorldOf) -> Lag:
    """ListClusterNodes then drops a node as soon as it terminates, and CurrentCount follows so much later."""
    return Lag(seconds=await service.db.run(lag.set_seconds, world, wanted.seconds))
