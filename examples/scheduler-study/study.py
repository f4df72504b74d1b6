"""The study: the old policy against ours, how much each setting matters, and what attacks achieve.

    python examples/scheduler-study/study.py before-after --seeds 10 --out results

Every part prints a table in Markdown and writes CSV files and pictures below `--out`.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.core.scheduling.policy import DAY, HOUR, MINUTE, SECOND, Policy
from app.simulate import attacks
from app.simulate.cases import Case, Result
from app.simulate.files import write
from app.simulate.generator import generate
from app.simulate.hours import claims_of
from app.simulate.lab import Lab
from app.simulate.plots import draw
from app.simulate.processes import solve_all
from app.simulate.report import Row, by_name, summary
from app.simulate.settings import Settings
from app.simulate.workloads import Trace

SHOWN = (
    *("seeds", "delivered", "bound", "delivered_least_seed", "leaves_at_least_95", "worst_leaf", "jain"),
    *(
        "occupancy",
        "bound_occupancy",
        "unfunded",
        "bound_unfunded",
        "debug_p50_s",
        "debug_p90_s",
        "all_p50_s",
        "all_p90_s",
        "large_p90_s",
    ),
    *("evictions_per_day", "evictions_lost_gpu_hours_per_day", "repairs", "repairs_needing_a_person"),
)

Change = Callable[[Trace], Trace]


def attacked(lab: Lab, seed: int, attack: str) -> Trace:
    """The generated trace, in which the leaf with the median claim, or everybody, does what the attack's name says."""
    trace = generate(lab, seed)
    claims = claims_of(trace.shares)
    leaf = attacker(trace)
    fair = int(claims[leaf] * trace.gpus)
    middle = (trace.begins + trace.ends) // 2 // SECOND * SECOND
    whole = max(1, len(trace.nodes) // 2)
    changes: dict[str, Change] = {
        "none": lambda of: of,
        "everybody inflates": attacks.inflate,
        "everybody declares 8 h": attacks.declare,
        "one declares 8 h": lambda of: attacks.declare(of, (leaf,)),
        "one inflates": lambda of: attacks.inflate(of, (leaf,)),
        "kill and resubmit": lambda of: attacks.chain(of, leaf, HOUR),
        "split": lambda of: attacks.split(of, leaf),
        "squat": lambda of: attacks.squat(of, leaf, max(8, fair)),
        "flood": lambda of: attacks.flood(of, leaf, 10 * fair, middle),
        "giant withdrawn": lambda of: attacks.feint(of, leaf, whole, HOUR, 4 * HOUR),
    }
    return changes[attack](trace)


ATTACKS = (
    *("none", "one declares 8 h", "everybody declares 8 h", "one inflates", "everybody inflates"),
    *("kill and resubmit", "split", "squat", "flood", "giant withdrawn"),
)


def attacker(trace: Trace) -> str:
    """The leaf with the median claim."""
    claims = claims_of(trace.shares)
    return sorted(claims, key=lambda leaf: (claims[leaf], leaf))[len(claims) // 2]


def before_after(lab: Lab, seeds: Sequence[int]) -> list[Case]:
    """Under the old policy everybody had come to write the highest priority; ours gets the same workloads."""
    traces = [partial(generate, replace(lab, inflated=True), seed) for seed in seeds]
    return [Case(policy, trace) for policy in ("priority", "budget") for trace in traces]


def policies(lab: Lab, seeds: Sequence[int]) -> list[Case]:
    """All of them on the same workloads."""
    names = ("fifo", "priority", "maxmin", "fairtree", "fairtree-preempt", "kai", "budget")
    return [Case(name, partial(generate, lab, seed)) for name in names for seed in seeds]


def varied(field: str, values: Sequence[tuple[str, int | bool]]) -> Callable[[Lab, Sequence[int]], list[Case]]:
    """Ours with one setting changed, each value a column."""

    def cases(lab: Lab, seeds: Sequence[int]) -> list[Case]:
        return [
            Case("budget", partial(generate, lab, seed), Settings(budget=replace(Policy(), **{field: value})), label)
            for label, value in values
            for seed in seeds
        ]

    return cases


def attacked_cases(lab: Lab, seeds: Sequence[int]) -> list[Case]:
    """Each attack under the old policy and under ours."""
    return [
        Case(policy, partial(attacked, lab, seed, attack), label=f"{policy}, {attack}")
        for policy in ("priority", "budget")
        for attack in ATTACKS
        for seed in seeds
    ]


PARTS: dict[str, Callable[[Lab, Sequence[int]], list[Case]]] = {
    "before-after": before_after,
    "policies": policies,
    "window": varied("window", [(f"window {days} d", days * DAY) for days in (1, 3, 7, 14, 28)]),
    "cap": varied("longest_minimum", [(f"cap {m / 60:g} h", m * MINUTE) for m in (15, 60, 120, 240, 480)]),
    "tick": varied("tick", [(f"tick {s} s", s * SECOND) for s in (1, 10, 60, 300, 900)]),
    "reservation": varied("max_reservations", [(f"{n} reservations", n) for n in (0, 1, 2, 4)]),
    "waiver": varied("waive_at_t", [("waived at T", True), ("not waived", False)]),
    "margin": varied("margin", [(f"margin {m / 1e6:g}", m) for m in (0, 10_000, 50_000, 200_000)]),
    "in-leaf": varied("yields_in_leaf", [("yields in leaf", True), ("stays in leaf", False)]),
    "grace": varied("funded_grace", [(f"grace {s} s", s * SECOND) for s in (10, 30, 60, 120)]),
    "attacks": attacked_cases,
}


def table(columns: dict[str, Row], rows: Sequence[str]) -> str:
    """In Markdown, a column each."""
    lines = [["", *columns], ["---"] * (len(columns) + 1)]
    lines += [[row, *(str(column.get(row)) for column in columns.values())] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def gains(results: Sequence[Result], leaf: str) -> dict[str, Row]:
    """What the attacker used and was delivered, and how the worst of the others fared."""
    found: dict[str, Row] = {}
    for name, of_name in by_name(results).items():
        used = sum(sum(result.picture.hours.used[leaf]) for result in of_name) / HOUR / len(of_name)
        parts = [result.picture.measures.day.leaves for result in of_name]
        others = [part for leaves in parts for other, part in leaves.items() if other != leaf]
        found[name] = {
            "attacker's GPU-hours": round(used),
            "attacker delivered": round(sum(leaves.get(leaf, 1.0) for leaves in parts) / len(parts), 4),
            "worst of the others": round(min(others), 4),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--warmup", type=int, default=7, help="days before what is measured")
    parser.add_argument("--gpus", type=int, default=1024)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    lab = replace(Lab(), warmup=chosen.warmup * DAY, measured=chosen.days * DAY, nodes=chosen.gpus // 8)
    for part in PARTS if chosen.part == "all" else [chosen.part]:
        cases = PARTS[part](lab, range(1, chosen.seeds + 1))
        results = solve_all(cases, chosen.workers, lambda done, of=len(cases): print(f"{done}/{of}", flush=True))
        columns = {name: summary(of_name) for name, of_name in by_name(results).items()}
        print(f"\n## {part}\n\n{table(columns, SHOWN)}")
        if part == "attacks":
            gained = gains(results, attacker(generate(lab, 1)))
            print(f"\n{table(gained, list(next(iter(gained.values()))))}")
        write(results, chosen.out / part)
        draw(results, chosen.out / part)


if __name__ == "__main__":
    main()
