"""How a job's workers get their machines: as many at once as there are, or all together (VX-2, VX-12)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.core import job_faults
from app.core.capacity import Grant, Want
from app.core.chance import below
from app.core.gang import Gang
from app.core.ids import digits
from app.core.job import FLEX_START
from app.core.replica import Replica, Worker
from app.core.times import WorldTime, after
from app.core.values import evolve


def ask(gang: Gang) -> bool:
    """Ask for a machine for each worker that may ask now; True when any got one."""
    asking = [place for place, replica in enumerate(gang.replicas) if _asks(replica, gang.at)]
    if not asking:
        return False
    if gang.job.on_cluster:
        return _start(gang, asking)
    if gang.plan.strategy == FLEX_START:
        asking = [place for place, replica in enumerate(gang.replicas) if replica.status is Worker.WAITING]
    for place, grant in zip(asking, _grants(gang, asking), strict=True):
        replica = gang.replicas[place]
        gang.put(place, _refused(gang, replica) if grant is None else _granted(gang, replica, grant))
    return any(gang.replicas[place].status is Worker.PROVISIONING for place in asking)


def _asks(replica: Replica, at: WorldTime) -> bool:
    return replica.status is Worker.WAITING and replica.launch_after is not None and replica.launch_after <= at


def _grants(gang: Gang, places: Sequence[int]) -> Sequence[Grant | None]:
    """A machine for each, or None; a job that waits for capacity takes all of them or none."""
    replicas = [gang.replicas[place] for place in places]
    struck = [_is_struck(gang, replica) for replica in replicas]
    wants = [_want(gang, replica) for replica in replicas]
    stock = gang.around.stock
    if gang.plan.strategy == FLEX_START:
        return (None if any(struck) else stock.take_all(wants)) or [None] * len(places)
    return [None if hit else stock.take(want) for hit, want in zip(struck, wants, strict=True)]


def _is_struck(gang: Gang, replica: Replica) -> bool:
    rule = gang.around.faults.strike(job_faults.STOCKOUT, job_faults.subject(gang, replica), gang.at)
    return rule is not None


def _want(gang: Gang, replica: Replica) -> Want:
    zones = gang.around.zones
    first = replica.ordinal % len(zones)
    return Want(replica.name, (replica.machine_type,), (*zones[first:], *zones[:first]))


def _refused(gang: Gang, replica: Replica) -> Replica:
    return evolve(replica, launch_after=None, waiting_since=replica.waiting_since or gang.at)


def _granted(gang: Gang, replica: Replica, grant: Grant) -> Replica:
    moment = max(gang.at, grant.since or gang.at)
    number = replica.machines + 1
    return evolve(
        replica,
        status=Worker.PROVISIONING,
        since=moment,
        zone=grant.zone,
        machine=digits(gang.around.seed, f"{gang.job.job_id}/{replica.name}/{number}", "machine-id"),
        machines=number,
        boot_after=after(moment, _spread(gang, replica, number)),
        launch_after=None,
        waiting_since=None,
    )


def _start(gang: Gang, places: Sequence[int]) -> bool:
    """On the nodes of a cluster the containers start one by one."""
    for turn, place in enumerate(places):
        replica = gang.replicas[place]
        boot_after = after(gang.at, turn * gang.around.timings.delays["container"])
        moved = evolve(replica, status=Worker.STARTING, since=gang.at, boot_after=boot_after)
        gang.put(place, evolve(moved, launch_after=None, waiting_since=None))
    return True


def _spread(gang: Gang, replica: Replica, number: int) -> timedelta:
    """VX-2: the machines come in no fixed order."""
    most = gang.around.timings.delays["worker_spread"] // timedelta(seconds=1)
    who = f"{gang.job.job_id}/{replica.name}/{number}"
    return timedelta(seconds=below(gang.around.seed, who, "worker-spread", most + 1))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job of which so many workers wait for machines of one type."""

    account: str
    job_id: str
    strategy: str
    workers: int
    number: int


def woken(waiting: Iterable[Waiting], free: int) -> list[Waiting]:
    """Those that may ask again when so many machines are free, of those that wait in this order.

    A job that takes all its machines together asks if they are enough; whether it gets them depends on other types,
    too, so that it keeps nobody from asking.
    """
    found = []
    for one in waiting:
        if one.strategy == FLEX_START:
            found += [one] if one.workers <= free else []
        elif free > 0:
            found.append(one)
            free -= one.workers
    return found
