"""How many simulated days a second the whole simulator makes, by policy, and how much of the time is the engine's own.

    python -m benchmarks.simulator_speed [DAYS] [POLICY ...]

The load is the acceptance load: 1,024 GPUs, fifteen leaves, funded demand of 0.8 on average, two to three times the
supply in all. The engine's own time is taken by running it again over the recorded answers of the policy.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from app.core.scheduling.policy import DAY
from app.simulate.engine import run
from app.simulate.generator import generate
from app.simulate.lab import Lab
from app.simulate.measures import picture_of
from app.simulate.policies import POLICIES
from app.simulate.policy import Outcome, Scheduler
from app.simulate.settings import Settings


class Recorded:
    """A policy, and what it answered."""

    def __init__(self, of: Scheduler) -> None:
        self.decided: list[list[Outcome]] = []
        self.due: list[int | None] = []
        self._of = of

    def __getattr__(self, name: str) -> object:
        return getattr(self._of, name)

    def decide(self, now: int) -> list[Outcome]:
        self.decided.append(self._of.decide(now))
        return self.decided[-1]

    def next_due(self, now: int) -> int | None:
        self.due.append(self._of.next_due(now))
        return self.due[-1]


class Replayed:
    """The same answers, for nothing."""

    def __init__(self, of: Recorded) -> None:
        self._decided: Iterator[list[Outcome]] = iter(of.decided)
        self._due: Iterator[int | None] = iter(of.due)

    def decide(self, _now: int) -> list[Outcome]:
        return next(self._decided)

    def next_due(self, _now: int) -> int | None:
        return next(self._due)

    def _nothing(self, *_told: object) -> None: ...

    node_ready = node_lost = drain = submit = finish = cancel = _nothing


def main() -> None:
    days = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names = sys.argv[2:] or ["fifo", "budget"]
    began = time.process_time()
    trace = generate(replace(Lab(), warmup=DAY, measured=(days - 1) * DAY), 1)
    print(
        f"{len(trace.jobs)} jobs on {trace.gpus} GPUs in {days} days, generated in {time.process_time() - began:.1f} s"
    )
    for name in names:
        policy = Recorded(POLICIES[name](trace, Settings()))
        began = time.process_time()
        made = run(trace, policy, policy=name)  # type: ignore[arg-type]
        whole = time.process_time() - began
        began = time.process_time()
        run(trace, Replayed(policy), policy=name)
        engine = time.process_time() - began
        began = time.process_time()
        picture_of(made)
        print(
            f"{name}: {days / whole:.1f} simulated days/s in one process ({made.passes / days:.0f} passes a day,"
            f" {1e6 * whole / made.passes:.0f} µs each); the engine alone {days / engine:.0f} days/s,"
            f" {100 * engine / whole:.0f} % of the time; measures {time.process_time() - began:.2f} s"
        )


if __name__ == "__main__":
    main()
