"""How the clients of a world speak and want to be answered: the one seam for another emulator's manners.

`PLAIN` is AWS's own and changes nothing. A dialect is values and functions around an operation, never inside one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.core.errors import DomainError
from app.wire.aws.errors import AwsError
from app.wire.aws.registry import Context


def _as_it_is(operation: str, value: Any) -> Any:
    return value


def _same_context(context: Context) -> Context:
    return context


def _no_words(error: DomainError) -> AwsError | None:
    return None


@dataclass(frozen=True, slots=True)
class Dialect:
    """`hear` turns a request's JSON into what AWS would be sent, `tell` an answer into what this client expects;
    `unchecked` are members whose form is free; `refusal` gives errors other words, None for AWS's."""

    account: str | None = None
    unchecked: frozenset[str] = frozenset()
    hear: Callable[[str, Any], Any] = _as_it_is
    tell: Callable[[str, Any], Any] = _as_it_is
    refusal: Callable[[DomainError], AwsError | None] = _no_words
    context: Callable[[Context], Context] = _same_context


PLAIN = Dialect()
