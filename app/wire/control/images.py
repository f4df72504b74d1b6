"""Releases of the AMI that HyperPod manages (HP-30)."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.core.releases import Release, ami
from app.usecases import releases
from app.wire.control.vocabulary import STRICT, TEXT, ServiceOf, WorldOf

router = APIRouter(tags=["images"])
Version = Annotated[str, Field(min_length=5, max_length=64, pattern=TEXT, examples=["1.2.0"])]


class NewRelease(BaseModel):
    """A release that the world gets now. `security`: older ones then need a security update."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"version": "1.2.0"}]}}
    version: Version
    security: bool = False


class Retirement(BaseModel):
    """A release that reaches its end of life now."""

    model_config = STRICT | {"json_schema_extra": {"examples": [{"version": "1.0.0"}]}}
    version: Version


class Image(BaseModel):
    """A release and its AMI id. `newest` is what new clusters start on."""

    version: str
    ami: str
    security: bool
    retired: bool
    newest: bool


class Images(BaseModel):
    images: list[Image]


def _image(release: Release, newest: str) -> Image:
    return Image(
        version=release.version,
        ami=ami(release.version),
        security=release.security,
        retired=release.retired,
        newest=release.version == newest,
    )


@router.get("/images", summary="The releases of a world, oldest first")
async def read_images(service: ServiceOf, world: WorldOf) -> Images:
    found = await service.db.run(releases.listed, world)
    return Images(images=[_image(one, found.newest) for one in found])


@router.post("/images", summary="Publish a release")
async def publish_image(release: NewRelease, service: ServiceOf, world: WorldOf) -> Image:
    made = await service.db.run(releases.publish, world, release.version, release.security, service.policy)
    return _image(made, (await service.db.run(releases.listed, world)).newest)


@router.post("/images/retire", summary="Let a release reach its end of life")
async def retire_image(release: Retirement, service: ServiceOf, world: WorldOf) -> Image:
    """What runs it goes on; nothing can be updated to it."""
    retired = await service.db.run(releases.retire, world, release.version, service.policy)
    return _image(retired, (await service.db.run(releases.listed, world)).newest)
