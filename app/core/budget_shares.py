"""Each budget's share of one fleet, with the figures that the order of its work stands on (FS-2, CT-10)."""

from dataclasses import dataclass
from fractions import Fraction

from app.core.scheduling.budgets import Budget
from app.core.scheduling.queueing import in_order
from app.core.scheduling.state import State


@dataclass(frozen=True, slots=True)
class Share:
    """A budget on a fleet at an instant. The ratio is (used + committed) / owed, None without a claim; GPU-time is in
    GPU-milliseconds, of which `used` counts its first claim for the time before it or the fleet was born."""

    name: str
    used: int
    committed: int
    owed: int
    ratio: Fraction | None
    claimed_gpus: int
    """Its claim of the GPUs that there are now, rounded down."""
    funded_gpus: int
    unfunded_gpus: int
    borrowed_gpus: int
    """Funded ones beyond its claim."""
    waiting_gpus: int
    turn: int = 1
    """Its place among its siblings: whose turn is first."""


def shares(state: State) -> list[Share]:
    """Every budget but the root, at the state's instant, each below its parent, siblings by name."""
    running: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for workload in state.workloads.values():
        held = workload.gpus * sum(workload.places.values())
        missing = workload.gpus * workload.replicas - held
        for budget in state.paths[workload.leaf]:
            running[budget.id] = running.get(budget.id, 0) + held
            waiting[budget.id] = waiting.get(budget.id, 0) + missing
    every = _in_order(state.root)
    turns = {
        one.id: place
        for parent in (state.root, *every)
        for place, one in enumerate(in_order(state, parent.children.values()), 1)
    }
    return [_share(state, one, running.get(one.id, 0), waiting.get(one.id, 0), turns[one.id]) for one in every]


def _in_order(root: Budget) -> list[Budget]:
    found: list[Budget] = []
    ahead = [root]
    while ahead:
        budget = ahead.pop()
        ahead += (budget.children[name] for name in sorted(budget.children, reverse=True))
        found.append(budget)
    return found[1:]


def _share(state: State, budget: Budget, running: int, waiting: int, turn: int) -> Share:
    top, bottom = state.ratio(budget)
    scale = state.ratio(budget, 1)[0] - top  # of one more GPU-millisecond
    committed = budget.committed - budget.committed_gpus * state.now
    claim = Fraction(*budget.claims[-1][2:4]) if budget.claims else Fraction(0)
    claimed, funded = int(claim * state.capacity.slope), budget.usage.slope
    return Share(
        name=budget.id,
        used=top // scale - committed,
        committed=committed,
        owed=bottom // scale,
        ratio=Fraction(top, bottom) if bottom else None,
        claimed_gpus=claimed,
        funded_gpus=funded,
        unfunded_gpus=running - funded,
        borrowed_gpus=max(0, funded - claimed),
        waiting_gpus=waiting,
        turn=turn,
    )
