"""The emulated slurm.conf of a cluster (CT-9)."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from app.core.times import to_iso
from app.usecases import slurm
from app.wire.control.vocabulary import ACCOUNT, REGION, STRICT, TEXT, ServiceOf, WorldOf, tenant

router = APIRouter(tags=["slurm"])
Cluster = Annotated[str, Path(max_length=256, pattern=TEXT, description="The cluster's name.")]
Account = Annotated[str | None, Query(pattern=ACCOUNT, description="The service's default account if left out.")]
Region = Annotated[str | None, Query(pattern=REGION, max_length=40, description="The default region if left out.")]


class SlurmConf(BaseModel):
    """The file. `version` is another whenever the content is; `edited_at` is null if no user has edited it."""

    cluster: str
    version: str
    edited_at: str | None
    content: str


class SlurmEdit(BaseModel):
    """The whole file, and the version of the one that was edited."""

    model_config = STRICT
    content: str = Field(pattern=r"^[^\x00]*$")
    version: str = Field(max_length=64, pattern=TEXT)


@router.get("/clusters/{name}/slurm.conf", summary="The emulated slurm.conf of a cluster")
async def read_slurm_conf(
    name: Cluster, service: ServiceOf, world: WorldOf, account: Account = None, region: Region = None
) -> SlurmConf:
    """NodeName and PartitionName lines of the instance groups follow the groups; all else is the user's."""
    scope = tenant(service, world, account, region)
    return _shown(await service.db.run(slurm.show, scope, name))


@router.put("/clusters/{name}/slurm.conf", summary="Edit the slurm.conf of a cluster")
async def edit_slurm_conf(
    name: Cluster,
    wanted: SlurmEdit,
    service: ServiceOf,
    world: WorldOf,
    account: Account = None,
    region: Region = None,
) -> SlurmConf:
    """409 if the file is no longer the one of `version`: nobody's edit is lost, and no node's coming or going."""
    scope = tenant(service, world, account, region)
    done = await service.db.run(slurm.edit, scope, name, wanted.content, wanted.version, service.policy)
    return _shown(done)


def _shown(found: slurm.SlurmConf) -> SlurmConf:
    edited_at = to_iso(found.edited_at) if found.edited_at else None
    return SlurmConf(cluster=found.cluster, version=found.version, edited_at=edited_at, content=found.content)
