"""The fleet as a simulation keeps it: who runs where, how much of each job's work is left, and what it cost."""

from app.core.scheduling.policy import SECOND
from app.core.scheduling.workload import saved
from app.simulate.records import NEVER, Cause, Run
from app.simulate.workloads import Node

Places = tuple[tuple[str, int], ...]


class Unsound(Exception):
    """A policy did what no fleet can: it is wrong, not the trace."""


class Execution:
    """What runs. Columns go by the job's number in the trace."""

    def __init__(self, record: Run) -> None:
        self.record = record
        jobs = record.trace.jobs
        self.jobs = jobs
        self.remaining = [job.runtime for job in jobs]
        self.ends = [NEVER] * len(jobs)
        """When it is done, if nothing comes between; NEVER: it makes no progress."""
        self._since = [NEVER] * len(jobs)
        """From when on its work counts."""
        self._places: dict[int, dict[str, int]] = {}
        """Of those that run."""
        self._segment: dict[int, tuple[int, int, bool]] = {}
        """Its GPUs, since when, funded or not."""
        self._free: dict[str, int] = {}
        self._residents: dict[str, dict[int, None]] = {}
        self._draining: dict[str, int] = {}
        """GPUs that are held on each."""
        self._capacity = 0
        self._close = record.segments.flat.extend
        self._lose = record.losses.flat.extend

    # Nodes

    def ready(self, node: Node, now: int) -> None:
        self._free[node.id] = node.gpus
        self._residents[node.id] = {}
        self._change_capacity(now, node.gpus)

    def drain(self, name: str, now: int) -> None:
        """From now on its free GPUs are no capacity."""
        self._draining[name] = self._held(name)
        self._change_capacity(now, -self._free[name])

    def drained(self, name: str, now: int) -> None:
        if self._draining.pop(name, None) is None or self._residents[name]:
            raise Unsound(f"Node {name} is called drained, and is not.")
        del self._free[name], self._residents[name]

    def lose(self, name: str, now: int) -> None:
        """Whoever ran there goes on with fewer GPUs and without progress, back at its last checkpoint (FS-19)."""
        held = self._draining.pop(name, None)
        self._change_capacity(now, -(self._held(name) + self._free[name] if held is None else held))
        for number in list(self._residents[name]):
            self.interrupt(number, now, Cause.NODE)
            places = self._places[number]
            del places[name]
            gpus = self.jobs[number].gpus * sum(places.values())
            self._turn(number, now, gpus, self._segment[number][2])
        del self._free[name], self._residents[name]

    def residents(self, name: str) -> list[int]:
        """Who runs there, by number."""
        return sorted(self._residents[name])

    def _held(self, name: str) -> int:
        jobs = self.jobs
        return sum(self._places[number][name] * jobs[number].gpus for number in self._residents[name])

    def _change_capacity(self, now: int, gpus: int) -> None:
        self._capacity += gpus
        line = self.record.capacity
        if line and line[-1][0] == now:
            line[-1] = (now, self._capacity)
        elif gpus:
            line.append((now, self._capacity))

    # Jobs

    def start(self, number: int, now: int, places: Places, funded: bool) -> None:
        """It runs, whole; if it ran already, it was moved."""
        record, job = self.record, self.jobs[number]
        if number in self._places:
            self.interrupt(number, now, Cause.MOVED)
            self.release(number, now)
        elif record.first_start[number] == NEVER:
            record.first_start[number] = now
        record.starts[number] += 1
        self._places[number] = {}
        self._segment[number] = (job.gpus * job.replicas, now, funded)
        if self._occupy(number, places) != job.replicas:
            raise Unsound(f"Job {job.id} has started with less than its gang.")
        self._go_on(number, now)

    def fill(self, number: int, now: int, places: Places) -> None:
        """Lost replicas are back."""
        held, job = self._occupy(number, places), self.jobs[number]
        self._turn(number, now, job.gpus * held, self._segment[number][2])
        if held == job.replicas:
            self._go_on(number, now)

    def unfund(self, number: int, now: int) -> None:
        self._turn(number, now, self._segment[number][0], False)

    def interrupt(self, number: int, now: int, cause: Cause) -> None:
        """It loses what it has done since its last checkpoint: all, if it saves nothing or cannot be resumed."""
        since = self._since[number]
        if since == NEVER:
            return
        job = self.jobs[number]
        ran = now - since
        kept = saved(ran, job.checkpoint, resumable=job.resumable)
        self.remaining[number] -= kept
        self._since[number] = self.ends[number] = NEVER
        self._lose((now, number, (ran - kept) * job.gpus * job.replicas, cause, self._segment[number][2]))

    def release(self, number: int, now: int) -> None:
        """It holds nothing any more."""
        places = self._places.pop(number, None)
        if places is None:
            return
        self._since[number] = self.ends[number] = NEVER
        held, start, funded = self._segment.pop(number)
        if held and now > start:
            self._close((number, held, start, now, funded))
        gpus = self.jobs[number].gpus
        for name, count in places.items():
            del self._residents[name][number]
            self._free[name] += count * gpus
            if name in self._draining:
                self._draining[name] -= count * gpus
                self._change_capacity(now, -count * gpus)

    def close(self, now: int) -> None:
        """The trace is over: what still runs is kept until now."""
        for number in list(self._segment):
            self._turn(number, now, 0, False)

    def _occupy(self, number: int, places: Places) -> int:
        """It holds these replicas, too; how many it has now."""
        gpus, held = self.jobs[number].gpus, self._places[number]
        for name, count in places:
            free = self._free.get(name, 0) - count * gpus
            if free < 0 or count < 1 or name in self._draining:
                raise Unsound(f"Job {self.jobs[number].id} was put on {name}, which has no room for it.")
            self._free[name] = free
            self._residents[name][number] = None
            held[name] = held.get(name, 0) + count
        return sum(held.values())

    def _go_on(self, number: int, now: int) -> None:
        """It is whole: its work counts from now on."""
        self._since[number] = now
        self.ends[number] = max(-(-(now + self.remaining[number]) // SECOND), now // SECOND + 1) * SECOND

    def _turn(self, number: int, now: int, gpus: int, funded: bool) -> None:
        """A segment closes, and another begins."""
        held, start, was = self._segment[number]
        if held and now > start:
            self._close((number, held, start, now, was))
        self._segment[number] = (gpus, now, funded)
