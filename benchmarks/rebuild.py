"""What it costs to build the state of a fleet again from what is kept, next to reading that, and to one pass.

    python -m benchmarks.rebuild

At the largest size: 1,000 nodes of 8 GPUs that are full, 10,000 workloads that wait, and 50,000 segments in a window of
seven days, charged to 12 leaves of a tree of three levels. `reading` is the JSON of workloads and hosts, from text; no
database is read. Seconds are this process's own, whatever else the machine does; `to reading` is their ratio. The
exponent is the slope of log(seconds) over log(nodes): 1 is linear.
"""

import json
import time
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from app.core.scheduling import events
from app.core.scheduling.history import ChangeKind, TreeChange, apply_change
from app.core.scheduling.keeping import Kept, KeptHost, keep_flags, rebuild
from app.core.scheduling.policy import DAY, HOUR, MINUTE, Policy
from app.core.scheduling.schedule import schedule
from app.core.scheduling.state import State
from app.core.scheduling.usage import Segment
from app.core.scheduling.workload import Workload
from benchmarks.scale import slope
from tests.core.keeping import keep_host, kept_workload, row

SIZES = (125, 250, 500, 1000)
GPUS, WAITING, SEGMENTS = 8, 10, 50
"""The last two a node."""
NOW = 30 * DAY
GROUPS, TEAMS = 3, 4


def plant(state: State) -> list[TreeChange]:
    """Groups, their teams, and one new weight a day."""
    changes: list[TreeChange] = []

    def add(kind: ChangeKind, name: str, parent: str = "", weight: int = 1, at: int = 0) -> None:
        changes.append(TreeChange(len(changes) + 1, at, kind, name, parent, weight))
        apply_change(state, changes[-1])

    for group in range(GROUPS):
        add(ChangeKind.CREATE, f"g{group}", weight=group + 1)
        for team in range(TEAMS):
            add(ChangeKind.CREATE, f"g{group}t{team}", f"g{group}", team + 1)
    for day in range(NOW // DAY):
        add(ChangeKind.REWEIGHT, f"g{day % GROUPS}", weight=1 + day % 5, at=day * DAY)
    return changes


def leaf(number: int) -> str:
    return f"g{number % GROUPS}t{number // GROUPS % TEAMS}"


def fill(nodes: int) -> tuple[State, list[TreeChange]]:
    """A fleet that is full, and what waits for it."""
    state = State(Policy())
    for number in range(nodes):
        events.node_ready(state, f"n{number}", 0, gpus=GPUS)
    changes = plant(state)
    for number in range(nodes * (WAITING + 4)):
        gpus, minimum = 1 << number % 4, 15 * MINUTE * (1 + number % 32)
        workload = Workload(f"w{number}", leaf=leaf(number), gpus=gpus, min_runtime=minimum, submit=NOW)
        events.submit(state, workload, NOW)
    schedule(state, NOW)
    return state, changes


def past(nodes: int) -> list[Segment]:
    """What ran in the window, evenly spread over it."""
    count = nodes * SEGMENTS
    starts = (NOW - 7 * DAY + number * (7 * DAY - HOUR) // count for number in range(count))
    return [Segment(leaf(number), f"p{number}", 1, 8, start, start + HOUR, True) for number, start in enumerate(starts)]


def keep(state: State) -> str:
    workloads = list(map(row, state.workloads.values()))
    return json.dumps([keep_flags(state), workloads, [asdict(keep_host(host)) for host in state.hosts.values()]])


def build(rows: list[Any], state: State, changes: list[TreeChange], segments: list[Segment]) -> State:
    flags, kept, hosts = rows
    workloads = list(map(kept_workload, kept))
    capacity = state.capacity_log
    return rebuild(Kept(Policy(), flags, changes, capacity, segments, [KeptHost(**row) for row in hosts], workloads))


def main() -> None:
    spent: dict[int, float] = {}
    print(
        f"{'nodes':>6} {'waiting':>8} {'segments':>9} {'reading':>9} {'building':>9} {'to reading':>11} {'a pass':>9}"
    )
    for nodes in SIZES:
        state, changes = fill(nodes)
        segments, text = past(nodes), keep(state)
        moments = [time.process_time()]
        rows = json.loads(text)
        moments.append(time.process_time())
        rebuilt = build(rows, state, changes, segments)
        moments.append(time.process_time())
        schedule(rebuilt, NOW + MINUTE)
        moments.append(time.process_time())
        reading, building, passing = (after - before for before, after in pairwise(moments))
        spent[nodes] = building
        counts = f"{nodes:>6} {state.root.waiting_below:>8} {len(segments):>9}"
        print(f"{counts} {reading:>7.3f} s {building:>7.3f} s {building / reading:>11.1f} {passing:>7.3f} s")
    print(f"exponent of building: {slope(spent):.2f}")


if __name__ == "__main__":
    main()
