"""A fleet whose GPUs are split by compute quotas: who uses how much, and who may use more (FS-17)."""

from collections.abc import Iterable, Iterator
from copy import copy
from fractions import Fraction

from app.core.errors import Conflict, Invalid
from app.core.scheduling import tree
from app.core.scheduling.packing import Host
from app.core.scheduling.quota import Quota, Quotas, Refusal
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload

Share = tuple[bool, Fraction]
"""Whether it is more than any number, and the number."""


def set_quotas(
    state: State, quotas: Iterable[Quota], now: int, *, fair_share: bool = True, idle_sharing: bool = False
) -> None:
    """The quotas in force from now on; without any, and without work of teams, the fleet is free for budgets again.

    A team whose quota is gone while it has work keeps a quota of nothing. Conflict: the fleet is split by budgets.
    """
    state.advance(now)
    if state.quotas is None and len(state.budgets) > 1:
        names = ", ".join(sorted(name for name in state.budgets if name))
        raise Conflict(f"This fleet is split by budgets ({names}). Delete them before it gets compute quotas.")
    wanted = {quota.team: _checked(quota) for quota in quotas}
    for team in [team for team in state.budgets if team and team not in wanted]:
        if tree.is_used(state, state.budgets[team]):
            wanted[team] = Quota(team, 0, preempts=False)
        else:
            tree.remove_leaf(state, team)
            state.team_log.append((now, state.applied, team, None))
    for team, quota in wanted.items():
        if team not in state.budgets:
            state.team_log.append((now, state.applied, team, quota.gpus))
        tree.put_leaf(state, team, quota.gpus)
    changed = Quotas(dict(sorted(wanted.items())), fair_share, idle_sharing) if wanted else None
    if changed != state.quotas:
        state.quotas = changed
        state.stirred = state.roomier = True
    set_claims(state)


def _checked(quota: Quota) -> Quota:
    if quota.gpus < 0 or quota.borrow_limit < 0 or quota.weight < 0:
        raise Invalid(f"The quota of team {quota.team} has a negative number; all of them may be 0 or more.")
    return quota


def set_claims(state: State) -> None:
    """Each team claims its quota of the GPUs that there are; the claims need not come to all of them."""
    if state.quotas is None:
        return
    for team, quota in state.quotas.by_team.items():
        budget, claim = state.budgets[team], (0, 0, quota.gpus, max(1, state.capacity.slope))
        if budget.claims != [claim]:
            budget.claims[:] = [claim]
            budget.forget_cache()


def size(workload: Workload) -> int:
    """GPUs of the whole gang."""
    return workload.gpus * workload.replicas


def counts(workload: Workload) -> bool:
    """Whether its team uses its GPUs: not if it only waits, or is on its way out."""
    if workload.status is Status.LEAVING:
        return bool(workload.claim)
    return workload.status is not Status.WAITING


def holders(state: State) -> list[Workload]:
    """Whoever has GPUs or is promised some, and gangs that lost all theirs; found without a look at those that wait."""
    names = dict.fromkeys(state.holes)
    for host in state.hosts.values():
        names.update(dict.fromkeys(host.residents))
        names.update(dict.fromkeys(host.claims))
    return [state.workloads[name] for name in names]


class Count:
    """How many GPUs each team uses at an instant, and how many nobody does; whoever decides keeps it up."""

    def __init__(self, state: State, quotas: Quotas, holding: Iterable[Workload]) -> None:
        self.quotas = quotas
        self.claimed = quotas.claimed
        self.capacity = state.capacity.slope
        self.used: dict[str | None, int] = dict.fromkeys(quotas.by_team, 0)
        self.used[None] = 0
        """What work without a team uses."""
        self.free = sum([host.free for host in state.hosts.values() if host.state == Host.HEALTHY])
        """GPUs that nobody uses, or whose users are on their way out."""
        self._keeping = [team for team, quota in quotas.by_team.items() if not quota.lends]
        for workload in holding:
            if counts(workload):
                self.used[workload.leaf] += size(workload)
            if workload.status is Status.LEAVING:
                self.free += sum(
                    number * workload.gpus
                    for name, number in workload.places.items()
                    if state.hosts[name].state == Host.HEALTHY
                )

    def copy(self) -> "Count":
        """As it is now, to try what would be."""
        other = copy(self)
        other.used = self.used.copy()
        return other

    def start(self, workload: Workload) -> None:
        self.used[workload.leaf] += size(workload)
        self.free -= size(workload)

    def stop(self, workload: Workload) -> None:
        self.used[workload.leaf] -= size(workload)
        self.free += size(workload)

    def over(self, team: str, more: int = 0) -> int:
        """GPUs beyond its quota, if the team used so many more."""
        return max(0, self.used[team] + more - self.quotas.by_team[team].gpus)

    def share(self, team: str, more: int = 0) -> Share:
        """What it borrows, by its weight; who has none and borrows is above all others."""
        over, weight = self.over(team, more), self.quotas.by_team[team].weight
        if not over or weight:
            return False, Fraction(over, weight or 1)
        return True, Fraction(over)

    def unused(self, team: str) -> int:
        return max(0, self.quotas.by_team[team].gpus - self.used[team])

    def held_back(self, team: str | None) -> int:
        """GPUs that others leave unused and do not lend."""
        return sum([self.unused(other) for other in self._keeping if other != team])

    def holder(self, team: str | None) -> str | None:
        """The team that holds back most."""
        others = [other for other in self._keeping if other != team]
        return max(others, key=lambda other: (self.unused(other), other), default=None)

    def lacking(self, team: str, gpus: int) -> int:
        """How many GPUs others have to give up before the team may start so many within its quota.

        Where the quotas come to more than there is, what is held back is the less for it.
        """
        shortage = max(0, self.claimed - self.capacity)
        return max(0, gpus + max(0, self.held_back(team) - shortage) - self.free)

    def refusal(self, team: str, gpus: int) -> Refusal | None:
        """Why the team may not start so many beyond its quota; None: it may."""
        quota = self.quotas.by_team[team]
        if not quota.borrow_limit or (self.quotas.fair_share and not quota.weight):
            return Refusal.MAY_NOT_BORROW
        if self.over(team, gpus) > quota.borrow_limit:
            return Refusal.OVER_BORROW_LIMIT
        if not self.quotas.idle_sharing and self._taken(team, gpus) > self._lent(team):
            return Refusal.NOTHING_LENT
        return None if self.is_free(team, gpus) else Refusal.HELD_BACK

    def is_free(self, team: str | None, gpus: int) -> bool:
        """Whether so many GPUs are free that nobody holds back."""
        return self.free - gpus >= self.held_back(team)

    def _taken(self, team: str, gpus: int) -> int:
        """What all borrow, if the team used so many more."""
        return sum(self.over(other, gpus if other == team else 0) for other in self.quotas.by_team)

    def _lent(self, team: str) -> int:
        """What all lend but the team, which then uses all of its own."""
        quotas = self.quotas.by_team
        return sum(self.unused(other) for other in quotas if other != team and quotas[other].lends)


