"""Cloud Storage's JSON API: buckets, and what is told about objects (VX-20). Their bytes come and go in
`storage_uploads` and `storage_downloads`."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Query, Request, Response

from app.core.objects import Listing, Sought, Wanted
from app.usecases import buckets, storage
from app.wire.google.storage_downloads import media
from app.wire.google.storage_messages import (
    BucketFacts,
    Composition,
    ObjectFacts,
    bucket_shown,
    layout_shown,
    name_of,
    object_shown,
    project_of,
    token_of,
)
from app.wire.google.storage_requests import (
    Base,
    BucketName,
    Conditions,
    ObjectName,
    ServiceOf,
    SoughtOf,
    Spool,
    Word,
    WorldOf,
    few_at_a_time,
    number_in,
    source_conditions,
    unquoted,
)

MOST_LISTED = 1000
"""Lines of a page, as on the real service."""
router = APIRouter()
_B, _O = "/storage/v1/b", "/storage/v1/b/{bucket}/o"
_OTHERWISE = {"matchGlob", "softDeleted", "includeTrailingDelimiter", "filter"}
"""Parameters of a list without which it would be another one; whatever else is not known changes nothing."""
Limit = Annotated[int, Query(alias="maxResults", ge=1)]


def _copying(
    request: Request,
    bucket: BucketName,
    name: ObjectName,
    to_bucket: str,
    to_object: str,
    conditions: Conditions,
    facts: Annotated[ObjectFacts | None, Body()] = None,
) -> tuple[Sought, Wanted]:
    """What is copied, and where to: the conditions are the target's, those of the source begin with `ifSource`."""
    source = Sought(bucket, name, number_in(request, "sourceGeneration"), source_conditions(request))
    told = facts or ObjectFacts()
    return source, Wanted(unquoted(to_bucket), unquoted(to_object), told.attributes, told.checksums, conditions)


CopyingOf = Annotated[tuple[Sought, Wanted], Depends(_copying)]


@router.get(_B, name="buckets.list")
async def list_buckets(
    service: ServiceOf,
    world: WorldOf,
    base: Base,
    project: Word = "",
    prefix: Word = "",
    page: Annotated[Word, Query(alias="pageToken")] = "",
    limit: Limit = MOST_LISTED,
) -> dict[str, Any]:
    most = min(limit, MOST_LISTED)
    found = await service.db.run(buckets.listed, world, project_of(project), prefix, name_of(page), most + 1)
    shown = [bucket_shown(bucket, base) for bucket in found[:most]]
    more = {"nextPageToken": token_of(found[most - 1].name)} if len(found) > most else {}
    return {"kind": "storage#buckets", "items": shown, **more}


@router.post(_B, name="buckets.insert")
async def insert_bucket(
    facts: BucketFacts, service: ServiceOf, world: WorldOf, base: Base, project: Word = ""
) -> dict[str, Any]:
    made = await service.db.run(buckets.create, world, facts.name, project_of(project), **facts.settings)
    return bucket_shown(made, base)


@router.get(_B + "/{bucket}", name="buckets.get")
async def get_bucket(bucket: BucketName, service: ServiceOf, world: WorldOf, base: Base) -> dict[str, Any]:
    return bucket_shown(await service.db.run(buckets.get, world, bucket), base)


@router.delete(_B + "/{bucket}", status_code=204, name="buckets.delete")
async def delete_bucket(bucket: BucketName, service: ServiceOf, world: WorldOf) -> None:
    await service.db.run(buckets.delete, world, bucket)


@router.get(_B + "/{bucket}/storageLayout", name="buckets.getStorageLayout")
async def get_storage_layout(bucket: BucketName, service: ServiceOf, world: WorldOf) -> dict[str, Any]:
    """What `gcloud storage rm -r` asks before it deletes a bucket."""
    return layout_shown(await service.db.run(buckets.get, world, bucket))


