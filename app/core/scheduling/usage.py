"""What was used: segments, and integrals over a sliding window, where a change costs one entry, a question no walk."""

from collections.abc import Iterable
from dataclasses import dataclass

_TRIM = 4096


@dataclass(frozen=True, slots=True)
class Segment:
    """A workload held so many GPUs from start to end, in milliseconds (FS-14)."""

    leaf: str | None
    workload: str
    attempt: int
    gpus: int
    start: int
    end: int
    funded: bool


class Series:
    """The integral of a step function of time. Changes and questions come in the order of time."""

    __slots__ = ("_first", "_slopes", "_sums", "_times", "slope")

    def __init__(self) -> None:
        self.slope = 0
        self._times: list[int] = []
        self._sums: list[int] = []
        self._slopes: list[int] = []
        self._first = 0
        """The last entry that a question about the window's beginning used."""

    @property
    def born(self) -> int | None:
        """When it first changed, as far back as it is kept."""
        return self._times[0] if self._times else None

    def add(self, now: int, change: int) -> None:
        """The function is `change` higher from now on."""
        self.slope += change
        if self._times and self._times[-1] == now:
            self._slopes[-1] = self.slope
            return
        self._sums.append(self.total(now) if self._times else 0)
        self._times.append(now)
        self._slopes.append(self.slope)

    def extend(self, changes: Iterable[tuple[int, int, int]]) -> None:
        """Several changes in the order of time: when, anything, and how much higher the function is from then on."""
        times, sums, slopes = self._times, self._sums, self._slopes
        slope, last, total = self.slope, times[-1] if times else None, sums[-1] if sums else 0
        for now, _, change in changes:
            if now == last:
                slope += change
                slopes[-1] = slope
                continue
            if last is not None:
                total += slope * (now - last)
            slope, last = slope + change, now
            times.append(now)
            sums.append(total)
            slopes.append(slope)
        self.slope = slope

    def total(self, now: int) -> int:
        """The integral until now, which is no earlier than the last change, from wherever it began."""
        if not self._times:
            return 0
        return self._sums[-1] + self._slopes[-1] * (now - self._times[-1])

    def total_at(self, at: int) -> int:
        """The integral until an earlier instant; each question is about a later one than the last was.

        Before the first change the function had the value that it first took.
        """
        times, first = self._times, self._first
        if not times:
            return 0
        last = len(times) - 1
        while first < last and times[first + 1] <= at:
            first += 1
        self._first = first
        if first > _TRIM:
            self._forget()
            first = 0
        return self._sums[first] + self._slopes[first] * (at - times[first])

    def line(self) -> tuple[int, int]:
        """The integral until any instant since the last change, as its value at zero and its slope."""
        if not self._times:
            return 0, 0
        slope = self._slopes[-1]
        return self._sums[-1] - slope * self._times[-1], slope

    def line_at(self, at: int) -> tuple[int, int, int | None]:
        """Likewise around an earlier instant, as `total_at` finds it; the third is when the line ends, None never."""
        value = self.total_at(at)
        if not self._times:
            return 0, 0, None
        first = self._first
        slope = self._slopes[first]
        ends = self._times[first + 1] if first + 1 < len(self._times) else None
        return value - slope * at, slope, ends

    def _forget(self) -> None:
        del self._times[: self._first], self._sums[: self._first], self._slopes[: self._first]
        self._first = 0
