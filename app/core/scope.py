"""Whose state a request may touch. The first part of every key."""

from dataclasses import dataclass

DEFAULT_WORLD = "main"


@dataclass(frozen=True, slots=True)
class Scope:
    """A world, and in it one account's view of one region (CT-0, HP-W6)."""

    world: str
    account: str
    region: str
