"""Traces of a laboratory that trains language models: from published distributions, alike byte for byte by seed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import repeat

from app.core.scheduling.policy import HOUR
from app.simulate.asking import SECOND, Asking, until
from app.simulate.demand import Level, aims, claims
from app.simulate.distributions import WHOLE, Stream
from app.simulate.lab import Lab
from app.simulate.mishaps import mishaps
from app.simulate.placing import Placing, is_large
from app.simulate.workloads import Job, Node, Trace

CLOSE_ENOUGH = 500
"""Millionths of the capacity by which the mean demand may miss the one that was asked for."""


def generate(lab: Lab, seed: int) -> Trace:
    """The trace of this laboratory and seed; its funded demand has the mean that the laboratory names."""
    parts = claims(lab.shares)
    asking = {leaf: Asking(lab, seed, leaf, claim) for leaf, claim in parts.items()}
    placing = _funded(lab, seed, asking)
    _calibrate(lab, Stream(seed, "calibrate"), placing, asking)
    _debugging(lab, placing, asking)
    _calibrate(lab, Stream(seed, "calibrate with debugging"), placing, asking)
    unfunded = _unfunded(lab, seed, placing.level, asking, tuple(parts.items()))
    nodes = tuple(Node(f"node-{at:04d}", lab.gpus_per_node) for at in range(lab.nodes))
    return Trace(
        name=f"generated-{seed}",
        jobs=_numbered(lab, [*placing.jobs, *unfunded]),
        nodes=nodes,
        shares=lab.shares,
        begins=lab.warmup,
        ends=lab.ends,
        mishaps=mishaps(lab, seed, nodes),
        source="Generated; sizes and durations after AcmeTrace (Seren and Kalos), CC BY 4.0.",
    )


def _numbered(lab: Lab, jobs: Iterable[tuple[int, Job]]) -> tuple[Job, ...]:
    """By submit time, with ids in that order; unfunded jobs are withdrawn some time after they could be done."""
    found = []
    for at, (submit, job) in enumerate(sorted(jobs, key=lambda pair: (pair[0], str(pair[1].leaf)))):
        withdraw = None if job.min_runtime else submit + job.runtime + lab.unfunded_patience
        found.append(replace(job, id=f"job-{at:06d}", submit=submit, withdraw=withdraw))
    return tuple(found)


def funded_demand(trace: Trace) -> list[int]:
    """Millionths of the fleet that funded work would use in each measured hour, were there no limits."""
    level = Level(trace.ends // HOUR)
    for job in trace.jobs:
        if job.min_runtime:
            level.add(job.submit, job.submit + job.runtime, job.size)
    return [hour * WHOLE // (trace.gpus * 3600) for hour in level.hours[trace.begins // HOUR :]]


def _funded(lab: Lab, seed: int, asking: dict[str, Asking]) -> Placing:
    wanted = aims(lab, seed)
    placing = Placing(lab, seed, wanted)
    drawn = {leaf: until(map(Asking.work, repeat(asking[leaf])), sum(wanted[leaf])) for leaf in wanted}
    placing.place_large([job for jobs in drawn.values() for job in jobs if is_large(job)])
    for leaf, jobs in drawn.items():
        mine = [(at, job) for at, job in placing.jobs if job.leaf == leaf]
        beyond = sum(job.size * max(0, at + job.runtime - lab.ends) for at, job in mine)
        more = until(map(Asking.work, repeat(asking[leaf])), beyond // SECOND)
        placing.place_large([job for job in more if is_large(job)])
        drawn[leaf] = jobs + more
    for leaf, jobs in drawn.items():
        placing.place_small(leaf, [job for job in jobs if not is_large(job)])
    return placing


def _debugging(lab: Lab, placing: Placing, asking: dict[str, Asking]) -> None:
    counts = Counter(str(job.leaf) for _, job in placing.jobs)
    for leaf in asking:
        debug = counts[leaf] * lab.debug // (WHOLE - lab.debug)
        placing.place_debug(leaf, [asking[leaf].debug() for _ in range(debug)])


def _calibrate(lab: Lab, stream: Stream, placing: Placing, asking: dict[str, Asking]) -> None:
    """Takes small jobs away, or adds some, until the mean demand of the measured time is as asked for."""
    first, allowed = lab.warmup // HOUR, lab.gpus * (lab.measured // SECOND) * CLOSE_ENOUGH // WHOLE
    excess = sum(placing.level.hours[first:]) - lab.gpus * (lab.measured // SECOND) * lab.funded_mean // WHOLE
    excess -= _drop(lab, stream, placing, excess - allowed)
    leaves = tuple(claims(lab.shares).items())
    while excess < -allowed:
        leaf = stream.pick(leaves)
        batch = [job for job in (asking[leaf].work() for _ in range(20)) if _is_spare(job)]
        before = sum(placing.level.hours[first:])
        placing.place_small(leaf, batch)
        excess += sum(placing.level.hours[first:]) - before


def _drop(lab: Lab, stream: Stream, placing: Placing, gpu_seconds: int) -> int:
    """Takes so much away, and says how much it was: small jobs, and large ones where those do not suffice."""
    measured = [at for at, (submit, job) in enumerate(placing.jobs) if lab.warmup <= submit and not job.debug]
    small = [at for at in measured if not is_large(placing.jobs[at][1])]
    large = [at for at in measured if is_large(placing.jobs[at][1])]
    dropped: set[int] = set()
    done = 0
    while done < gpu_seconds and (small or large):
        pool = small or large
        at = pool.pop(stream.below(len(pool)))
        dropped.add(at)
        submit, job = placing.jobs[at]
        placing.level.add(submit, submit + job.runtime, -job.size)
        done += job.size * min(job.runtime, lab.ends - submit) // SECOND
    placing.jobs = [job for at, job in enumerate(placing.jobs) if at not in dropped]
    return done


def _is_spare(job: Job) -> bool:
    return not job.debug and not is_large(job)


def _unfunded(
    lab: Lab, seed: int, funded: Level, asking: dict[str, Asking], leaves: tuple[tuple[str, int], ...]
) -> list[tuple[int, Job]]:
    """Fills up: every hour as many are submitted as lack to the day's total, counted until they are withdrawn."""
    stream, level, hours = Stream(seed, "unfunded"), Level(len(funded.hours)), len(funded.hours)
    least, most = lab.total
    found = []
    for hour in range(hours - 1):
        if hour % 24 == 0:
            aim = lab.gpus * 3600 * (least + stream.below(most - least + 1)) // WHOLE
        while level.hours[hour + 1] + funded.hours[hour + 1] < aim:
            job = asking[stream.pick(leaves)].unfunded()
            submit = hour * HOUR + stream.below(3600) * SECOND
            level.add(submit, submit + job.runtime + lab.unfunded_patience, job.size)
            found.append((submit, job))
    return found
