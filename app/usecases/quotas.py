"""Account quotas by the names that Service Quotas gives them (CT-4). None limits anything until it is set."""

from app import catalog
from app.core.errors import Invalid, NotFound
from app.core.scope import Scope
from app.store import capacity, worlds
from app.store.db import Tx


async def set_quota(tx: Tx, scope: Scope, name: str, value: int | None) -> None:
    """From now on the account may have so many in the region; None takes the limit away."""
    if name not in names():
        raise Invalid(
            f"No quota is called '{name[:120]}'. "
            "Use the name that AWS gives it, such as 'ml.p5.48xlarge for cluster usage'."
        )
    if await worlds.lock(tx, scope.world) is None:
        raise NotFound(f"There is no world '{scope.world}'.")
    await capacity.set_quota(tx, scope, name, value)


async def listed(tx: Tx, scope: Scope) -> dict[str, int | None]:
    """The quotas that are set, and those that are not of one type, by name; None does not limit."""
    general: dict[str, int | None] = {quota.name: quota.limit for quota in catalog.quotas().values()}
    return general | await capacity.quotas(tx, scope)


def names() -> frozenset[str]:
    """Every quota's name."""
    types = catalog.instance_types()
    return frozenset(
        [
            *(quota.name for quota in catalog.quotas().values()),
            *(catalog.on_demand_quota(name).name for name in types),
            *(catalog.spot_quota(name).name for name in types),
            *(catalog.reserved_quota(name).name for name in catalog.reservable()),
        ]
    )
