"""What Google's APIs keep besides jobs: long-running operations, and resources that are documents and do nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.chance import digest
from app.core.times import WorldTime

_FIRST, _COUNT = 10**18, 9 * 10**18


def resource_id(seed: int, subject: str, purpose: str) -> str:
    """Nineteen digits that depend on the three arguments alone, as the service numbers what it makes."""
    return str(_FIRST + int.from_bytes(digest(seed, subject, purpose, 16)) % _COUNT)


@dataclass(frozen=True, slots=True)
class GoogleOperation:
    """An operation, over since it began: what it does here takes no time.

    `owner` is the resource it is about (`customJobs/ID`), `kind` the message of its metadata; `response` is of the
    message `response_kind`, or Empty without one.
    """

    operation_id: str
    owner: str
    kind: str
    created_at: WorldTime
    response_kind: str
    response: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """A resource that is only kept: `name` is its path in the location, `collection` that path without its id."""

    name: str
    collection: str
    created_at: WorldTime
    updated_at: WorldTime
    body: Mapping[str, Any]
