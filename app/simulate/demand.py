"""When leaves ask for how much: an hourly aim for each, and the level that the submitted work reaches by hour.

Demand is what work would use on a fleet without limits: its GPUs from its submission until its runtime is over.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from app.core.scheduling.policy import HOUR
from app.simulate.distributions import WHOLE, Curve, Stream
from app.simulate.lab import Lab
from app.simulate.workloads import Share

EXPONENTIAL = Curve(
    (10, 51, 105, 223, 357, 511, 693, 916, 1204, 1609, 2303, 2996, 4605, 6908),
    (
        9_950,
        49_732,
        99_675,
        199_886,
        300_227,
        400_104,
        499_926,
        599_883,
        700_009,
        799_912,
        900_041,
        950_013,
        990_000,
        WHOLE,
    ),
)
"""Thousandths of the mean, cut at the thousandth part."""


def claims(shares: Sequence[Share]) -> dict[str, int]:
    """Each leaf's claim, in millionths, rounded down."""
    total: dict[str, int] = {}
    for share in shares:
        total[share.parent] = total.get(share.parent, 0) + share.weight
    parents = {share.id: share for share in shares}
    found = {}
    for share in shares:
        if share.id in total:
            continue
        above, below = 1, 1
        step: Share | None = share
        while step is not None:
            above, below = above * step.weight, below * total[step.parent]
            step = parents.get(step.parent)
        found[share.id] = above * WHOLE // below
    return found


class Level:
    """GPU-seconds demanded in each hour."""

    __slots__ = ("hours",)

    def __init__(self, hours: int) -> None:
        self.hours = [0] * hours

    def add(self, start: int, end: int, gpus: int) -> None:
        """`gpus` from `start` to `end`, in milliseconds; what lies beyond the last hour is left out."""
        end = min(end, len(self.hours) * HOUR)
        while start < end:
            hour = start // HOUR
            until = min(end, (hour + 1) * HOUR)
            self.hours[hour] += gpus * (until - start) // 1000
            start = until


def aims(lab: Lab, seed: int) -> dict[str, list[int]]:
    """GPU-seconds that each leaf aims to demand, by hour: idle, steady and bursting, and their sum within bounds."""
    hours, warmup, whole = lab.ends // HOUR, lab.warmup // HOUR, lab.gpus * 3600
    days = _days(lab, Stream(seed, "days"), hours)
    found = {
        leaf: [
            whole * claim // WHOLE * mood // WHOLE * day // WHOLE
            for mood, day in zip(_moods(lab, Stream(seed, f"mood/{leaf}"), hours), days, strict=True)
        ]
        for leaf, claim in claims(lab.shares).items()
    }
    least, most = whole * lab.funded_least // WHOLE, whole * lab.funded_most // WHOLE
    mean = whole * lab.funded_mean // WHOLE
    for _ in range(8):  # each round brings the mean closer, and cuts what leaves the bounds
        scale = mean * (hours - warmup) * WHOLE // sum(sum(levels[warmup:]) for levels in found.values())
        for hour in range(hours):
            total = max(1, sum(levels[hour] for levels in found.values()) * scale // WHOLE)
            bounded = scale * min(max(total, least), most) // total
            for levels in found.values():
                levels[hour] = levels[hour] * bounded // WHOLE
    return found


def _moods(lab: Lab, stream: Stream, hours: int) -> list[int]:
    moods = (lab.idle, lab.steady, lab.burst)
    at = stream.below(3)
    found: list[int] = []
    while len(found) < hours:
        length, level = moods[at]
        found += [level] * max(1, length * EXPONENTIAL.quantile(stream.share()) // 1000 // HOUR)
        at = (at + 1 + stream.below(2)) % 3
    return found[:hours]


def _days(lab: Lab, stream: Stream, hours: int) -> list[int]:
    """What all leaves' demand is multiplied by in each hour."""
    found: list[int] = []
    for day in range(-(-hours // 24)):
        drawn = stream.share()
        if drawn < lab.slack[0]:
            found += [lab.slack[1]] * 24
        elif drawn < lab.slack[0] + lab.crunch[0]:
            found += [lab.crunch[1] if working(lab, 24 * day + hour) == WHOLE else WHOLE for hour in range(24)]
        else:
            found += [WHOLE] * 24
    return found[:hours]


def working(lab: Lab, hour: int) -> int:
    """How busy people are in the hour, in millionths: day zero is a Monday, work is from nine to eight."""
    busy = WHOLE if 9 <= hour % 24 < 20 else lab.at_night
    return busy * lab.at_weekends // WHOLE if hour // 24 % 7 > 4 else busy


class Openings:
    """Hours to submit small work in, by what is still missing there and by how busy people are."""

    __slots__ = ("_marks",)

    def __init__(self, lab: Lab, missing: Sequence[int]) -> None:
        weights = (max(1, room) * working(lab, hour) // 1000 for hour, room in enumerate(missing))
        self._marks = list(accumulate(weights))

    def draw(self, stream: Stream) -> int:
        """A moment, a whole second in milliseconds."""
        mark = stream.below(1 << 31) * self._marks[-1] >> 31
        return bisect_left(self._marks, mark + 1) * HOUR + stream.below(3600) * 1000
