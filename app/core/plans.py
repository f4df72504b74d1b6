"""A training plan that was bought: its facts, and the statuses that follow from them and the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.core import ids
from app.core.chance import digest
from app.core.offerings import Block
from app.core.scope import Scope
from app.core.times import WorldTime, after, millis

RECLAIM = timedelta(hours=1)
"""So long before a block's end HyperPod begins to take its instances back (facts of the field)."""
HYPERPOD = "hyperpod-cluster"
TARGETS = ("training-job", HYPERPOD, "endpoint", "studio-apps")
NOT_APPLICABLE = "NotApplicable"
"""What an instance group without a plan shows as its plan's status."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """One reserved capacity of a plan, the `number`-th; all have the plan's machines, in its zone."""

    number: int
    reservation_id: str
    starts_at: WorldTime
    ends_at: WorldTime

    @property
    def reclaim_at(self) -> WorldTime:
        """From then on no instance may use it."""
        return after(self.ends_at, -RECLAIM)


@dataclass(frozen=True, slots=True)
class Plan:
    """A bought plan. `settles_at` is when its payment does; `declined_at` is the same if that fails.

    `fee` is the upfront fee in micro-dollars; `spares` is for each UltraServer. `reserved` is in order of time.
    """

    name: str
    target: str
    instance_type: str
    total: int
    ultra_type: str
    ultra_count: int
    spares: int
    zone: str
    created_at: WorldTime
    settles_at: WorldTime
    declined_at: WorldTime | None
    failure: str | None
    fee: int
    fee_evidence: str
    starts_at: WorldTime
    ends_at: WorldTime
    reserved: Sequence[Reserved] = ()

    @property
    def usable(self) -> int:
        """The instances that are no spares."""
        return self.total - self.spares * self.ultra_count

    @property
    def reservation_ids(self) -> list[str]:
        return [one.reservation_id for one in self.reserved]

    @property
    def milliseconds(self) -> int:
        """How long it gives machines, pauses left out."""
        return sum(millis(one.starts_at, one.ends_at) for one in self.reserved)

    def status(self, now: WorldTime) -> str:
        return self._status(self.starts_at, self.ends_at, now)

    def reserved_status(self, one: Reserved, now: WorldTime) -> str:
        return self._status(one.starts_at, one.ends_at, now)

    def open_block(self, now: WorldTime) -> Reserved | None:
        """The reserved capacity whose machines may be taken now."""
        if self.status(now) != "Active":
            return None
        return next((one for one in self.reserved if one.starts_at <= now < one.reclaim_at), None)

    def next_opening(self, now: WorldTime) -> WorldTime | None:
        """When machines can next be taken that cannot yet."""
        if self.declined_at is not None:
            return None
        times = [max(one.starts_at, self.settles_at) for one in self.reserved if one.reclaim_at > self.settles_at]
        return min((at for at in times if at > now), default=None)

    def next_reclaim(self, now: WorldTime) -> WorldTime | None:
        return min((one.reclaim_at for one in self.reserved if one.reclaim_at > now), default=None)

    def _status(self, starts_at: WorldTime, ends_at: WorldTime, now: WorldTime) -> str:
        if now < self.settles_at:
            return "Pending"
        if self.declined_at is not None:
            return "Failed"
        if now < starts_at:
            return "Scheduled"
        return "Active" if now < ends_at else "Expired"


@dataclass(frozen=True, slots=True)
class Extension:
    """More time that was bought; `declined_at` is set when its payment failed. `fee` in micro-dollars."""

    number: int
    offering_id: str
    extended_at: WorldTime
    starts_at: WorldTime
    ends_at: WorldTime
    declined_at: WorldTime | None
    fee: int
    fee_evidence: str

    def status(self, now: WorldTime) -> str:
        if self.declined_at is not None:
            return "Failed"
        if now < self.starts_at:
            return "Scheduled"
        return "Active" if now < self.ends_at else "Expired"

    @property
    def payment(self) -> str:
        return "Completed" if self.declined_at is None else "Failed"


def plan_arn(region: str, account: str, name: str) -> str:
    """`arn:<partition>:sagemaker:<region>:<account>:training-plan/<name>`."""
    return f"arn:{ids.partition(region)}:sagemaker:{region}:{account}:training-plan/{name}"


def name_of(scope: Scope, name_or_arn: str) -> str:
    """The name of a plan; empty, which is no plan's name, for an ARN of another account or region."""
    if not name_or_arn.startswith("arn:"):
        return name_or_arn
    name = name_or_arn.rpartition("/")[2]
    return name if name_or_arn == plan_arn(scope.region, scope.account, name) else ""


def reserved_arn(region: str, account: str, reservation_id: str) -> str:
    """`arn:<partition>:sagemaker:<region>:<account>:reserved-capacity/<id>`."""
    return f"arn:{ids.partition(region)}:sagemaker:{region}:{account}:reserved-capacity/{reservation_id}"


def reservation_id(seed: int, owner: str, plan: str, number: int) -> str:
    """`cr-` and 17 hex digits (chosen)."""
    return "cr-" + digest(seed, f"{owner}/{plan}/{number}", "reservation-id", 9).hex()[:17]


def reservations(seed: int, owner: str, plan: str, blocks: Sequence[Block]) -> tuple[Reserved, ...]:
    """The reserved capacities of a new plan."""
    return tuple(
        Reserved(number, reservation_id(seed, owner, plan, number), block.starts_at, block.ends_at)
        for number, block in enumerate(blocks, start=1)
    )


def server_id(seed: int, reservation: str, server: int) -> str:
    """`us-` and 17 hex digits of a reserved capacity's UltraServer, numbered from 1 (chosen)."""
    return "us-" + digest(seed, f"{reservation}/{server}", "ultra-server", 9).hex()[:17]
