"""Long lists, a page at a time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paging:
    """Where in `count` lines a page of `size` begins: after `skipped`."""

    skipped: int
    size: int
    count: int

    @property
    def newer(self) -> int | None:
        """What the page before skips, or None."""
        return max(0, self.skipped - self.size) if self.skipped else None

    @property
    def older(self) -> int | None:
        """What the page after skips, or None."""
        return self.skipped + self.size if self.skipped + self.size < self.count else None
