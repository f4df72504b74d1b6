"""The model's patterns, which are Java's, matched as whole strings and never for long.

The `regex` package knows Java's `\\p{…}` and takes a time limit, which `re` does not. Two differences are
mended: in Java `\\d`, `\\w` and `\\s` are ASCII, and `.` stands for no line terminator at all.
"""

from collections.abc import Callable

import regex  # type: ignore[import-untyped]

TIME_LIMIT_S = 0.05
LENGTH_LIMIT = 8192
"""Longest string that a pattern without a maximum is tried on; the longest maximum of the model."""
_REMEMBERED = 256
_ANY_BUT_LINE_END = r"[^\n\r\x85\u2028\u2029]"


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a whole string is of the pattern; a string that takes too long to tell is not.

    Role ARNs and group names come again and again, so the last few that matched are remembered.
    """
    flags = 0 if r"\p" in pattern.lower() else regex.ASCII
    fullmatch = regex.compile(python_form(pattern), flags).fullmatch
    known: set[str] = set()

    def matches(value: str) -> bool:
        if value in known:
            return True
        try:
            if len(value) > LENGTH_LIMIT or fullmatch(value, timeout=TIME_LIMIT_S) is None:
                return False
        except TimeoutError:
            return False
        if len(known) >= _REMEMBERED:
            known.clear()
        known.add(value)
        return True

    return matches


def python_form(pattern: str) -> str:
    """The pattern with Java's `.` spelled out."""
    parts: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        char = pattern[position]
        step = 2 if char == "\\" else 1
        if char == "." and not in_class:
            parts.append(_ANY_BUT_LINE_END)
        else:
            parts.append(pattern[position : position + step])
        if char == "[":
            in_class = True
        elif char == "]":
            in_class = False
        position += step
    return "".join(parts)
