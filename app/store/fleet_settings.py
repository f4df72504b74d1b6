"""How the scheduler treats a fleet: the settings of its policy, and which process leads it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from app import clock
from app.core.scope import Scope
from app.core.times import WorldTime
from app.store.db import Tx

_KEY = "world = $1 AND account = $2 AND region = $3 AND fleet = $4"


class Lead(NamedTuple):
    """The scheduler that leads the fleet, until when by the wall, and what its last pass met."""

    leader: str | None
    until: clock.WallTime | None
    epoch: int
    failures: int
    error: str | None


async def lead(tx: Tx, scope: Scope, fleet: str) -> Lead:
    row = await tx.fetchrow(
        f"SELECT leader_wall, leader_until_wall, epoch_wall, failures, error FROM fleet WHERE {_KEY}",
        scope.world,
        scope.account,
        scope.region,
        fleet,
    )
    return Lead(None, None, 0, 0, None) if row is None else Lead(*row)


async def set_policy(
    tx: Tx, scope: Scope, fleet: str, policy: Mapping[str, Any], state: Mapping[str, Any], due_at: WorldTime
) -> None:
    """Have these settings and be due by then; what schedulers remember of the fleet is void."""
    await tx.execute(
        f"""UPDATE fleet SET policy = $5, state = $6, due_at = least(due_at, $7), version_wall = NULL WHERE {_KEY}""",
        scope.world,
        scope.account,
        scope.region,
        fleet,
        policy,
        state,
        due_at,
    )
