"""A fleet as its scheduler sees it: GPUs by what they do, reservations, who leads it, and the settings of its policy;
and what the scheduler has decided (CT-10, FS-13)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from app.core.errors import Invalid
from app.core.fleet_policy import tell_again, with_settings
from app.core.job_labels import Home
from app.core.scheduling.packing import Host
from app.core.scheduling.policy import Policy
from app.core.scheduling.state import Reservation, State
from app.core.times import to_millis, whole_second
from app.store import fleet_settings, listed_workloads, scheduling, sessions
from app.store.db import Tx
from app.store.fleet_settings import Lead
from app.store.listed_workloads import Decided as Decided
from app.store.listed_workloads import FleetOf
from app.usecases import clocks, known_fleets, workloads
from app.usecases.fleet_memory import look


class Gpus(NamedTuple):
    """GPUs of nodes that the scheduler knows. `capacity` is the C of shares; those that drain count as far as they are
    allocated."""

    total: int = 0
    capacity: int = 0
    allocated: int = 0
    held: int = 0
    """For who starts when the grace of others is over."""
    free: int = 0
    """Of healthy nodes, of which `reserved` are kept for large gangs."""
    reserved: int = 0
    draining: int = 0
    drained: int = 0


@dataclass(frozen=True, slots=True)
class Fleet:
    """A cluster's fleet, or a managed pool, as its last pass left it; `as_of` is in ms, None before the first."""

    of: FleetOf
    policy: Policy
    settings: Sequence[str]
    """Those of the policy that are not the default."""
    lead: Lead
    as_of: int | None = None
    gpus: Gpus = field(default_factory=Gpus)
    running: int = 0
    waiting: int = 0
    reservations: Sequence[Reservation] = ()


async def show(tx: Tx, world: str, cluster: str, home: Home) -> Fleet:
    """NotFound without the cluster or the managed pool; Invalid when several have the name."""
    await sessions.see_one_state(tx)
    return await _shown(tx, await known_fleets.one(tx, world, cluster, home))


async def pools(tx: Tx, world: str, name: str | None) -> list[Fleet]:
    """The managed pools that have had work, of a name if one is given."""
    await sessions.see_one_state(tx)
    return [await _shown(tx, one) for one in await known_fleets.pools(tx, world, name)]


async def _shown(tx: Tx, found: FleetOf) -> Fleet:
    scope, fleet = found.scope, found.fleet
    row, lead = await scheduling.read(tx, scope, fleet), await fleet_settings.lead(tx, scope, fleet)
    if row is None:
        return Fleet(found, Policy(), (), lead)
    policy, changed = Policy(**row.policy), [name for name in settings_of(Policy()) if name in row.policy]
    if not row.state:
        return Fleet(found, policy, changed, lead)
    state = (await look(tx, scope, fleet)).state
    known = state.workloads.values()
    running, waiting = (sum(bool(one.places) is runs for one in known) for runs in (True, False))
    kept = tuple(state.reservations.values())
    return Fleet(found, policy, changed, lead, state.now, _gpus(state), running, waiting, kept)


def _gpus(state: State) -> Gpus:
    hosts = state.hosts.values()
    healthy = [host for host in hosts if host.state == Host.HEALTHY]
    by_state = {kind: sum(host.gpus for host in hosts if host.state == kind) for kind in (Host.DRAINING, Host.DRAINED)}
    known = state.workloads.values()
    return Gpus(
        sum(host.gpus for host in hosts),
        state.capacity.slope,
        sum(one.gpus * sum(one.places.values()) for one in known),
        sum(one.gpus * sum(one.claim.values()) for one in known),
        sum(max(0, host.free) for host in healthy),
        sum(host.gpus for host in healthy if host.pool is not None and host.pool.reserved is not None),
        by_state[Host.DRAINING],
        by_state[Host.DRAINED],
    )


async def change(tx: Tx, world: str, cluster: str, home: Home, settings: Mapping[str, int | bool | None]) -> Fleet:
    """Have these settings, None: the default again; the next pass, at once, goes by them. Invalid for what none may
    be."""
    held = await clocks.kept(tx, world)
    found = await known_fleets.one(tx, world, cluster, home)
    scope, fleet = found.scope, found.fleet
    row = await scheduling.lock(tx, scope, fleet)
    policy = with_settings(row.policy, settings)
    due_at = whole_second(held.now)
    await fleet_settings.set_policy(tx, scope, fleet, policy, tell_again(row.state, to_millis(due_at)), due_at)
    return await _shown(tx, found)


async def decisions(
    tx: Tx,
    world: str,
    cluster: str | None,
    workload: str | None,
    kinds: Sequence[str],
    after: int | None,
    limit: int,
) -> list[Decided]:
    """What schedulers have decided: the newest, oldest first; or, of one cluster, what comes after a number.

    A workload may be named as `find` takes it; what concerns it as a victim is told, too.
    """
    await sessions.see_one_state(tx)
    which, name = workloads.which(cluster), None
    if after is not None and cluster is None:
        raise Invalid("Numbers are of one fleet's decisions. Name the cluster to go on after one.")
    if workload is not None:
        found = await workloads.find(tx, world, cluster, workload)
        which, name = listed_workloads.Filter(*found.of.key), found.row.name
    else:
        await clocks.read(tx, world)
    return await listed_workloads.decisions(
        tx, world, which, workload=name, kinds=kinds, after=after, limit=min(limit, workloads.MOST_LISTED)
    )


def settings_of(policy: Policy) -> dict[str, int | bool]:
    """Every setting by its name."""
    return asdict(policy)
