"""The one call of moto's own API that its decorator makes against a server: empty the world."""

from fastapi import APIRouter
from pydantic import BaseModel

from app.core.errors import NotFound
from app.core.world import MOTO
from app.usecases import worlds
from app.wire.control.vocabulary import ServiceOf, WorldOf
from app.wire.control.worlds import reset_world
from app.wire.front import MOTO_RESET

router = APIRouter(include_in_schema=False)


class Done(BaseModel):
    """What moto answers."""

    status: str = "ok"


@router.post(MOTO_RESET)
async def reset_as_moto(service: ServiceOf, world: WorldOf) -> Done:
    """Empty a world of the profile moto; NotFound in any other, which no stray test suite shall empty."""
    profile = await service.db.run(worlds.profile_of, world)
    if profile != MOTO:
        raise NotFound(
            f"World '{world}' has not the profile moto but {profile}, so /moto-api is not served in it. Make one that "
            "has it: `windtunnel world create NAME --profile moto`, or `windtunnel up --profile moto`."
        )
    await reset_world(service, world)
    return Done()