def count(state: State) -> Count:
    """The count now, of a fleet with quotas."""
    return Count(state, state.quotas or Quotas(), holders(state))


def may_move(state: State, victim: Workload) -> bool:
    """Whether the quotas let the evicted gang go on elsewhere."""
    if state.quotas is None:
        return True
    now, team, gpus = count(state), victim.leaf, size(victim)
    if team is None:
        return now.is_free(None, gpus)
    return not now.lacking(team, gpus) if not now.over(team, gpus) else now.refusal(team, gpus) is None


def may_fill(state: State, workload: Workload) -> bool:
    """Whether the quotas let the hole be filled: if it is borrowed, by what nobody holds back."""
    if state.quotas is None or workload.funded:
        return True
    return count(state).is_free(workload.leaf, workload.gpus * workload.missing)


def misjudged(state: State, quotas: Quotas, holding: Iterable[Workload]) -> list[Workload]:
    """What runs funded beyond its team's quota, then what runs unfunded though there is room in it.

    Within the quota are those held and protected, then by priority, then those that run longest, as far as they fit.
    """
    teams: dict[str, list[Workload]] = {team: [] for team in quotas.by_team}
    for workload in holding:
        if workload.leaf is not None and workload.status in (Status.RUNNING, Status.HELD):
            teams[workload.leaf].append(workload)
    found: list[Workload] = []
    for team, running in teams.items():
        left = quotas.by_team[team].gpus
        if sum([workload.gpus * workload.replicas for workload in running]) <= left:  # in any order all of it fits
            found += [workload for workload in running if workload.status is Status.RUNNING and not workload.funded]
            continue
        for workload in sorted(running, key=lambda workload: _standing(state, workload)):
            gpus = size(workload)
            fits = gpus <= left or _is_bound(state, workload)
            if fits:
                left -= gpus
            if workload.status is Status.RUNNING and workload.funded is not fits:
                found.append(workload)
    return sorted(found, key=lambda workload: (not workload.funded, *_standing(state, workload)))


def _is_bound(state: State, workload: Workload) -> bool:
    """Whether it was promised to count within the quota: it is held, or protected still."""
    return workload.status is Status.HELD or (workload.funded and state.now < workload.protected_until)


def _standing(state: State, workload: Workload) -> tuple[bool, int, int, str]:
    return not _is_bound(state, workload), -workload.priority, workload.bound_at, workload.id


def first_to_go(state: State, workloads: Iterable[str]) -> list[Workload]:
    """The lowest priority first, then who loses the least since a checkpoint."""
    found = [state.workloads[name] for name in workloads]
    found.sort(key=lambda workload: (workload.priority, workload.lost(state.now), workload.id))
    return found


def borrowers(state: State, now: Count) -> Iterator[Workload]:
    """What teams run beyond their quotas: who borrows most by weight first, by priority without fair share.

    Who was taken counts no more in `now`.
    """
    if not now.quotas.fair_share:
        yield from first_to_go(state, [name for leaf in state.root.leaves for name in leaf.unfunded])
        return
    left = {leaf.id: first_to_go(state, leaf.unfunded)[::-1] for leaf in state.root.leaves if leaf.unfunded}
    while left:
        team = max(left, key=lambda team: (*now.share(team), team))
        victim = left[team].pop()
        if not left[team]:
            del left[team]
        now.stop(victim)
        yield victim
