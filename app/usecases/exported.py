"""An export as it is read back: piece by piece, in the order in which it is written, so that none is held whole."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from app.core.errors import Invalid

CHUNK = 1024 * 1024
MOST_VALUE = 16 * 1024 * 1024
"""Characters that one row may have."""
MOST_ROWS = 1000
"""Rows that are handed on together."""
SOURCE = "Give a file as `windtunnel world export` writes it."

Read = Callable[[int], str]
Part = tuple[str, Any]
"""(`format`, the number), (a table's name, some of its rows), or (`world`, its facts)."""


def parts(read: Read) -> Iterator[Part]:
    """The pieces: the format first, then the tables, then the world. Invalid: it is no export, or not in that order.

    `read` gives up to so many characters more, and none at the end.
    """
    text = _Text(read)
    text.take("{")
    yield "format", _named(text, "format")
    text.take(",")
    yield from _tables(text)
    text.take(",")
    yield "world", _named(text, "world")
    text.take("}")
    if text.peek():
        raise Invalid(f"Behind the export there is something else. {SOURCE}")


def _named(text: "_Text", name: str) -> Any:
    _key(text, name)
    return text.value()


def _key(text: "_Text", name: str) -> None:
    found = text.value()
    if found != name:
        raise Invalid(f"Where '{name}' should be, there is {_shown(found)}. {SOURCE}")
    text.take(":")


def _tables(text: "_Text") -> Iterator[Part]:
    _key(text, "tables")
    text.take("{")
    if text.took("}"):
        return
    while True:
        name = text.value()
        if not isinstance(name, str):
            raise Invalid(f"Where a table's name should be, there is {_shown(name)}. {SOURCE}")
        text.take(":")
        yield from ((name, rows) for rows in _rows(text))
        if text.took("}"):
            return
        text.take(",")


def _rows(text: "_Text") -> Iterator[list[Any]]:
    text.take("[")
    rows: list[Any] = []
    began = text.passed
    if not text.took("]"):
        while True:
            rows.append(text.value())
            if text.took("]"):
                break
            text.take(",")
            if len(rows) == MOST_ROWS or text.passed - began > MOST_VALUE:
                yield rows
                rows, began = [], text.passed
    yield rows


class _Text:
    """The characters that are not read yet; `passed` counts those that are."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._text, self._at = "", 0
        self.passed = 0

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def took(self, mark: str) -> bool:
        """True when `mark` was next; then it is behind us."""
        if self.peek() != mark:
            return False
        self._at += 1
        return True

    def take(self, mark: str) -> None:
        if not self.took(mark):
            found = self.peek()
            raise Invalid(f"Where '{mark}' should be, {f'there is {found!r}' if found else 'the file ends'}. {SOURCE}")

    def value(self) -> Any:
        """The next value of JSON."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise Invalid(f"A value is nested too deep. {SOURCE}") from None
            except ValueError as error:
                if len(self._text) - self._at > MOST_VALUE:
                    raise Invalid(f"A value has more than {MOST_VALUE} characters or is no JSON. {SOURCE}") from None
                if not self._more():
                    told = str(error).partition(":")[0]
                    raise Invalid(f"A value is broken or cut off ({told}). {SOURCE}") from None
                continue
            if end < len(self._text) or not self._more():  # a number may go on in what is not read yet
                self.passed += end - self._at
                self._at = end
                return value

    def _more(self) -> bool:
        try:
            chunk = self._read(CHUNK)
        except UnicodeDecodeError:
            raise Invalid(f"The file is not UTF-8. {SOURCE}") from None
        self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number of JSON")
    return number


def _shown(value: object) -> str:
    return repr(value)[:80]


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
