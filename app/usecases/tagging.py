"""Tags on clusters; a tag limit holds as AWS states it."""

from collections.abc import Iterable, Mapping, Sequence

from app.core.errors import Invalid, NotFound
from app.core.scope import Scope
from app.store import clusters, tags
from app.store.db import Tx
from app.usecases.clusters import hold_world

MOST_TAGS = 50
RESERVED = "aws:"


def check_keys(keys: Iterable[str]) -> None:
    """Keys that begin with `aws:`, in any case, are AWS's own: nobody may write them."""
    reserved = [key for key in keys if key.lower().startswith(RESERVED)]
    if reserved:
        raise Invalid(
            f"Tag keys beginning with '{RESERVED}' are reserved for AWS: {', '.join(reserved)}. Choose other keys."
        )


async def _check(tx: Tx, scope: Scope, arn: str) -> None:
    kind = arn.split(":", 5)[5].partition("/")[0]
    if kind != "cluster":
        raise Invalid(f"Tags of '{arn}' are not emulated: this version knows clusters' ARNs alone.")
    if await clusters.get(tx, scope, arn) is None:
        raise NotFound(f"Resource '{arn}' not found in this account and region.")


async def read(tx: Tx, scope: Scope, arn: str) -> dict[str, str]:
    await _check(tx, scope, arn)
    return await tags.read(tx, scope, arn)


async def add(tx: Tx, scope: Scope, arn: str, new: Mapping[str, str]) -> dict[str, str]:
    """The resource's tags afterwards."""
    await hold_world(tx, scope)
    await _check(tx, scope, arn)
    await clusters.lock(tx, scope, arn)  # so that who counts its tags counts alone
    after = await tags.read(tx, scope, arn) | dict(new)
    if len(after) > MOST_TAGS:
        raise Invalid(f"A resource takes at most {MOST_TAGS} tags; with these it would have {len(after)}. Delete some.")
    await tags.put(tx, scope, arn, new)
    return after


async def remove(tx: Tx, scope: Scope, arn: str, keys: Sequence[str]) -> None:
    await hold_world(tx, scope)
    await _check(tx, scope, arn)
    await tags.remove(tx, scope, arn, keys)
