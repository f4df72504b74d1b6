"""First come, first served: the order of submission and nothing else.

The yardstick of the Philly study (Jeon et al., ATC 2019) and of most papers since. With `backfill` work may pass a
blocked head by EASY (`backfill.py`); without, the head blocks everybody. Left out: nothing; budgets, priorities and
minimum runtimes mean nothing here, and nobody is ever evicted.
"""

from app.simulate.policies.backfill import DEPTH, backfill, reserve
from app.simulate.policies.baseline import FOREVER, Baseline, Floor
from app.simulate.policies.queue import Shape, by_submit, shape_of
from app.simulate.settings import Settings
from app.simulate.workloads import Job, Trace


def _all(shape: Shape) -> bool:
    return True


class Fifo:
    """Strict order; the second list of jobs is asked for only while the head is blocked."""

    def __init__(self, *, passes_head: bool) -> None:
        self.passes_head = passes_head

    def arrange(self, floor: Floor, now: int) -> None:
        def begin(job: Job, passed_over: frozenset[str]) -> None:
            floor.begin(job, now, until=FOREVER, passed_over=passed_over)

        while (head := floor.queue.head({}, _all)) is not None and floor.fits(shape_of(head)):
            begin(head, frozenset())
        if head is not None and self.passes_head and any(floor.fits(shape) for shape in floor.queue.shapes):
            line = floor.queue.line({}, floor.fits, DEPTH)
            backfill(floor, line, reserve(floor, head), begin, now)

    def next_due(self, floor: Floor, now: int) -> int | None:
        return None


def fifo(trace: Trace, settings: Settings) -> Baseline:
    return Baseline(trace, Fifo(passes_head=settings.backfill), by_submit)
