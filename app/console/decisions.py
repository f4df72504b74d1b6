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


def told(one: Decided, of: str | None = None, shown: Mapping[str, str] | None = None) -> Told:
    """The decision; of a preemption, as the workload `of` saw it. `shown` are names of workloads that are jobs."""
    body, names = one.body, shown or {}
    is_victim = one.kind == "preempt" and of is not None and any(name == of for name, _ in body["victims"])
    text = _evicted(one, of or "", names) if is_victim else _text(one.kind, body, names)
    standing = body.get("standing")
    ratios = None if standing is None else " against ".join(_side(standing, side) for side in ("preemptor", "victim"))
    kind = KINDS.get(one.kind, "wait")
    if one.kind == "preempt" and not is_victim:
        kind = "busy"
    whom = None if one.workload is None else names.get(one.workload, one.workload)
    return Told(one.seq, from_millis(one.at), one.kind, kind, one.code, whom, text, ratios)


def concerned(one: Decided) -> list[str]:
    """The workloads that the decision names."""
    victims = [name for name, _ in one.body.get("victims", ())]
    return victims if one.workload is None else [one.workload, *victims]


def short(node: str) -> str:
    """A node by the end of its id, as charts show it."""
    return f"…{node[-6:]}"


def _evicted(one: Decided, of: str, names: Mapping[str, str]) -> str:
    until = next(at for name, at in one.body["victims"] if name == of)
    if one.workload is None:
        return f"evicted, since its host is to be emptied; it stops at {_time(until)}"
    return f"evicted for {names.get(one.workload, one.workload)}; it stops at {_time(until)}"


def _side(standing: Mapping[str, Any], side: str) -> str:
    found = figure(tuple(standing[f"{side}_ratio"]))
    assert found is not None
    return f"{standing[side]} {found.decimal or '–'} ({found.exact})"


def _text(kind: str, body: Mapping[str, Any], names: Mapping[str, str]) -> str:
    match kind:
        case "admit":
            funded = f"protected until {_time(body['protected_until'])}" if body["funded"] else "unfunded"
            return f"starts on {_places(body)}, {funded}"
        case "preempt":
            victims = _listed(names.get(name, name) for name, _ in body["victims"])
            return f"{victims} must leave; it starts at {_time(body['due'])} on {_places(body)}"
        case "move":
            return f"is moved at {_time(body['due'])} to {_places(body)}"
        case "requeue":
            return "stops, and waits again" if body["resumed"] else "stops, and ends as preempted"
        case "fill":
            return f"gets {_places(body)} in the place of what it lost"
        case "reserve":
            return f"{_listed(map(short, body['hosts']))} are kept for it; T is {_time(body['due'])}"
        case _:
            return _brief(kind, body)


def _brief(kind: str, body: Mapping[str, Any]) -> str:
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
            return f"nothing runs on {short(body['host'])} any more"
        case "warn":
            return f"its protection ends at {_time(body['protected_until'])}"
        case "lost":
            return f"{body['replicas']} of its replicas went with {short(body['host'])}"
        case _:
            return kind


def _places(body: Mapping[str, Any]) -> str:
    return _listed(short(name) for name, _ in body["places"])


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    if len(found) > _SHOWN:
        return f"{', '.join(found[: _SHOWN - 1])} and {len(found) - _SHOWN + 1} more"
    return ", ".join(found) or "no node"


def _time(at: int) -> str:
    return f"{from_millis(at):%Y-%m-%d %H:%M:%S}"
