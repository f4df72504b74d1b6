"""How fast the scheduler thinks: simulated days a second, and what a pass costs among ten thousand that wait.

    python -m benchmarks.scheduler_speed [DAYS] [SEED]

One process, the full rules, no database: the policy is called as the service and the simulator call it. Times are of
the process's CPU, but for the percentile and the longest pass, which are of the clock on the wall. What it takes to
make the load and to hash the decisions is not counted. The peer is a first-in-first-out loop without any rules over
jobs of the same kind, as the least that such a simulation costs in Python. Equal hashes before and after a change of
the code mean equal decisions.
"""

import hashlib
import sys
import time
from heapq import heappop, heappush

from app.core.scheduling import events
from app.core.scheduling.decisions import Admit, Decision, Requeue
from app.core.scheduling.packing import Host
from app.core.scheduling.policy import DAY, HOUR, MINUTE, SECOND, Policy
from app.core.scheduling.quota import Quota
from app.core.scheduling.quotas import set_quotas
from app.core.scheduling.schedule import next_due, schedule
from app.core.scheduling.state import State
from app.core.scheduling.workload import Status, Workload
from benchmarks.scheduler_load import Job, Load, Mishap, fleet, workload


class Run:
    """The lab under the scheduler; all events of one `step` are one pass at its end."""

    def __init__(
        self, gpus: int = 1024, leaves: int = 15, seed: int = 1, policy: Policy | None = None, step: int = SECOND
    ) -> None:
        self.step = step
        self.load = Load(gpus, leaves, seed)
        self.state = fleet(gpus, leaves, policy)
        self.jobs: dict[str, Job] = {}
        self.left: dict[str, int] = {}
        self.started: dict[str, int] = {}
        self.outstanding = 0
        self.queue: list[tuple[int, int, str, object]] = []
        self.count = self.events = 0
        self.passes: list[float] = []
        """Seconds of each, of the clock on the wall."""
        self.made: list[Decision] = []
        """What is not hashed yet."""
        self.own = 0.0
        """Seconds that the benchmark took for itself."""
        self.digest = hashlib.sha256()
        self.decided: dict[str, int] = {}
        self.funded_waits: list[tuple[int, int]] = []

    def days(self, days: float) -> float:
        """Run so many days; the seconds that events, passes and the question about the next one took."""
        end, began, own = int(days * DAY), time.process_time(), self.own
        self._at(0, "hour", None)
        due: int | None = None
        while True:
            now = self.queue[0][0] if due is None else min(self.queue[0][0], due)
            if now > end:
                spent = time.process_time() - began - (self.own - own)
                self._hash()
                return spent
            while self.queue[0][0] == now:
                _, _, what, value = heappop(self.queue)
                self._happen(now, what, value)
            start = time.perf_counter()
            made = schedule(self.state, now)
            self.passes.append(time.perf_counter() - start)
            if made:
                self.made += made
                self._follow(now, made)
            due = next_due(self.state, now)
            if due is not None:
                due = -(-due // self.step) * self.step

    def _at(self, at: int, what: str, value: object) -> None:
        self.count += 1
        heappush(self.queue, (-(-at // self.step) * self.step, self.count, what, value))

    def _hash(self) -> None:
        for decision in self.made:
            self.digest.update(repr(decision).encode())
            kind = type(decision).__name__
            self.decided[kind] = self.decided.get(kind, 0) + 1
        self.made.clear()

    def _happen(self, now: int, what: str, value: object) -> None:
        if isinstance(value, Job):
            self.events += 1
            self.jobs[value.name], self.left[value.name] = value, value.runtime
            self.outstanding += value.gpus * value.replicas
            events.submit(self.state, workload(value), now)
        elif what == "finish" and isinstance(value, tuple):
            name, attempt = value
            if name in self.started and self.state.workloads[name].attempt == attempt:
                self.events += 1
                self._forget(name)
                events.finish(self.state, name, now)
        elif isinstance(value, Mishap):
            self._break(now, what, value)
        else:
            began = time.process_time()
            self._hash()
            jobs = self.load.hour(now, self.outstanding)
            self.own += time.process_time() - began
            for job in jobs:
                self._at(job.submit, "submit", job)
            for mishap in self.load.mishaps(now):
                self._at(mishap.at, "breaks", mishap)
            self._at(now + HOUR, "hour", None)
            for log in (self.state.ledger, self.state.capacity_log, self.state.touched, self.state.touched_hosts):
                log.clear()

    def _break(self, now: int, what: str, mishap: Mishap) -> None:
        self.events += 1
        host = self.state.hosts.get(mishap.node)
        if what == "back":
            events.node_ready(self.state, mishap.node, now, gpus=8)
        elif host is not None and host.state == Host.HEALTHY:
            (events.node_lost if mishap.gone else events.drain)(self.state, mishap.node, now)
            self._at(mishap.back, "back", mishap)

    def _forget(self, name: str) -> None:
        job = self.jobs.pop(name)
        del self.left[name]
        self.started.pop(name, None)
        self.outstanding -= job.gpus * job.replicas

    def _follow(self, now: int, made: list[Decision]) -> None:
        for decision in made:
            if isinstance(decision, Admit):
                name = decision.workload
                self._stop(name, now)
                job, attempt = self.jobs[name], self.state.workloads[name].attempt
                if attempt == 1 and decision.funded:
                    self.funded_waits.append((job.gpus * job.replicas, now - job.submit))
                self.started[name] = now
                self._at(now + self.left[name], "finish", (name, attempt))
            elif isinstance(decision, Requeue):
                self._stop(decision.workload, now)
                if not decision.resumed:
                    self._forget(decision.workload)

    def _stop(self, name: str, now: int) -> None:
        """What it has done up to its last checkpoint stays done."""
        began = self.started.pop(name, None)
        if began is not None:
            done = (now - began) // (30 * MINUTE) * 30 * MINUTE
            self.left[name] = max(SECOND, self.left[name] - done)


def first_in_first_out(days: float, gpus: int, seed: int) -> float:
    """Seconds for the same hours of jobs, started in the order in which they came, on GPUs that are all alike."""
    load, end = Load(gpus, 15, seed), int(days * DAY)
    began = time.process_time()
    queue: list[tuple[int, int, Job | None]] = [(0, 0, None)]
    waiting: list[Job] = []
    head, free, count, outstanding = 0, gpus, 0, 0
    while queue[0][0] <= end:
        now, kind, job = heappop(queue)
        if job is None:
            for new in load.hour(now, outstanding):
                count += 1
                heappush(queue, (new.submit, count, new))
            heappush(queue, (now + HOUR, 0, None))
        elif kind > 0:
            waiting.append(job)
            outstanding += job.gpus * job.replicas
        else:
            free += job.gpus * job.replicas
            outstanding -= job.gpus * job.replicas
        while head < len(waiting) and waiting[head].gpus * waiting[head].replicas <= free:
            job = waiting[head]
            head += 1
            count += 1
            free -= job.gpus * job.replicas
            heappush(queue, (now + job.runtime, -count, job))
    return time.process_time() - began


def among_many(waiting: int, nodes: int, leaves: int = 15) -> list[tuple[str, float, int]]:
    """Passes while so many wait on a full fleet, one node in ten of which is past its protection: milliseconds and
    decisions of the pass that evicts whom it may, of one a minute after its graces, at a submission and at an end."""
    state = fleet(nodes * 8, leaves)
    for number in range(nodes):
        minimum = 8 * HOUR if number % 10 else HOUR
        leaf = f"leaf{number % leaves:02}"
        events.submit(state, Workload(f"r{number}", leaf=leaf, gpus=8, min_runtime=minimum, submit=0), 0)
    schedule(state, 0)
    for number in range(waiting):
        events.submit(
            state,
            Workload(
                f"q{number}",
                leaf=f"leaf{number * 7 % leaves:02}",
                gpus=(1, 2, 4, 8, 8)[number % 5],
                replicas=(1, 1, 1, 2, 8)[number % 5],
                min_runtime=MINUTE * (5 + number % 60) if number % 3 else 0,
                submit=number,
            ),
            number,
        )
    schedule(state, waiting)
    at = HOUR + 30 * MINUTE
    found = [_timed("all are looked at", state, at)]
    for _ in range(3):
        at += MINUTE
        schedule(state, at)
    found.append(_timed("a minute later", state, at + MINUTE))
    events.submit(state, Workload("new", leaf="leaf00", gpus=1, min_runtime=MINUTE, submit=0), at + MINUTE + SECOND)
    found.append(_timed("a submission", state, at + MINUTE + SECOND))
    running = next(w.id for w in state.workloads.values() if w.status is Status.RUNNING)
    events.finish(state, running, at + MINUTE + 2 * SECOND)
    found.append(_timed("an end", state, at + MINUTE + 2 * SECOND))
    return found


def among_teams(teams: int, waiting: int = 10_000, nodes: int = 1000) -> list[tuple[str, float, int]]:
    """Likewise on a fleet that is split by compute quotas; passes when not much has changed."""
    state, gpus = State(), nodes * 8
    for number in range(nodes):
        events.node_ready(state, f"n{number:04}", 0, gpus=8)
    quotas = [
        Quota(f"t{n:02}", gpus // teams * (4 + n % 3) // 6, borrow_limit=gpus // 2, weight=n % 4, lends=n % 5 > 0)
        for n in range(teams)
    ]
    set_quotas(state, quotas, 0, idle_sharing=True)
    for number in range(nodes):
        minimum = 0 if number % 2 else HOUR
        job = Workload(f"r{number}", leaf=f"t{number * number % teams:02}", gpus=8, min_runtime=minimum, submit=0)
        events.submit(state, job, 0)
    schedule(state, 0)
    for number in range(waiting):
        gpus, replicas = ((1, 1), (2, 1), (4, 1), (8, 2), (8, 8))[number % 5]
        leaf, minimum = f"t{number * 7 % teams:02}", MINUTE * (5 + number % 60) if number % 3 else 0
        job = Workload(f"q{number}", leaf=leaf, gpus=gpus, replicas=replicas, min_runtime=minimum, submit=number)
        events.submit(state, job, number)
    for minute in (1, 2, 3):
        schedule(state, waiting + minute * MINUTE)
    at = waiting + 4 * MINUTE
    found = [_timed("nothing happened", state, at)]
    events.submit(state, Workload("new", leaf="t00", gpus=1, submit=at), at + SECOND)
    found.append(_timed("a submission", state, at + SECOND))
    running = next(w.id for w in state.workloads.values() if w.status is Status.RUNNING)
    events.finish(state, running, at + 2 * SECOND)
    found.append(_timed("an end", state, at + 2 * SECOND))
    return found


def _timed(what: str, state: State, now: int) -> tuple[str, float, int]:
    start = time.process_time()
    made = schedule(state, now)
    return what, (time.process_time() - start) * 1000, len(made)


def _report(run: Run, days: float, seconds: float, label: str) -> float:
    passes = sorted(run.passes)
    late, wall = passes[len(passes) * 99 // 100] * 1e6, sum(passes)
    decisions = sum(run.decided.values())
    print(
        f"{label:32} {days / seconds:6.2f} days/s; a day has {run.events / days:.0f} events, {len(passes) / days:.0f}"
        f" passes, {decisions / days:.0f} decisions; {seconds / len(passes) * 1e6:.0f} us a pass with its events,"
        f" {seconds / run.events * 1e6:.0f} an event, {seconds / decisions * 1e6:.0f} a decision; on the wall a pass"
        f" {wall / len(passes) * 1e6:.0f}, p99 {late:.0f} us, longest {passes[-1] * 1e3:.1f} ms;"
        f" hash {run.digest.hexdigest()[:12]}"
    )
    return days / seconds


def measure(days: float, gpus: int, leaves: int, seed: int, step: int = SECOND) -> float:
    run = Run(gpus, leaves, seed, step=step)
    label = f"{gpus} GPUs, {leaves} leaves" + (f", every {step // SECOND} s" if step > SECOND else "")
    return _report(run, days, run.days(days), label)


def main(days: int = 10, seed: int = 1) -> None:
    ours = measure(days, 1024, 15, seed)
    plain = days / first_in_first_out(days, 1024, seed)
    print(f"{'first in, first out':32} {plain:6.2f} days/s, without any rules: {plain / ours:.1f} times as fast")
    measure(max(1, days // 2), 1024, 15, seed, 30 * SECOND)
    for gpus, leaves in ((1024, 40), (512, 15), (4096, 15)):
        measure(max(1, days * 1024 // gpus // 4), gpus, leaves, seed)
    for waiting, nodes in ((10_000, 1000), (20_000, 1000), (10_000, 2000)):
        for what, spent, decisions in among_many(waiting, nodes):
            print(f"{waiting:6} waiting, {nodes:4} nodes, {what:18} {spent:7.2f} ms, {decisions} decisions")
    for teams in (5, 20):
        for what, spent, decisions in among_teams(teams):
            print(f" 10000 waiting, 1000 nodes, {teams} teams, {what:18} {spent:7.2f} ms, {decisions} decisions")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
