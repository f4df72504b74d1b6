"""Published distributions of GPU jobs, and how to draw from them: integers only, so alike on every machine.

Source: the vertices of the figures `cdf_*.pdf` of InternLM/AcmeTrace (CC BY 4.0), the data of "Characterization of
Large Language Model Development in the Datacenter" (NSDI 2024): the clusters Seren (2,288 A100) and Kalos (2,416).
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import isqrt
from typing import TypeVar

from app.core.chance import digest

Thing = TypeVar("Thing")

WHOLE = 1_000_000
"""One, in millionths."""

STEPS = 8
"""Halvings of a stretch between two published points; so a 256th of a doubling."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A cumulative distribution: `shares[i]` (millionths) of all are at most `values[i]`."""

    values: tuple[int, ...]
    shares: tuple[int, ...]

    def quantile(self, share: int) -> int:
        """The value that `share` of all stay at or below; between two points it grows by ratio, not by difference."""
        at = bisect_left(self.shares, share)
        if at == 0:
            return self.values[0]
        low, high = self.values[at - 1] << 20, self.values[at] << 20
        left, right = self.shares[at - 1], self.shares[at]
        for _ in range(STEPS):
            middle = isqrt(low * high)
            if 2 * share < left + right:
                high, left, right = middle, 2 * left, left + right
            else:
                low, left, right = middle, left + right, 2 * right
            share *= 2
        return low >> 20


@lru_cache(maxsize=256)
def share_up_to(curve: Curve, value: int) -> int:
    """Millionths of all that are at most `value`."""
    low, high = 0, WHOLE
    while low < high:
        middle = (low + high + 1) // 2
        if curve.quantile(middle) <= value:
            low = middle
        else:
            high = middle - 1
    return low


def between(curve: Curve, least: int, most: int, share: int) -> int:
    """The quantile `share` of those above `least` and at most `most`."""
    low, high = share_up_to(curve, least), share_up_to(curve, most)
    return max(least + 1, min(most, curve.quantile(low + (high - low) * share // WHOLE)))


class Stream:
    """Draws that follow from (seed, purpose) and their number alone."""

    __slots__ = ("_block", "_left", "_purpose", "_seed")

    def __init__(self, seed: int, purpose: str) -> None:
        self._seed, self._purpose, self._block, self._left = seed, purpose, 0, b""

    def share(self) -> int:
        """Millionths, evenly spread."""
        return self.below(WHOLE)

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1, which is far below 2^32."""
        if not self._left:
            self._left = digest(self._seed, str(self._block), self._purpose, 64)
            self._block += 1
        word, self._left = self._left[:4], self._left[4:]
        return int.from_bytes(word) * limit >> 32

    def pick(self, weights: tuple[tuple[Thing, int], ...]) -> Thing:
        """One of the things, by weight."""
        total = 0
        for _, weight in weights:
            total += weight
        mark = self.below(total)
        for thing, weight in weights:
            mark -= weight
            if mark < 0:
                return thing
        raise AssertionError("the weights add up")


@dataclass(frozen=True, slots=True)
class Cluster:
    """What was published of one cluster: GPUs of a job, seconds of all GPU jobs, of debugging and of pretraining."""

    sizes: tuple[tuple[int, int], ...]
    """(GPUs, millionths of jobs with exactly so many)."""
    durations: Curve
    debugging: Curve
    pretraining: Curve


SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def _sizes(*percent: str) -> tuple[tuple[int, int], ...]:
    cumulative = [0, *(_millionths(value) for value in percent)]
    steps = pairwise(cumulative)
    return tuple((size, upto - before) for size, (before, upto) in zip(SIZES, steps, strict=True))


def _millionths(percent: str) -> int:
    whole, _, part = percent.partition(".")
    return int(whole) * 10_000 + int(part.ljust(4, "0") or 0)


def _seconds(percent: str) -> Curve:
    """Shares at 1, 2, 4, 8 ... seconds; a stretch without any jobs is left out."""
    points = [(1 << power, _millionths(value)) for power, value in enumerate(percent.split())]
    kept = [point for point, after in pairwise(points) if point[1] < after[1]]
    last = next(point for point in points if point[1] == WHOLE)
    return Curve(tuple(value for value, _ in (*kept, last)), tuple(share for _, share in (*kept, last)))


SEREN = Cluster(
    _sizes("54.04", "65.43", "67.95", "96.75", "97.86", "98.82", "99.32", "99.55", "99.73", "99.86", "100"),
    durations=_seconds(
        "2.18 2.78 5.62 11.76 23.38 31.71 37.12 48.91 65.63 79.21 88.03 92.94 95.99 97.53 98.44 99.19 99.64 99.83"
        " 99.93 99.98 100"
    ),
    debugging=_seconds(
        "3.68 4.62 6.32 11.73 19.34 29.8 39.13 52.15 68.37 81.95 91.22 95.5 97.36 98.29 98.81 99.22 99.56 99.79"
        " 99.86 99.96 99.99 100"
    ),
    pretraining=_seconds(
        "4.27 5.71 9.86 12.1 15.6 20.49 27.37 34.87 46.8 61.8 73.42 80.45 84.08 86.61 88.45 91.08 94.31 97.19"
        " 98.78 99.63 99.98 100"
    ),
)
KALOS = Cluster(
    _sizes("86.28", "88.36", "88.36", "93.92", "94.26", "94.65", "95.3", "95.68", "96.9", "98.94", "100"),
    durations=_seconds(
        "0 0 0 0.01 1.48 18.72 38.19 50.47 69.1 79.45 85.94 92.77 97.06 98.68 99.11 99.45 99.66 99.83 99.95 99.98 100"
    ),
    debugging=_seconds(
        "0 0 0 0 1.3 8.38 17.32 25.88 38.73 70.76 88.83 97.21 99.07 99.63 99.81 100",
    ),
    pretraining=_seconds(
        "0 0 0 0 0 4.21 9.83 14.35 25.74 43.84 57.1 65.37 71.92 76.91 82.37 87.83 93.29 96.72 98.91 99.84 100"
    ),
)
