"""What nobody could do better: the delivery of a clairvoyant who may stop anything, and to whom GPUs are a fluid.

In each hour the GPUs that are there are divided down the tree by weighted max-min among what is asked for. Nothing is
protected, nothing is lost by stopping, and a gang may run for a part of the hour, so that neither gangs nor hosts stand
in the way (slices short enough come as close to that as one likes). Such a division gives no leaf less than it is
owed: of any policy, what is missing to the whole is the price of whole gangs, hosts, protection and not knowing. What
is not the same for all traces is how much of the fleet funded work can fill, and so what is left for unfunded work.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from app.core.scheduling.policy import HOUR
from app.simulate.filling import fill_tree
from app.simulate.hours import Holds, claims_of
from app.simulate.measures import DAY, Delivery, deliver
from app.simulate.policies.queue import is_funded
from app.simulate.shares import Tree
from app.simulate.workloads import Job, Trace


@dataclass(frozen=True, slots=True)
class Bound:
    """The best delivery over rolling days, and what it leaves; parts are of one."""

    day: Delivery
    occupancy: float | None
    """Held over capacity."""
    unfunded: float | None
    """The part of what is held that nobody is charged for."""


class _Active:
    """A job that has come and is not done; `left` is GPU-milliseconds of work."""

    __slots__ = ("job", "left")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.left = job.size * job.runtime

    def wanted(self, start: int, end: int) -> int:
        """GPU-milliseconds that it can take in this stretch."""
        job = self.job
        until = end if job.withdraw is None else min(end, job.withdraw)
        return min(self.left, job.size * max(0, until - max(start, job.submit)))


def upper_bound(trace: Trace) -> Bound:
    """Hour by hour from the trace's beginning, since what is not done in time is asked for later."""
    tree, holds = Tree(trace.shares), Holds(trace)
    jobs = [job for job in trace.jobs if holds(job)]
    waiting: list[_Active] = []
    claims = claims_of(trace.shares)
    used: dict[str, list[int]] = {leaf: [] for leaf in claims}
    owed: dict[str, list[int]] = {leaf: [] for leaf in used}
    unfunded = capacity = arrived = 0
    for start, end in pairwise(_edges(trace)):
        amount = _capacity(trace, start, end)
        while arrived < len(jobs) and jobs[arrived].submit < end:
            waiting.append(_Active(jobs[arrived]))
            arrived += 1
        asked = demand_of(waiting, start, end)
        shares = fill_tree(tree.root, amount, asked)
        parts = {leaf: int(shares[leaf]) for leaf in used}
        rest = _serve(waiting, parts, amount - sum(parts.values()), start, end)
        if start >= trace.begins:
            unfunded += amount - sum(parts.values()) - rest
            capacity += amount
            for leaf, claim in claims.items():
                used[leaf].append(parts[leaf])
                owed[leaf].append(min(int(claim * amount), asked.get(leaf, 0)))
        waiting = [each for each in waiting if each.left and (each.job.withdraw is None or each.job.withdraw > end)]
    return _bound(used, owed, unfunded, capacity)


def _bound(used: dict[str, list[int]], owed: dict[str, list[int]], unfunded: int, capacity: int) -> Bound:
    held = unfunded + sum(map(sum, used.values()))
    return Bound(deliver(used, owed, DAY), held / capacity if capacity else None, unfunded / held if held else None)


def demand_of(waiting: Iterable[_Active], start: int, end: int) -> dict[str, int]:
    """What each leaf's funded work can take in this stretch: GPU-milliseconds."""
    found: dict[str, int] = {}
    for each in waiting:
        if is_funded(each.job):
            leaf = each.job.leaf or ""
            found[leaf] = found.get(leaf, 0) + each.wanted(start, end)
    return found


def _serve(waiting: Iterable[_Active], parts: Mapping[str, int], rest: int, start: int, end: int) -> int:
    """Each leaf's part goes to its funded work and the rest to unfunded work, the oldest first; what nobody takes."""
    left = dict(parts)
    for each in waiting:
        wanted = each.wanted(start, end)
        if is_funded(each.job):
            leaf = each.job.leaf or ""
            taken = min(wanted, left[leaf])
            left[leaf] -= taken
        else:
            taken = min(wanted, rest)
            rest -= taken
        each.left -= taken
    return rest


def _edges(trace: Trace) -> list[int]:
    """Where hours begin and end, counted from what is measured."""
    return sorted({0, *range(trace.begins % HOUR, trace.ends, HOUR), trace.ends})


def _capacity(trace: Trace, start: int, end: int) -> int:
    """GPU-milliseconds of the stretch without the hosts that are being repaired."""
    gpus = {node.id: node.gpus for node in trace.nodes}
    lost, seen = 0, dict.fromkeys(gpus, start)
    for mishap in sorted(trace.mishaps, key=lambda each: each.at):
        begins, ends = max(seen[mishap.node], mishap.at), min(end, mishap.at + mishap.repair)
        lost += gpus[mishap.node] * max(0, ends - begins)
        seen[mishap.node] = max(seen[mishap.node], ends)
    return trace.gpus * (end - start) - lost
