"""The laboratory that the generator describes: its fleet, its tree, what its people ask for, and how often hosts break.

What has no source in its docstring is chosen, and listed in docs/fidelity.md.
"""

from dataclasses import dataclass

from app.core.scheduling.policy import DAY, HOUR, MINUTE
from app.simulate.workloads import Share

SHARES = (
    Share("pretraining", "", 50),
    Share("pretraining/base", "pretraining", 36),
    Share("pretraining/base/language", "pretraining/base", 1),
    Share("pretraining/data", "pretraining", 14),
    Share("pretraining/data/mixtures", "pretraining/data", 1),
    Share("adaptation", "", 32),
    Share("adaptation/tuning", "adaptation", 19),
    Share("adaptation/tuning/instructions", "adaptation/tuning", 8),
    Share("adaptation/tuning/reasoning", "adaptation/tuning", 6),
    Share("adaptation/tuning/safety", "adaptation/tuning", 5),
    Share("adaptation/modalities", "adaptation", 13),
    Share("adaptation/modalities/vision", "adaptation/modalities", 6),
    Share("adaptation/modalities/speech", "adaptation/modalities", 4),
    Share("adaptation/modalities/robots", "adaptation/modalities", 3),
    Share("science", "", 18),
    Share("science/understanding", "science", 12),
    Share("science/understanding/evaluation", "science/understanding", 5),
    Share("science/understanding/interpretation", "science/understanding", 4),
    Share("science/understanding/theory", "science/understanding", 3),
    Share("science/applied", "science", 6),
    Share("science/applied/climate", "science/applied", 2),
    Share("science/applied/biology", "science/applied", 2),
    Share("science/applied/literature", "science/applied", 1),
    Share("science/applied/assistants", "science/applied", 1),
)
"""Three levels, fifteen leaves: claims from 36 % to 1 %; published are 35 % of one project (Ai2), and a skew from
26 % to 1 % for the virtual clusters of Philly."""


@dataclass(frozen=True, slots=True)
class Lab:
    """All that the generator can be told. Times are milliseconds, shares millionths unless said otherwise."""

    nodes: int = 128
    gpus_per_node: int = 8
    shares: tuple[Share, ...] = SHARES
    warmup: int = 7 * DAY
    """Before what is measured: one window, so that usage is at its level."""
    measured: int = 30 * DAY
    """Published: thirty days were compared ("Impactful scheduling for GPU clusters", Ai2, 2026)."""

    funded_mean: int = 800_000
    """Of the capacity: GPU-hours that funded work would use on a fleet without limits, over the measured time."""
    funded_least: int = 600_000
    funded_most: int = 1_400_000
    """What an hour's demand is aimed between, so that it stays between 0.5 and 1.5 of the capacity."""
    total: tuple[int, int] = (2_200_000, 2_800_000)
    """Of the capacity, what is aimed at on the emptiest and on the fullest day, funded and unfunded; published: two to
    three times the supply was outstanding (Ai2)."""
    gang_cap: int = 750_000
    """The largest gang of a leaf is the power of two at or below so much of its claim on the fleet."""
    large_most: int = 800_000
    """People see their claim: large jobs are submitted when those of their leaf stay below so much of it."""
    idle: tuple[int, int] = (24 * HOUR, 500_000)
    steady: tuple[int, int] = (48 * HOUR, 700_000)
    burst: tuple[int, int] = (4 * HOUR, 3_000_000)
    """A leaf's moods: how long one lasts on average, and its demand in parts of its claim."""
    crunch: tuple[int, int] = (140_000, 1_800_000)
    """How many days everybody has a deadline, and what their demand rises to in the working hours of such a day."""
    slack: tuple[int, int] = (140_000, 500_000)
    """How many days are quiet, such as holidays, and what everybody's demand falls to."""
    at_night: int = 400_000
    at_weekends: int = 400_000
    """How many small jobs and how much debugging there is then, in parts of what a working hour has."""
    sweep: int = 4
    """Small jobs that are submitted together, on average: arrivals are far from Poisson (Philly: CV 15)."""

    kalos: int = 500_000
    """How many jobs are drawn from Kalos; the rest is drawn from Seren (NSDI 2024)."""
    training: int = 500_000
    """Of the small jobs: they last as pretraining does; the others as all GPU jobs of their cluster."""
    longest: int = DAY
    unfunded_longest: int = DAY
    unfunded_largest: int = 64
    """GPUs of a gang that is content with what is left over."""
    unfunded_patience: int = 12 * HOUR
    """Unfunded work is withdrawn when it is not done so long after the time that it needs."""

    debug: int = 450_000
    """Of the funded jobs: at most 15 minutes, on one node."""
    debug_longest: int = 15 * MINUTE
    debug_minimums: tuple[tuple[int, int], ...] = ((5 * MINUTE, 2), (10 * MINUTE, 3), (15 * MINUTE, 5))
    gang_minimums: tuple[tuple[int, int], ...] = ((HOUR, 2), (2 * HOUR, 3), (4 * HOUR, 3), (8 * HOUR, 2))
    small_minimums: tuple[tuple[int, int], ...] = ((30 * MINUTE, 3), (HOUR, 4), (2 * HOUR, 2), (4 * HOUR, 1))
    """Minimum runtimes and their weights; a debug job's is at least the time it needs."""
    checkpoints: tuple[tuple[int, int], ...] = ((15 * MINUTE, 3), (30 * MINUTE, 4), (60 * MINUTE, 3))
    not_resumable: int = 100_000
    """Of the jobs that are neither debugging nor gangs; they never save their work."""
    sessions: int = 20_000
    """Of the funded jobs: one GPU that somebody works on."""
    session_minimum: int = 8 * HOUR
    priorities: tuple[tuple[int, int], ...] = ((0, 2), (1, 6), (2, 2))
    inflated: bool = False
    """Whether everybody writes the highest priority; published of the old policy: in the end all of it was (Ai2)."""

    mishaps: int = 6_500
    """Per million node-days: 6.5 in a thousand (chosen, after what is remembered of Meta's RSC-1; see fidelity.md)."""
    gone: int = 300_000
    """Of the mishaps: the node is lost at once, without time to drain it."""
    repair: tuple[int, int] = (30 * MINUTE, 8 * HOUR)
    """The shortest and the longest repair; in between the same chance for each ratio."""

    @property
    def gpus(self) -> int:
        return self.nodes * self.gpus_per_node

    @property
    def highest(self) -> int:
        return max(priority for priority, _ in self.priorities)

    @property
    def ends(self) -> int:
        return self.warmup + self.measured
