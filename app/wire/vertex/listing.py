"""Lists: filter, pages and read mask, which all of them have alike (VX-18)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from app.core.listing_filter import Vocabulary, predicate
from app.core.times import WorldTime, from_millis
from app.wire.google.errors import wrong_field
from app.wire.google.proto import Message, camel
from app.wire.page_tokens import Tokens
from app.wire.vertex.rpc import Context

T = TypeVar("T")
Answer = dict[str, Any]
Position = Sequence[Any]
"""What tells a thing's place in its list, in JSON."""

DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
"""A larger page is asked for in vain (chosen)."""
MOST_AT_ONCE = 200
"""Things that are fetched at once for a filter, which may accept few of them."""
MOST_LOOKED_AT = 20_000
"""Things that one request compares with its filter; the page is then short, and the next token goes on."""
MOST_BYTES = 8 * 1024 * 1024
"""Of a page, but for what goes beyond it: each job may be of as many bytes as a request. It is then short as well."""


class Listable(NamedTuple, Generic[T]):
    """How the things of a list are looked at: where each is, what a filter may ask of it, how it is told."""

    position: Callable[[T], Position]
    facts: Callable[[T], Mapping[str, Any]]
    shown: Callable[[T], Mapping[str, Any]]


Fetch = Callable[[Position | None, int], Awaitable[Sequence[T]]]
"""Up to so many things from behind a position."""


class Listing(Generic[T]):
    """The pages of one question. `key` is the answer's member that the things are in."""

    def __init__(self, ctx: Context, request: Any, key: str, *, of: type[Message], vocabulary: Vocabulary) -> None:
        text: str = getattr(request, "filter", None) or ""
        mask: str = getattr(request, "read_mask", None) or ""
        scope = ctx.scope
        self._key = key
        self._filters = bool(text.strip())
        self._accepts = predicate(text, vocabulary)
        self._mask = _paths(mask, of)
        self._tokens = Tokens([scope.world, scope.account, scope.region, ctx.name.local, key, text, mask])
        self._size = _size(request.page_size)
        self._after = self._opened(request.page_token)

    async def answer(self, fetch: Fetch[T], way: Listable[T]) -> Answer:
        """The page. Things are fetched until one more than it holds is found, or none is left."""
        after, looked_at, page = self._after, 0, list[T]()
        wanted = max(self._size + 1, MOST_AT_ONCE if self._filters else 0)
        while True:
            found = await fetch(after, wanted)
            for each in found:
                if self._filters and not self._accepts(way.facts(each)):
                    continue
                if len(page) == self._size:
                    return self._told(page, way, way.position(page[-1]))
                page.append(each)
            looked_at += len(found)
            after = way.position(found[-1]) if found else after
            if len(found) < wanted or looked_at >= MOST_LOOKED_AT:
                return self._told(page, way, None if len(found) < wanted else after)

    def _told(self, page: Sequence[T], way: Listable[T], after: Position | None) -> Answer:
        told, size = list[Any](), 0
        for each in page:
            if size > MOST_BYTES:
                after = way.position(page[len(told) - 1])
                break
            told.append(self._masked(way.shown(each)))
            size += len(orjson.dumps(told[-1]))
        answer: Answer = {self._key: told} if told else {}
        return answer | ({"nextPageToken": self._tokens.token(after)} if after is not None else {})

    def _opened(self, token: str | None) -> Position | None:
        if not token:
            return None
        position = self._tokens.position(token)
        if position is None:
            told = "The page token is not one of this list. Pass the nextPageToken of the answer before."
            raise wrong_field("page_token", told)
        return position

    def _masked(self, resource: Mapping[str, Any]) -> Any:
        return masked(resource, self._mask) if self._mask else resource


def _size(asked: int | None) -> int:
    if asked is not None and asked < 0:
        told = f"page_size is {asked}. Give a number from 1 to {LARGEST_PAGE}, or leave it out."
        raise wrong_field("page_size", told)
    return min(asked or DEFAULT_PAGE, LARGEST_PAGE)


def _paths(mask: str, of: type[Message]) -> list[list[str]]:
    """The mask's paths in JSON's names; `*` stands for all, as no mask does."""
    paths = [path.split(".") for path in mask.split(",") if path]
    if ["*"] in paths:
        return []
    known = set(of.model_fields) | {camel(name) for name in of.model_fields}
    for path in paths:
        if path[0] not in known:
            told = f"'{path[0][:80]}' of the read mask is no field of {of.__qualname__}."
            raise wrong_field("read_mask", told)
    return [[camel(part) for part in path] for path in paths]


def masked(value: Mapping[str, Any], paths: Sequence[Sequence[str]]) -> Answer:
    """What the paths name of `value`; a path into a list or a map of another's keys names all of it."""
    kept: Answer = {}
    for first in dict.fromkeys(path[0] for path in paths):
        if first not in value:
            continue
        inner = [path[1:] for path in paths if path[0] == first]
        whole = not all(inner) or not isinstance(value[first], Mapping)
        kept[first] = value[first] if whole else masked(value[first], inner)
    return kept


def moment(position: Position | None) -> tuple[WorldTime, str] | None:
    """The place of a thing in a list by time and id, whose position is the time in milliseconds and the id."""
    return (from_millis(position[0]), position[1]) if position else None
