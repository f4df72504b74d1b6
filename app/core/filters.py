"""The filter language of Google's lists (AIP-160): one grammar, for which each API has its own vocabulary.

    filter     = sequence {"AND" sequence}        sequence = factor {factor}, which means AND as well
    factor     = term {"OR" term}                 so OR binds closer than AND, as Google has it
    term       = ["NOT" | "-"] ("(" filter ")" | comparison)
    comparison = path [operator (value | "(" value {"OR" value} ")")]
    path       = name {"." name}                  each name may be quoted

A comparison without an operator has the path `()`: what is asked for is its text, wherever it is. Functions and
comments, which some of Google's APIs have, are refused: read as words they would mean something else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NamedTuple

from app.core.errors import Invalid

MOST_CHARACTERS = 20_000
MOST_DEEP = 20
"""Parentheses and negations inside each other (chosen)."""
MOST_COMPARISONS = 200
OPERATORS = ("<=", ">=", "!=", "=~", "!~", "=", "<", ">", ":")

Predicate = Callable[[Any], bool]

_SPACE = re.compile(r"\s*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_@%/+*-]+")
_BARE = re.compile(r"[^\s()\"']+")
_WORD = re.compile(r"(AND|OR|NOT)(?![A-Za-z0-9_.=:<>!-])")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`path operator value`, and at which character of the filter it begins. `quoted` tells `"*"` from `*`."""

    path: tuple[str, ...]
    operator: str
    value: str
    quoted: bool
    at: int


Compile = Callable[[Comparison], Predicate]
"""An API's vocabulary: what a comparison asks of a thing. Raises `wrong` for what it does not know."""


class Filter(NamedTuple):
    """What a filter accepts, and the comparisons of it that hold of all that it accepts."""

    accepts: Predicate
    needed: tuple[Comparison, ...]


def compiled(text: str, vocabulary: Compile) -> Filter:
    """The filter as a function of a thing; an empty one accepts all. Invalid names the place and what is wrong."""
    if len(text) > MOST_CHARACTERS:
        raise wrong(MOST_CHARACTERS, f"no filter is read beyond that, and this one has {len(text)} characters.")
    parser = _Parser(text, vocabulary)
    return parser.whole()


def wrong(at: int, why: str) -> Invalid:
    """The refusal of a filter; `at` counts characters from 0."""
    return Invalid(f"Provided filter is not valid. At character {at + 1}: {why}")


