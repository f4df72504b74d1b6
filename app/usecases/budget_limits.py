"""What limits leave on a fleet, worked out anew in every pass of a world that has some, one pass at a time (FS-3).

A limit is of the whole world, and a state counts one fleet: so what other fleets were charged, and have reserved for
protected time, is taken off what is allowed here. Who is in a pass holds the limits until it has committed, so the
last hour is not spent twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from app import catalog
from app.core.budget_limits import (
    Allowance,
    Span,
    Use,
    allowance,
    begins,
    charged_in,
    dry_at,
    next_month,
    set_allowances,
    spans,
    use_of,
)
from app.core.budget_tree import Change, Limit, Period, Unit, limits_now
from app.core.job import is_managed
from app.core.scheduling import tree
from app.core.scheduling.state import State
from app.core.scope import Scope
from app.core.times import from_millis
from app.store import budget_use, budgets, wakes
from app.store.budget_use import FleetKey
from app.store.db import Tx
from app.usecases import managed_pools, prices


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the world's limits allow on one fleet now, by budget; `changed`, whether that is news to its state."""

    allowed: Mapping[str, Sequence[Allowance]] = field(default_factory=dict)
    turn: int | None = None
    """When a new month begins, if that matters, in milliseconds."""
    changed: bool = False


async def refresh(tx: Tx, scope: Scope, fleet: str, state: State, now: int) -> Outlook:
    """Limit the state's budgets as the world's limits and the other fleets leave it, once its tree is up to date.

    The limits stay ours until the transaction ends. On a fleet with compute quotas none holds: its teams stand in for
    the world's budgets, also where their names are alike (FS-17).
    """
    state.advance(now)
    if state.quotas is not None:
        return Outlook()
    changes = await budgets.changes(tx, scope.world) if await budgets.ever_limited(tx, scope.world) else []
    limits = {name: given for name, given in limits_now(changes).items() if name in state.budgets}
    if not limits:
        stale = list(state.limited)
        for name in stale:
            tree.set_limits(state, name, [], now)
        return Outlook(changed=bool(stale))
    await budget_use.lock_limits(tx, scope.world)
    world = await _World.seen(tx, scope, fleet, changes, state, now)
    allowed = await world.allowed(limits)
    changed = False
    for name in [name for name in state.limited if name not in limits]:
        tree.set_limits(state, name, [], now)
        changed = True
    for name, parts in allowed.items():
        changed = set_allowances(state, name, parts, now) or changed
    monthly = any(one.period is Period.MONTH for given in limits.values() for one in given)
    return Outlook(allowed, next_month(now) if monthly else None, changed)


def due(state: State, outlook: Outlook, now: int) -> int | None:
    """When the fleet is to be looked at again for its limits' sake, after the pass: a new month, or a limit that
    others use up as well. `schedule.next_due` tells when the fleet alone would meet one."""
    times = [dry_at(state, name, parts, now) for name, parts in outlook.allowed.items()]
    return min((at for at in (*times, outlook.turn) if at is not None), default=None)


async def tell_others(tx: Tx, scope: Scope, fleet: str, outlook: Outlook, now: int) -> None:
    """The pass has changed what is charged or reserved here: the other fleets work out anew what that leaves them.
    Called last of all in the transaction, as every wake is left."""
    if outlook.allowed:
        for other, name in await budget_use.fleets(tx, scope.world):
            if (other, name) != (scope, fleet):
                await wakes.leave(tx, other, wakes.FLEET, name, from_millis(now))


@dataclass(slots=True)
class _World:
    """What is known of all fleets while one of them is limited."""

    tx: Tx
    here: FleetKey
    world: str
    changes: Sequence[Change]
    state: State
    now: int
    held: Sequence[budget_use.Held]
    costs: dict[FleetKey, Fraction] = field(default_factory=dict)

    @classmethod
    async def seen(
        cls, tx: Tx, scope: Scope, fleet: str, changes: Sequence[Change], state: State, now: int
    ) -> "_World":
        here = (scope.account, scope.region, fleet)
        return cls(tx, here, scope.world, changes, state, now, await budget_use.held(tx, scope.world))

    async def allowed(self, limits: Mapping[str, Sequence[Limit]]) -> dict[str, list[Allowance]]:
        """What the limits of each budget allow here."""
        counted = {name: spans(self.changes, name) for name in limits}
        asked = [(name, limit, begins(limit.period, self.now)) for name, given in limits.items() for limit in given]
        sums = await budget_use.closed_of_all(self.tx, self.world, [(counted[name], since) for name, _, since in asked])
        found: dict[str, list[Allowance]] = {name: [] for name in limits}
        for (name, limit, since), closed in zip(asked, sums, strict=True):
            one = await self._allowance(limit, counted[name], since, closed)
            if one is not None:
                found[name].append(one)
        return found

    async def _allowance(
        self, limit: Limit, counted: Sequence[Span], since: int, closed: Mapping[FleetKey, int]
    ) -> Allowance | None:
        charged = closed.get(self.here, 0) + charged_in(self.state, counted, since)
        others = await self._others(limit, closed, counted, since)
        price = await self._price(self.here) if limit.unit is Unit.MICRO_USD else Fraction(1)
        return allowance(limit, charged, price, others)

    async def _others(
        self, limit: Limit, closed: Mapping[FleetKey, int], counted: Sequence[Span], since: int
    ) -> list[tuple[Use, Fraction]]:
        """The use on each other fleet that has any, and what a GPU costs there."""
        holdings = {key: [one.holding for one in self.held if one.fleet == key] for key in self._keys(closed)}
        found: list[tuple[Use, Fraction]] = []
        for key, these in holdings.items():
            use = use_of(closed.get(key, 0), these, counted, since, self.now)
            if use != Use():
                price = await self._price(key) if limit.unit is Unit.MICRO_USD else Fraction(1)
                found.append((use, price))
        return found

    def _keys(self, closed: Mapping[FleetKey, int]) -> list[FleetKey]:
        return sorted({*closed, *(one.fleet for one in self.held)} - {self.here})

    async def _price(self, key: FleetKey) -> Fraction:
        if key not in self.costs:
            account, region, fleet = key
            self.costs[key] = await gpu_price(self.tx, Scope(self.world, account, region), fleet)
        return self.costs[key]


async def gpu_price(tx: Tx, scope: Scope, fleet: str) -> Fraction:
    """Micro-dollars that an hour of one of the fleet's GPUs costs now: of nodes of several types the dearest, so that
    no limit is passed; 0 when nothing is known of its nodes. Of a managed pool's machines likewise."""
    if is_managed(fleet):
        return await managed_pools.gpu_price(tx, scope, fleet)
    types = {name: catalog.instance_type(name) for name in await budget_use.node_types(tx, scope, fleet)}
    with_gpus = {name: kind.accelerators for name, kind in types.items() if kind.gpu is not None and kind.accelerators}
    rates = await prices.rates(tx, scope.world, scope.region, with_gpus)
    return max(
        (Fraction(rates[name].micro_usd_per_hour, gpus) for name, gpus in with_gpus.items()), default=Fraction(0)
    )
