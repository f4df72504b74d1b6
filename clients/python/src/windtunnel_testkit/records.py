"""What a world answers with: an advance, a bill, a rule by which things go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from windtunnel_testkit.control import Address, segment
from windtunnel_testkit.errors import Refused

Record = dict[str, Any]
"""What the control API answers, with its names."""
MICRO = 1_000_000


@dataclass(frozen=True)
class Advanced:
    """Where the clock was and is, and how many pieces of work were done on the way, by kind."""

    before: datetime
    after: datetime
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Bill:
    """Lines and their sum, in millionths of a US dollar, as of the world's time."""

    total_micro_usd: int
    as_of: datetime
    lines: list[Record]

    @property
    def usd(self) -> Decimal:
        """The sum in US dollars, exactly."""
        return Decimal(self.total_micro_usd) / MICRO


class Fault:
    """A rule by which something goes wrong; as a context manager it holds inside the block alone."""

    def __init__(self, address: Address, facts: Record) -> None:
        self._address, self.id, self.effect = address, str(facts["id"]), str(facts["effect"])

    @property
    def hits(self) -> int:
        """How often it has struck."""
        rules = self._address.control("GET", "faults")["rules"]
        return next((int(rule["hits"]) for rule in rules if rule["id"] == self.id), 0)

    def remove(self) -> None:
        """Let it strike no more. It may be gone already."""
        try:
            self._address.control("DELETE", f"faults/{segment(self.id)}")
        except Refused as error:
            if error.status != 404:
                raise

    def __enter__(self) -> Fault:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()
