"""Tags on clusters and what stands on them; a tag limit holds as AWS states it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from app.core.errors import Invalid, NotFound
from app.core.governance import Kind
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store import clusters, governance, plans, tags
from app.store.db import Tx
from app.usecases import extensions
from app.usecases.clusters import hold_world, world_of

MOST_TAGS = 50
RESERVED = "aws:"

Finder = Callable[[Tx, Scope, str, WorldTime], Awaitable[object | None]]


class Taggable(NamedTuple):
    """How the resource of an ARN is found, and how it is locked; either gives None when it is not there."""

    find: Finder
    lock: Finder


async def _find_cluster(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await clusters.get(tx, scope, arn)


async def _lock_cluster(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await clusters.lock(tx, scope, arn)


def _of(kind: Kind) -> Taggable:
    async def find(tx: Tx, scope: Scope, arn: str, now: WorldTime) -> object | None:
        return await governance.find(tx, scope, kind, _id(arn), now)

    async def lock(tx: Tx, scope: Scope, arn: str, now: WorldTime) -> object | None:
        return await governance.lock(tx, scope, kind, _id(arn), now)

    return Taggable(find, lock)


async def _find_plan(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await plans.get(tx, scope, _id(arn))


async def _lock_plan(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return (await plans.lock(tx, scope, [_id(arn)])).get(_id(arn))


async def _find_reserved(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await plans.owner(tx, scope, _id(arn))


async def _lock_reserved(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    name = await plans.owner(tx, scope, _id(arn))
    return name and (await plans.lock(tx, scope, [name])).get(name)


async def _find_extension(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await extensions.by_arn(tx, scope, arn, lock=False)


async def _lock_extension(tx: Tx, scope: Scope, arn: str, _: WorldTime) -> object | None:
    return await extensions.by_arn(tx, scope, arn, lock=True)


TAGGABLE: Mapping[str, Taggable] = {
    "cluster": Taggable(_find_cluster, _lock_cluster),
    "extension": Taggable(_find_extension, _lock_extension),
    **{str(kind): _of(kind) for kind in Kind},
    "training-plan": Taggable(_find_plan, _lock_plan),
    "reserved-capacity": Taggable(_find_reserved, _lock_reserved),
}
"""What can have tags, by the resource type in its ARN. A new kind is a row here."""


def check_keys(keys: Iterable[str]) -> None:
    """Keys that begin with `aws:`, in any case, are AWS's own: nobody may write them."""
    reserved = [key for key in keys if key.lower().startswith(RESERVED)]
    if reserved:
        raise Invalid(
            f"Tag keys beginning with '{RESERVED}' are reserved for AWS: {', '.join(reserved)}. Choose other keys."
        )


def _id(arn: str) -> str:
    return arn.split(":", 5)[5].partition("/")[2]


def _taggable(arn: str) -> Taggable:
    kind = arn.split(":", 5)[5].partition("/")[0]
    if kind not in TAGGABLE:
        raise Invalid(f"Tags of '{arn}' are not emulated: this version knows the ARNs of {', '.join(TAGGABLE)}.")
    return TAGGABLE[kind]


def _there(found: object | None, scope: Scope, arn: str) -> None:
    """An ARN of another account or region is not there, even where the id is."""
    if found is None or arn.split(":", 5)[3:5] != [scope.region, scope.account]:
        raise NotFound(
            f"Resource '{arn}' not found in this account and region. Use the ARN that its description shows."
        )


async def read(tx: Tx, scope: Scope, arn: str) -> dict[str, str]:
    now = (await world_of(tx, scope)).now
    _there(await _taggable(arn).find(tx, scope, arn, now), scope, arn)
    return await tags.read(tx, scope, arn)


async def add(tx: Tx, scope: Scope, arn: str, new: Mapping[str, str]) -> dict[str, str]:
    """The resource's tags afterwards."""
    await _hold(tx, scope, arn)
    after = await tags.read(tx, scope, arn) | dict(new)
    if len(after) > MOST_TAGS:
        raise Invalid(f"A resource takes at most {MOST_TAGS} tags; with these it would have {len(after)}. Delete some.")
    await tags.put(tx, scope, arn, new)
    return after


async def remove(tx: Tx, scope: Scope, arn: str, keys: Sequence[str]) -> None:
    await _hold(tx, scope, arn)
    await tags.remove(tx, scope, arn, keys)


async def _hold(tx: Tx, scope: Scope, arn: str) -> None:
    """The resource is there, and who counts its tags counts alone."""
    world = await hold_world(tx, scope)
    _there(await _taggable(arn).lock(tx, scope, arn, world.now), scope, arn)
