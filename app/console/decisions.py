"""What a scheduler decided, as a sentence that a page shows (FS-13)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.console.figures import figure
from app.core.times import WorldTime, from_millis
from app.usecases.fleet_policies import Decided

KINDS: Mapping[str, str] = {
    "admit": "ok",
    "fund": "ok",
    "fill": "ok",
    "reserve": "busy",
    "move": "busy",
    "unreserve": "busy",
    "warn": "warn",
    "release": "warn",
    "unfund": "warn",
    "drained": "warn",
    "requeue": "warn",
    "preempt": "bad",
    "lost": "bad",
}
"""The colour of each kind."""
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Told:
    """A decision: `at`, its kind with a colour, why it was taken, whom it is about, and in words what it was."""

    number: int
    at: WorldTime
    kind: str
    colour: str
    code: str
    workload: str | None
    text: str
    ratios: str | None
    """Of a preemption: the two budgets below the lowest common ancestor, the preemptor's first."""


def told(one: Decided, of: str | None = None) -> Told:
    """The decision; of a preemption, as the workload `of` saw it."""
    body = one.body
    is_victim = one.kind == "preempt" and of is not None and any(name == of for name, _ in body["victims"])
    text = _evicted(one, body, of or "") if is_victim else _text(one.kind, body)
    standing = body.get("standing")
    ratios = None if standing is None else " against ".join(_side(standing, side) for side in ("preemptor", "victim"))
    kind = KINDS.get(one.kind, "wait")
    if one.kind == "preempt" and not is_victim:
        kind = "busy"
    return Told(one.seq, from_millis(one.at), one.kind, kind, one.code, one.workload, text, ratios)


def _evicted(one: Decided, body: Mapping[str, Any], of: str) -> str:
    until = next(at for name, at in body["victims"] if name == of)
    whom = f"evicted for {one.workload}" if one.workload is not None else "evicted, since its host is to be emptied"
    return f"{whom}; it stops at {_time(until)}"


def _side(standing: Mapping[str, Any], side: str) -> str:
    found = figure(tuple(standing[f"{side}_ratio"]))
    assert found is not None
    return f"{standing[side]} {found.decimal or '–'} ({found.exact})"


def _text(kind: str, body: Mapping[str, Any]) -> str:
    match kind:
        case "admit":
            funded = f"protected until {_time(body['protected_until'])}" if body["funded"] else "unfunded"
            return f"starts on {_places(body)}, {funded}"
        case "preempt":
            victims = _names(name for name, _ in body["victims"])
            return f"{victims} must leave; it starts at {_time(body['due'])} on {_places(body)}"
        case "move":
            return f"is moved at {_time(body['due'])} to {_places(body)}"
        case "requeue":
            return "stops, and waits again" if body["resumed"] else "stops, and ends as preempted"
        case "fill":
            return f"gets {_places(body)} in the place of what it lost"
        case "reserve":
            return f"{_names(body['hosts'])} are kept for it; T is {_time(body['due'])}"
        case _:
            return _short(kind, body)


def _short(kind: str, body: Mapping[str, Any]) -> str:
    match kind:
        case "release":
            return "waits again: a node that it was to get has gone"
        case "unreserve":
            return "nothing is kept for it any more"
        case "unfund":
            return f"goes on unfunded: {body['budget']} can pay no more"
        case "fund":
            return "goes on funded"
        case "drained":
            return f"nothing runs on {body['host']} any more"
        case "warn":
            return f"its protection ends at {_time(body['protected_until'])}"
        case "lost":
            return f"{body['replicas']} of its replicas went with {body['host']}"
        case _:
            return kind


def _places(body: Mapping[str, Any]) -> str:
    return _names(name for name, _ in body["places"])


def _names(names: Iterable[str]) -> str:
    found = list(names)
    if len(found) > _SHOWN:
        return f"{', '.join(found[: _SHOWN - 1])} and {len(found) - _SHOWN + 1} more"
    return ", ".join(found) or "no node"


def _time(at: int) -> str:
    return f"{from_millis(at):%Y-%m-%d %H:%M:%S}"
