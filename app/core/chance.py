"""Seeded chance: a draw is a hash of (seed, subject, purpose), so the order of work cannot change it."""

from hashlib import blake2b

MILLION = 1_000_000


def digest(seed: int, subject: str, purpose: str, size: int) -> bytes:
    """`size` bytes (at most 64) that depend on the three arguments alone."""
    return blake2b(f"{seed}/{purpose}/{subject}".encode(), digest_size=size).digest()


def draw(seed: int, subject: str, purpose: str) -> int:
    """A number from 0 to 999,999, evenly spread."""
    return int.from_bytes(digest(seed, subject, purpose, 8)) % MILLION


def below(seed: int, subject: str, purpose: str, limit: int) -> int:
    """A number from 0 to `limit` - 1."""
    return int.from_bytes(digest(seed, subject, purpose, 8)) % limit
