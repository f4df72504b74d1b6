"""What hangs on the nodes of a world: volumes and network interfaces, which no operation of AWS's lists."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from app.usecases import attachments
from app.wire.control.vocabulary import ServiceOf, WorldOf

router = APIRouter(tags=["attachments"])


class VolumeAttachment(BaseModel):
    account: str
    region: str
    cluster: str
    node: str
    volume: str
    device: str
    status: Literal["attaching", "attached", "detaching", "detached", "busy"]
    attached_at: str


class InterfaceAttachment(BaseModel):
    account: str
    region: str
    cluster: str
    node: str
    interface: str
    attachment: str
    status: Literal["attached", "detached"]
    attached_at: str


class Attachments(BaseModel):
    volumes: list[VolumeAttachment]
    interfaces: list[InterfaceAttachment]


@router.get("/attachments", summary="Volumes and network interfaces on nodes, with their present statuses")
async def list_attachments(service: ServiceOf, world: WorldOf) -> Attachments:
    volumes, interfaces = await service.db.run(attachments.listed, world)
    return Attachments.model_validate({"volumes": volumes, "interfaces": interfaces})
