"""Who of the jobs that queue for a project's quota in a region gets it: first come, first served (VX-1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.errors import LimitExceeded

Amounts = Mapping[str, int]
"""How much of each quota metric."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that queues, and what it needs."""

    account: str
    region: str
    job_id: str
    needs: Amounts


def check_needs(needs: Amounts, limits: Amounts) -> None:
    """LimitExceeded, in the service's words, when the job needs more than the quota itself."""
    exceeded = sorted(metric for metric, amount in needs.items() if amount > limits.get(metric, amount))
    if exceeded:
        raise LimitExceeded(f"The following quota metrics exceed quota limits: {','.join(exceeded)}", ("quota",))


def admitted(limits: Amounts, used: Amounts, waiting: Iterable[Waiting]) -> Sequence[Waiting]:
    """Those that get their quota now, of those that wait in this order.

    Who has to wait keeps those behind him from the metrics that he waits for, unless he needs more than the quota
    itself, which was lowered after he came.
    """
    taken, blocked, served = dict(used), set[str](), []
    for one in waiting:
        limited = [metric for metric in one.needs if metric in limits]
        if any(one.needs[metric] > limits[metric] for metric in limited):
            continue
        if blocked.isdisjoint(limited) and all(
            taken.get(metric, 0) + one.needs[metric] <= limits[metric] for metric in limited
        ):
            served.append(one)
            for metric in limited:
                taken[metric] = taken.get(metric, 0) + one.needs[metric]
        else:
            blocked.update(limited)
    return served
