"""Buckets of Cloud Storage (VX-20).

An upload to a bucket that nobody made makes it, where the real service refuses: a first `from_local_script` has no
other chance. Everything else finds no such bucket.
"""

from collections.abc import Mapping

from app.core.errors import Conflict, InUse, NotFound
from app.core.objects import Bucket, check_bucket
from app.core.world import World
from app.store import objects, worlds
from app.store.db import Tx

LOCATION, STORAGE_CLASS = "US", "STANDARD"
"""What a bucket has unless it is told, as on the real service."""


async def create(
    tx: Tx, world: str, name: str, project: str, *, location: str, storage_class: str, labels: Mapping[str, str]
) -> Bucket:
    """A new bucket. InUse: its name is taken, by whichever project."""
    check_bucket(name)
    made = Bucket(name, project, location, storage_class, labels, (await kept(tx, world)).now)
    if not await objects.add_bucket(tx, world, made):
        raise InUse("Your previous request to create the named bucket succeeded and you already own it.")
    return made


async def get(tx: Tx, world: str, name: str) -> Bucket:
    """NotFound: nobody made it."""
    check_bucket(name)
    return there(await objects.bucket(tx, world, name))


async def listed(tx: Tx, world: str, project: str, prefix: str, after: str, limit: int) -> list[Bucket]:
    """The project's buckets and those of no project, by name, behind the name `after`; without a project all."""
    return await objects.buckets(tx, world, project, prefix, after, limit)


async def delete(tx: Tx, world: str, name: str) -> None:
    """Conflict: there are objects in it."""
    check_bucket(name)
    await kept(tx, world)
    there(await objects.seize_bucket(tx, world, name))
    if await objects.has_objects(tx, world, name):
        raise Conflict("The bucket you tried to delete is not empty.")
    await objects.remove_bucket(tx, world, name)


async def provide(tx: Tx, world: str, name: str) -> None:
    """Make a bucket of no project unless there is one of the name."""
    check_bucket(name)
    held = await kept(tx, world)
    if await objects.bucket(tx, world, name) is None:
        await objects.add_bucket(tx, world, Bucket(name, "", LOCATION, STORAGE_CLASS, {}, held.now))


async def kept(tx: Tx, world: str) -> World:
    """The world, which is neither copied nor dropped until this transaction ends."""
    found = await worlds.keep(tx, world)
    if found is None:
        raise NotFound(f"There is no world '{world}'. Create it with `windtunnel world create {world}`.")
    return found


def there(found: Bucket | None) -> Bucket:
    """The bucket, or NotFound."""
    if found is None:
        raise NotFound("The specified bucket does not exist.")
    return found