def moment(comparison: Comparison) -> datetime:
    """The instant that a comparison's value names, of UTC unless it says otherwise."""
    try:
        named = datetime.fromisoformat(comparison.value)
        return (named if named.tzinfo else named.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise wrong(comparison.at, f"'{comparison.value[:80]}' is no instant such as 2026-01-31T12:00:00Z.") from None


class _Parser:
    """Recursive descent over the text; what it returns are functions already."""

    def __init__(self, text: str, vocabulary: Compile) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._at = 0
        self._deep = 0
        self._comparisons = 0

    def whole(self) -> Filter:
        if self._is_over():
            return Filter(lambda thing: True, ())
        found = self._filter()
        if not self._is_over():
            raise wrong(self._at, f"'{self._rest()}' follows where the filter could end. Is a parenthesis missing?")
        return found

    def _filter(self) -> Filter:
        parts = [self._factor()]
        while not self._is_over() and not self._sees(")"):
            self._word("AND")
            parts.append(self._factor())
        if len(parts) == 1:
            return parts[0]
        needed = tuple(chain.from_iterable(part.needed for part in parts))
        return Filter(lambda thing: all(part.accepts(thing) for part in parts), needed)

    def _factor(self) -> Filter:
        parts = [self._term()]
        while self._word("OR"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Filter(lambda thing: any(part.accepts(thing) for part in parts), ())

    def _term(self) -> Filter:
        self._deep += 1
        if self._deep > MOST_DEEP:
            raise wrong(self._at, f"more than {MOST_DEEP} levels of parentheses and negations.")
        try:
            if self._sees("--"):
                raise wrong(self._at, "comments are not read.")
            if self._word("NOT") or self._takes("-"):
                negated = self._term()
                return Filter(lambda thing: not negated.accepts(thing), ())
            if not self._takes("("):
                return self._comparison()
            inner = self._filter()
            if not self._takes(")"):
                raise wrong(self._at, "a closing parenthesis is missing.")
            return inner
        finally:
            self._deep -= 1

    def _comparison(self) -> Filter:
        at = self._skip()
        path, quoted = self._path()
        self._check_no_function(at)
        operator = next((each for each in OPERATORS if self._takes(each)), None)
        if operator is None:
            return self._compile(Comparison((), ":", ".".join(path), quoted, at))
        if not self._takes("("):
            return self._compile(Comparison(path, operator, *self._value(), at))
        parts = [self._compile(Comparison(path, operator, *self._value(), at))]
        while self._word("OR"):
            parts.append(self._compile(Comparison(path, operator, *self._value(), at)))
        if not self._takes(")"):
            raise wrong(self._at, "a closing parenthesis is missing after the values.")
        return Filter(lambda thing: any(part.accepts(thing) for part in parts), ())

    def _compile(self, comparison: Comparison) -> Filter:
        self._comparisons += 1
        if self._comparisons > MOST_COMPARISONS:
            raise wrong(comparison.at, f"more than {MOST_COMPARISONS} comparisons.")
        return Filter(self._vocabulary(comparison), (comparison,))

    def _check_no_function(self, at: int) -> None:
        """A name with a parenthesis right behind it."""
        if self._text.startswith("(", self._at):
            raise wrong(at, f"'{self._text[at : self._at][:80]}(…)' is a function, and functions are not read.")

    def _path(self) -> tuple[tuple[str, ...], bool]:
        names, quoted = [], False
        while True:
            found = _QUOTED.match(self._text, self._at)
            if found:
                names.append(_unquoted(found))
            elif (found := _NAME.match(self._text, self._at)) and not _WORD.match(self._text, self._at):
                names.append(found[0])
            else:
                raise wrong(self._at, f"{self._shown()} stands where a field's name should be.")
            quoted = quoted or found.re is _QUOTED
            self._at = found.end()
            if not self._text.startswith(".", self._at):
                return tuple(names), quoted
            self._at += 1

    def _value(self) -> tuple[str, bool]:
        self._skip()
        found = _QUOTED.match(self._text, self._at)
        if found:
            self._at = found.end()
            return _unquoted(found), True
        found = _BARE.match(self._text, self._at)
        if found is None or _WORD.match(self._text, self._at):
            raise wrong(self._at, f"{self._shown()} stands where a value should be.")
        at, self._at = self._at, found.end()
        self._check_no_function(at)
        return found[0], False

    def _skip(self) -> int:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _is_over(self) -> bool:
        return self._skip() >= len(self._text)

    def _sees(self, symbol: str) -> bool:
        self._skip()
        return self._text.startswith(symbol, self._at)

    def _takes(self, symbol: str) -> bool:
        seen = self._sees(symbol)
        self._at += len(symbol) if seen else 0
        return seen

    def _word(self, word: str) -> bool:
        found = _WORD.match(self._text, self._skip())
        if found is None or found[1] != word:
            return False
        self._at = found.end()
        return True

    def _rest(self) -> str:
        return self._text[self._at : self._at + 30]

    def _shown(self) -> str:
        return f"'{self._rest()}'" if self._rest() else "the end"


def _unquoted(found: re.Match[str]) -> str:
    inner = found[1] if found[1] is not None else found[2]
    return _ESCAPED.sub(r"\1", inner)


def wildcard(pattern: str) -> Callable[[str], bool]:
    """Whether a text is like `pattern`, in which `*` stands for any characters. Takes time in proportion to both."""
    first, *inner = pattern.split("*")
    last = inner.pop() if inner else None

    def is_like(text: str) -> bool:
        if last is None:
            return text == first
        if not text.startswith(first) or not text.endswith(last):
            return False
        at, end = len(first), len(text) - len(last)
        for part in inner:
            found = text.find(part, at, max(at, end))
            if found < 0:
                return False
            at = found + len(part)
        return at <= end

    return is_like
