"""The old policy over generated laboratories, seed by seed, beside what was published of the time before the change.

Run it with the seeds, which are simulated on all cores: python examples/scheduler-study/calibrate.py 1 2 3
"""

import sys
from functools import partial
from os import cpu_count

from app.simulate.cases import Case, Result
from app.simulate.distributions import WHOLE
from app.simulate.generator import funded_demand, generate
from app.simulate.lab import Lab
from app.simulate.processes import solve_all
from app.simulate.report import Row, per_seed, summary

OLD = Lab(inflated=True)
"""Everybody writes the highest priority: in the end all work under the old policy had it."""

COLUMNS = {
    "occupancy": "occupancy",
    "all p50": "all_p50_s",
    "all p90": "all_p90_s",
    "debug p50": "debug_p50_s",
    "debug p90": "debug_p90_s",
    "large p90": "large_p90_s",
    "delivered": "delivered",
    "unfunded": "unfunded",
    "repairs": "repairs",
    "persons": "repairs_needing_a_person",
}
PUBLISHED = "| published | 98 % | 5 min | 2.8 h | | 2 h; simulated 6 h | | | | | |"


def main() -> None:
    seeds = [int(text) for text in sys.argv[1:]] or list(range(1, 11))
    results = solve_all(
        [Case("priority", partial(generate, OLD, seed)) for seed in seeds], cpu_count() or 1, lambda _done: None
    )
    print("| seed |", " | ".join(COLUMNS), "|")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for seed, result in zip(seeds, results, strict=True):
        print(line(str(seed), per_seed(result)))
    print(line("all", summary(results)))
    print(PUBLISHED)
    print("\n| seed | mean demand | least hour | p5 | median | p95 | most | funded jobs | debugging | jobs |")
    print("|---" * 10 + "|")
    for seed, result in zip(seeds, results, strict=True):
        print(demand(seed, result))


def line(name: str, row: Row) -> str:
    return f"| {name} | {' | '.join(shown(column, row[key]) for column, key in COLUMNS.items())} |"


def shown(column: str, value: object) -> str:
    if not isinstance(value, float):
        return "never" if value is None else str(value)
    if column in ("occupancy", "delivered", "unfunded"):
        return f"{100 * value:.1f} %"
    if value < 60:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 3600 else f"{value / 3600:.1f} h"


def demand(seed: int, result: Result) -> str:
    """The properties that the generator promises, of this seed."""
    hours = sorted(funded_demand(trace := generate(OLD, seed)))
    at = [hours[len(hours) * part // 100] for part in (0, 5, 50, 95)]
    funded = [job for job in trace.jobs if job.min_runtime]
    debug = sum(job.debug for job in funded) / len(funded)
    levels = " | ".join(f"{level / WHOLE:.2f}" for level in (*at, hours[-1]))
    mean = sum(hours) / len(hours) / WHOLE
    return f"| {seed} | {mean:.3f} | {levels} | {len(funded):,} | {100 * debug:.1f} % | {result.jobs:,} |"


if __name__ == "__main__":
    main()
