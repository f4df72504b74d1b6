"""Small traces, by hand and at random."""

from random import Random

from app.core.scheduling.policy import HOUR, MINUTE, SECOND
from app.simulate.workloads import Job, Mishap, Node, Share, Trace

__all__ = ["HOUR", "MINUTE", "SECOND", "TREE", "at_random", "trace"]

TREE = (Share("lab", "", 3), Share("shop", "", 2), Share("lab.a", "lab", 1), Share("lab.b", "lab", 2))


def trace(*jobs: Job, nodes: int = 2, gpus: int = 8, hours: int = 24, mishaps: tuple[Mishap, ...] = ()) -> Trace:
    """Jobs on a few nodes, for a day, measured from the beginning; leaves a and b share equally."""
    fleet = [Node(f"n{number}", gpus) for number in range(nodes)]
    shares = [Share("a", "", 1), Share("b", "", 1)]
    return Trace("by hand", sorted(jobs, key=lambda job: job.submit), fleet, shares, 0, hours * HOUR, mishaps)


def at_random(seed: int, *, jobs: int = 40, nodes: int = 3, hours: int = 36, mishaps: int = 3) -> Trace:
    """Funded and unfunded gangs of three leaves, more than fit, on nodes that break."""
    random = Random(seed)
    found = [_job(random, number, nodes, hours) for number in range(jobs)]
    found.sort(key=lambda job: job.submit)
    breaks = [
        Mishap(
            random.randrange(hours * HOUR),
            f"n{random.randrange(nodes)}",
            random.random() < 0.5,
            random.randrange(1, 4 * HOUR),
        )
        for _ in range(mishaps)
    ]
    fleet = [Node(f"n{number}", 8) for number in range(nodes)]
    return Trace(f"random {seed}", found, fleet, TREE, random.randrange(12) * HOUR, hours * HOUR, breaks)


def _job(random: Random, number: int, nodes: int, hours: int) -> Job:
    gpus = random.choice([1, 2, 4, 8, 8])
    submit = random.randrange(hours * HOUR * 3 // 4)
    leaf = random.choice(["lab.a", "lab.b", "shop", None])
    return Job(
        f"j{number}",
        submit,
        random.choice([random.randrange(20 * MINUTE), random.randrange(20 * HOUR)]),
        gpus,
        replicas=random.randint(1, nodes) if gpus == 8 else 1,
        leaf=leaf,
        min_runtime=0 if leaf is None else random.choice([0, 5 * MINUTE, HOUR, 8 * HOUR]),
        priority=random.randrange(3),
        resumable=random.random() < 0.8,
        checkpoint=random.choice([None, 10 * MINUTE, HOUR]),
        debug=random.random() < 0.3,
        withdraw=submit + random.randrange(10 * HOUR) if random.random() < 0.1 else None,
    )
