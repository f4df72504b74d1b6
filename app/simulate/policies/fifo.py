"""First come, first served: the order of submission and nothing else.

The yardstick of the Philly study (Jeon et al., ATC 2019) and of most papers since. With `backfill` work may pass a
blocked head by EASY (`backfill.py`); without, the head blocks everybody. Left out: nothing; budgets, priorities and
minimum runtimes mean nothing here, and nobody is ever evicted.
"""

from app.simulate.policies.backfill import DEPTH, Backfill
from app.simulate.policies.baseline import FOREVER, Baseline, Floor
from app.simulate.policies.queue import by_submit, shape_of
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Trace


class Fifo:
    """Strict order, and perhaps backfill while the head is blocked."""

    def __init__(self, *, passes_head: bool) -> None:
        self.backfill = Backfill() if passes_head else None

    def arrange(self, floor: Floor, now: int) -> None:
        def begin(job: Job, passed_over: frozenset[str]) -> None:
            floor.begin(job, now, until=FOREVER, passed_over=passed_over)

        while (head := floor.queue.head({}, floor.queue.shapes)) is not None and floor.fits(shape_of(head)):
            begin(head, frozenset())
        if head is not None and self.backfill is not None and self.backfill.is_due(now):
            line = floor.queue.line({}, {shape for shape in floor.queue.shapes if floor.fits(shape)}, DEPTH)
            self.backfill.run(floor, head, line, begin, now)

    def next_due(self, floor: Floor, now: int) -> int | None:
        """None while nobody waits, or nobody may pass."""
        return self.backfill.next_due(now) if self.backfill is not None and floor.queue.jobs else None


def fifo(trace: Trace, settings: Settings) -> Baseline:
    return Baseline(trace, Fifo(passes_head=settings.backfill), by_submit)
