"""The settings of a fleet's policy that may be changed, and within which bounds (CT-10)."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from app.core.errors import Invalid
from app.core.scheduling.policy import DAY, HOUR, MINUTE, SECOND, Policy

BOUNDS: Mapping[str, tuple[int, int]] = {
    "window": (HOUR, 90 * DAY),
    "least_commitment": (0, DAY),
    "longest_minimum": (0, 8 * HOUR),
    "margin": (0, 10_000_000),
    "funded_grace": (0, HOUR),
    "unfunded_grace": (0, HOUR),
    "reservation_wait": (0, 7 * DAY),
    "max_reservations": (0, 100),
    "reservation_ban": (0, 7 * DAY),
    "move_interval": (0, 7 * DAY),
    "warning": (MINUTE, 8 * HOUR),
    "hole_wait": (0, DAY),
    "tick": (SECOND, HOUR),
}
"""The least and the most, inclusive: milliseconds, millionths of a ratio, or a count. A longer minimum runtime than
8 h is no policy's to give (FS-4)."""
IN_SECONDS = tuple(name for name in BOUNDS if name not in ("margin", "max_reservations"))
ASKED = "asked"
"""Among what is kept of a state: when the pass is due that is to look, in milliseconds; an earlier one leaves it so."""
_SWITCHES = tuple(field.name for field in fields(Policy) if field.type is bool)


def with_settings(settings: Mapping[str, Any], wanted: Mapping[str, int | bool | None]) -> dict[str, Any]:
    """The settings that are not the default, after the change; None is the default again. Invalid out of bounds."""
    made = dict(settings)
    for name, value in wanted.items():
        if value is None:
            made.pop(name, None)
            continue
        if name not in _SWITCHES:
            _check(name, value)
        made[name] = value
    default = asdict(Policy())
    return {name: made[name] for name, usual in default.items() if made.get(name, usual) != usual}


def _check(name: str, value: int) -> None:
    least, most = BOUNDS[name]
    if least <= value <= most:
        return
    unit = " s" if name in IN_SECONDS else " millionths" if name == "margin" else ""
    part = SECOND if name in IN_SECONDS else 1
    raise Invalid(f"{name} is {value / part:g}{unit}; it may be {least / part:g} to {most / part:g}{unit}.")


def tell_again(flags: Mapping[str, Any], at: int) -> dict[str, Any]:
    """What is kept of a state, such that the next pass looks at everybody once more: other settings may let them
    start, evict or reserve."""
    if not flags:
        return {}
    again = {**flags, "stirred": True, "roomier": True, ASKED: at}
    if again.get("reserve_at") is not None:
        again["reserve_at"] = again["now"]
    return again