@router.get(_B + "/{bucket}/managedFolders", name="managedFolders.list")
async def list_managed_folders(bucket: BucketName, service: ServiceOf, world: WorldOf) -> dict[str, Any]:
    """None: they are about permissions, of which there are none here. The same command asks for them."""
    await service.db.run(buckets.get, world, bucket)
    return {"kind": "storage#managedFolders"}


@router.get(_O, name="objects.list")
async def list_objects(
    request: Request,
    bucket: BucketName,
    service: ServiceOf,
    world: WorldOf,
    base: Base,
    prefix: Word = "",
    delimiter: Word = "",
    first: Annotated[Word | None, Query(alias="startOffset")] = None,
    end: Annotated[Word | None, Query(alias="endOffset")] = None,
    page: Annotated[Word, Query(alias="pageToken")] = "",
    limit: Limit = MOST_LISTED,
) -> dict[str, Any]:
    for unknown in _OTHERWISE & request.query_params.keys():
        raise HTTPException(501, f"Lists with '{unknown}' are not emulated. Leave it out, and choose what is listed.")
    most = min(limit, MOST_LISTED)
    asked = Listing(prefix, delimiter, first, end, name_of(page) if page else None)
    found = await service.db.run(storage.listed, world, bucket, asked, most + 1)
    shown = [object_shown(entry.found, base) for entry in found[:most] if entry.folder is None]
    folders = [entry.folder for entry in found[:most] if entry.folder is not None]
    told: dict[str, Any] = {"kind": "storage#objects", "items": shown, "prefixes": folders}
    if len(found) > most:
        told["nextPageToken"] = token_of(found[most - 1].name)
    return {name: value for name, value in told.items() if value}


@router.get(_O + "/{object}", response_model=None, name="objects.get")
async def get_object(
    request: Request, sought: SoughtOf, service: ServiceOf, world: WorldOf, base: Base, file: Spool, alt: str = "json"
) -> Response | dict[str, Any]:
    if alt == "media":
        return await media(request, sought, service, world, file)
    return object_shown(await service.db.run(storage.look, world, sought), base)


@router.patch(_O + "/{object}", name="objects.patch")
async def patch_object(
    facts: ObjectFacts, sought: SoughtOf, service: ServiceOf, world: WorldOf, base: Base
) -> dict[str, Any]:
    return object_shown(await service.db.run(storage.change, world, sought, facts.changes), base)


@router.delete(_O + "/{object}", status_code=204, name="objects.delete")
async def delete_object(sought: SoughtOf, service: ServiceOf, world: WorldOf) -> None:
    await service.db.run(storage.delete, world, sought)


@router.post(_O + "/{object}/copyTo/b/{to_bucket}/o/{to_object}", name="objects.copy")
async def copy_object(copying: CopyingOf, service: ServiceOf, world: WorldOf, base: Base) -> dict[str, Any]:
    async with few_at_a_time:
        return object_shown(await service.db.run(storage.copy, world, *copying), base)


@router.post(_O + "/{object}/rewriteTo/b/{to_bucket}/o/{to_object}", name="objects.rewrite")
async def rewrite_object(copying: CopyingOf, service: ServiceOf, world: WorldOf, base: Base) -> dict[str, Any]:
    """All at once: no rewrite here needs a second request."""
    async with few_at_a_time:
        stored = await service.db.run(storage.copy, world, *copying)
    size = str(stored.size)
    told = {"kind": "storage#rewriteResponse", "totalBytesRewritten": size, "objectSize": size, "done": True}
    return told | {"resource": object_shown(stored, base)}


@router.post(_O + "/{object}/compose", name="objects.compose")
async def compose_object(
    asked: Composition,
    bucket: BucketName,
    name: ObjectName,
    conditions: Conditions,
    service: ServiceOf,
    world: WorldOf,
    base: Base,
) -> dict[str, Any]:
    wanted = Wanted(bucket, name, asked.destination.attributes, asked.destination.checksums, conditions)
    parts = [Sought(bucket, part.name, part.generation, part.objectPreconditions or {}) for part in asked.sourceObjects]
    async with few_at_a_time:
        return object_shown(await service.db.run(storage.compose, world, wanted, parts), base)
