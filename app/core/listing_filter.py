"""What the filters of Vertex AI's lists may ask of a job: the vocabulary for `app.core.filters` (VX-18)."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.core.filters import Comparison, Predicate, compiled, moment, wildcard, wrong

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LABELS = "labels"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The fields that a list can be filtered by, in snake case; camel case is read too.

    `states` are the values that the field `state` can have. A thing is a mapping of these fields; one that is unset
    may be missing.
    """

    texts: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        return sorted(self.texts | self.times | self.flags | {"labels.KEY"} | ({"state"} if self.states else set()))


def predicate(text: str, vocabulary: Vocabulary) -> Predicate:
    """The filter as a function of a thing. Invalid names the place of what cannot be read."""
    return compiled(text, lambda comparison: _compile(comparison, vocabulary)).accepts


def _compile(comparison: Comparison, vocabulary: Vocabulary) -> Predicate:
    first = _snake(comparison.path[0]) if comparison.path else ""
    if first == LABELS:
        return _label(comparison)
    if len(comparison.path) == 1:
        if first in vocabulary.texts:
            return _text(comparison, first)
        if first in vocabulary.times:
            return _time(comparison, first)
        if first in vocabulary.flags:
            return _flag(comparison, first)
        if first == "state" and vocabulary.states:
            return _state(comparison, vocabulary.states)
    shown = (".".join(comparison.path) or comparison.value)[:80]
    hint = " Write AND, OR and NOT in capitals." if shown in ("and", "or", "not") else ""
    raise wrong(comparison.at, f"'{shown}' is no field of this list; they are {', '.join(vocabulary.names)}.{hint}")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _only(comparison: Comparison, *operators: str) -> None:
    if comparison.operator not in operators:
        name = ".".join(comparison.path)
        raise wrong(comparison.at, f"'{name}' is not compared by {comparison.operator}, but by {' '.join(operators)}.")


def _text(comparison: Comparison, name: str) -> Predicate:
    _only(comparison, "=", "!=", ":")
    wanted = comparison.value
    if comparison.operator == ":":
        is_like = wildcard(wanted)
        return lambda thing: is_like(thing.get(name, ""))
    compare = _ORDER[comparison.operator]
    return lambda thing: compare(thing.get(name, ""), wanted)


def _state(comparison: Comparison, states: frozenset[str]) -> Predicate:
    _only(comparison, "=", "!=")
    if comparison.value not in states:
        raise wrong(comparison.at, f"'{comparison.value[:80]}' is no state; they are {', '.join(sorted(states))}.")
    compare, wanted = _ORDER[comparison.operator], comparison.value
    return lambda thing: compare(thing.get("state", ""), wanted)


def _flag(comparison: Comparison, name: str) -> Predicate:
    _only(comparison, "=", "!=")
    if comparison.value not in ("true", "false"):
        raise wrong(comparison.at, f"'{name}' is true or false, not '{comparison.value[:80]}'.")
    compare, wanted = _ORDER[comparison.operator], comparison.value == "true"
    return lambda thing: compare(thing.get(name, False), wanted)


def _time(comparison: Comparison, name: str) -> Predicate:
    _only(comparison, *_ORDER)
    wanted, compare = moment(comparison), _ORDER[comparison.operator]

    def holds(thing: Any) -> bool:
        known = thing.get(name)
        return known is not None and compare(known, wanted)

    return holds


def _label(comparison: Comparison) -> Predicate:
    """`labels.key=value`, `labels.key:*`, and `labels:key` for a key that is there."""
    _only(comparison, "=", "!=", ":")
    key, value = ".".join(comparison.path[1:]), comparison.value
    if not key:
        _only(comparison, ":")
        return lambda thing: value in thing.get(LABELS, {})
    if comparison.operator == ":":
        is_like = wildcard(value)
        return lambda thing: key in thing.get(LABELS, {}) and is_like(thing[LABELS][key])
    compare = _ORDER[comparison.operator]
    return lambda thing: compare(thing.get(LABELS, {}).get(key), value)
