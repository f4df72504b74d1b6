"""The policies that a simulation may compare, by name."""

from collections.abc import Callable

from app.simulate.policies.budget import BudgetScheduler
from app.simulate.policy import Scheduler
from app.simulate.settings import Settings
from app.simulate.workloads import Trace

POLICIES: dict[str, Callable[[Trace, Settings], Scheduler]] = {
    "budget": BudgetScheduler,
}
"""What makes each from the trace, of which it may look at the shares alone, and the settings."""
