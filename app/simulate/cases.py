"""A simulation to be run: a trace, a policy and its settings; small enough to be sent to another process."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.errors import Invalid
from app.simulate.bound import Bound, upper_bound
from app.simulate.engine import run
from app.simulate.measures import Picture, picture_of
from app.simulate.policies import POLICIES
from app.simulate.settings import Settings
from app.simulate.workloads import Trace


@dataclass(frozen=True, slots=True)
class Case:
    """`make` makes the trace where the case is run: a function of a module, or a `functools.partial` of one."""

    policy: str
    make: Callable[[], Trace]
    settings: Settings = field(default_factory=Settings)
    label: str = ""
    """What tells the case's column from the others; else the policy."""

    @property
    def name(self) -> str:
        return self.label or self.policy


@dataclass(slots=True)
class Result:
    """What came of a case, without the trace."""

    name: str
    trace: str
    source: str
    gpus: int
    jobs: int
    begins: int
    ends: int
    picture: Picture
    bound: Bound
    """Of the trace, whatever the policy."""


def solve(case: Case, progress: Callable[[int, int], None] | None = None) -> Result:
    """Run the case. `progress` hears the simulated time and when it ends. Invalid: there is no such policy."""
    if case.policy not in POLICIES:
        raise Invalid(f"There is no policy {case.policy!r}. The policies are {', '.join(sorted(POLICIES))}.")
    trace = case.make()
    scheduler = POLICIES[case.policy](trace, case.settings)
    told = None if progress is None else lambda now: progress(now, trace.ends)
    made = run(trace, scheduler, policy=case.policy, progress=told)
    return Result(
        name=case.name,
        trace=trace.name,
        source=trace.source,
        gpus=trace.gpus,
        jobs=len(trace.jobs),
        begins=trace.begins,
        ends=trace.ends,
        picture=picture_of(made),
        bound=upper_bound(trace),
    )
