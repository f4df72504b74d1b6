"""The policies that a simulation may compare, by name."""

from collections.abc import Callable

from app.simulate.policies.budget import BudgetScheduler
from app.simulate.policies.fairtree import fairtree, fairtree_preempt
from app.simulate.policies.fifo import fifo
from app.simulate.policies.kai import kai
from app.simulate.policies.maxmin import maxmin
from app.simulate.policies.priority import priority
from app.simulate.policy import Scheduler
from app.simulate.settings import Settings
from app.simulate.workloads import Trace

POLICIES: dict[str, Callable[[Trace, Settings], Scheduler]] = {
    "budget": BudgetScheduler,
    "fairtree": fairtree,
    "fairtree-preempt": fairtree_preempt,
    "fifo": fifo,
    "kai": kai,
    "maxmin": maxmin,
    "priority": priority,
}
"""What makes each from the trace, of which it may look at the shares alone, and the settings."""
