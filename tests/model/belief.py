"""What a user may rely on of clusters and groups: wanted counts, allowed statuses, refusals that must come.

This is no second implementation: how nodes move is not known here, only between what the answers must lie.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta

WINDOW = timedelta(hours=3)
WAITING, OPEN = ("Creating", "Updating"), ("InService", "Degraded")
SCALABLE = (*OPEN, "SystemUpdating")
GATES = ("controller", "login")
OK: Set[str] = {"ok"}
NOT_FOUND = {"ResourceNotFound"}
INVALID = {"ValidationException"}
CONFLICT = {"ConflictException"}
NEXT = {
    True: {
        "Creating": {"InService", "Failed", "Deleting"},
        "InService": {"Deleting"},
        "Failed": {"Deleting"},
        "Deleting": set(),
    },
    False: {
        "Creating": {"InService", "RollingBack", "Failed"},
        "InService": {"Updating", "RollingBack", "SystemUpdating", "Deleting"},
        "SystemUpdating": {"InService"},
        "Updating": {"InService", "RollingBack"},
        "RollingBack": {"InService", "Failed"},
        "Failed": {"Deleting"},
        "Deleting": set(),
    },
}
"""By mode, what a status may be followed by when one looks without missing anything."""


def reachable(continuous: bool, status: str) -> set[str]:
    """What may be seen after `status`, however much happened in between."""
    found, ahead = {status}, [status]
    while ahead:
        new = NEXT[continuous][ahead.pop()] - found
        found |= new
        ahead += new
    return found


@dataclass
class Group:
    """What was asked of a group. `waits_since`: MinCount is waited for; `stable` is what a rollback returns to."""

    target: int
    minimum: int = 0
    waits_since: datetime | None = None
    stable: tuple[int, int] = (0, 0)
    status: str = "Creating"
    current: int = 0
    leaving: bool = False

    @property
    def is_open(self) -> bool:
        return self.status in OPEN and not self.leaving

    @property
    def is_scalable(self) -> bool:
        return self.status in SCALABLE and not self.leaving

    def want(self, target: int, minimum: int | None, now: datetime) -> None:
        """HP-15, HP-17: an update of it, as it was seen to be."""
        wanted = self.minimum if minimum is None else minimum
        if wanted != self.minimum:
            if self.status in SCALABLE and self.waits_since is None:
                if self.current < wanted:
                    self.waits_since, self.stable = now, (self.target, self.minimum)
            else:
                self.waits_since = now if wanted else None
        self.target, self.minimum = target, wanted

    def lose(self, count: int) -> None:
        """HP-14: BatchDelete takes MinCount down with the target."""
        self.target = max(0, self.target - count)
        self.minimum = min(self.minimum, self.target)

    def look(self, shown: dict[str, object], now: datetime, *, gated: bool, is_open: bool, may_dip: bool) -> None:
        """HP-14 to HP-17, HP-21: the counts are those that were asked, or after three hours those of before."""
        status, current = str(shown["Status"]), shown["CurrentCount"]
        counts = (shown["TargetCount"], shown["MinCount"])
        assert isinstance(current, int)
        over = self.waits_since is not None and now >= self.waits_since + WINDOW and not gated
        asked = (self.target, self.minimum)
        assert counts == asked or (over and counts == self.stable), f"{counts}, not {asked}, nor back at {self.stable}"
        if over:
            assert status not in WAITING, f"{status} beyond its three hours"
        if self.waits_since is not None and not over:
            assert status in WAITING or current >= self.minimum or may_dip, f"{status}: {current} of {self.minimum}"
            assert status not in WAITING or current < self.minimum, f"{status}: {current} of {self.minimum}"
        elif self.waits_since is None and is_open:
            assert status in SCALABLE, status
        self.target, self.minimum = int(str(counts[0])), int(str(counts[1]))
        if status in SCALABLE:
            self.waits_since = None


@dataclass
class Cluster:
    """A cluster that was asked for. `before`: the counts that a classic cluster's failed update returns to."""

    continuous: bool
    slurm: bool
    groups: dict[str, Group]
    status: str = "Creating"
    before: dict[str, int] = field(default_factory=dict)
    created: datetime | None = None

    def may(self, *groups: str) -> Set[str]:
        """What UpdateCluster answers, as far as statuses rule (HP-7, HP-9, HP-19, HP-40)."""
        rests = self.status in (("Creating", "InService") if self.continuous else ("InService",))
        if not rests or any(name in self.groups and self.groups[name].leaving for name in groups):
            return CONFLICT
        return OK

    def may_patch(self) -> Set[str]:
        """What UpdateClusterSoftware of the whole cluster answers (HP-19)."""
        free = all(group.is_open for group in self.groups.values() if not group.leaving)
        return OK if self.status == "InService" and free else CONFLICT

    def may_touch(self) -> Set[str]:
        """What an operation on nodes answers, before it looks at the nodes."""
        if self.may() != OK:
            return CONFLICT
        return OK if self.status == "InService" else INVALID

    @property
    def is_deletable(self) -> bool:
        return self.status != "Deleting" and (self.continuous or self.status in ("InService", "Failed"))
