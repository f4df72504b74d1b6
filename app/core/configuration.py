"""An extension's settings: a JSON object that is checked against what a version knows, and merged."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from app.core.errors import Invalid


class Setting(Protocol):
    """What can be set under a dotted path (`app.catalog.extensions`)."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def default(self) -> Any: ...
    @property
    def choices(self) -> Sequence[str]: ...
    @property
    def least(self) -> int: ...
    @property
    def most(self) -> int: ...


def merged(known: Sequence[Setting], current: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """All settings by path. What is given changes, `null` returns to the default, the rest stays as it is or is new
    and has its default."""
    result = {one.path: current.get(one.path, one.default) for one in known}
    _take(result, {one.path: one for one in known}, "", given)
    for one in known:
        if result[one.path] is not None:
            _check(one, result[one.path])
    return {path: value for path, value in result.items() if value is not None}


def _take(result: dict[str, Any], known: Mapping[str, Setting], where: str, given: Any) -> None:
    """Write `given`, which stands at the path `where`, into the result."""
    if where in known:
        result[where] = known[where].default if given is None else given
        return
    inside = [path for path in known if not where or path.startswith(f"{where}.")]
    if not inside:
        raise Invalid(f"ConfigurationValues: there is no setting '{where[:80]}'. Known are: {', '.join(known)}.")
    if given is None:
        result |= {path: known[path].default for path in inside}
        return
    if not isinstance(given, Mapping):
        raise Invalid(f"ConfigurationValues: '{where or 'the whole'}' must be a JSON object.")
    for name, value in given.items():
        if "." in name or not name:
            raise Invalid(f"ConfigurationValues: there is no setting '{name[:80]}'. Nest objects instead of dots.")
        _take(result, known, f"{where}.{name}" if where else name, value)


def _check(setting: Setting, value: Any) -> None:
    match setting.kind:
        case "choice" if value not in setting.choices:
            wanted = f"one of {', '.join(setting.choices)}"
        case "number" if type(value) is not int or not setting.least <= value <= setting.most:
            wanted = f"a whole number from {setting.least} to {setting.most}"
        case "switch" if type(value) is not bool:
            wanted = "true or false"
        case "text" if not isinstance(value, str) or not value or "\x00" in value:
            wanted = "a text"
        case _:
            return
    raise Invalid(f"ConfigurationValues: '{setting.path}' must be {wanted}.")


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as the object that they are given in."""
    tree: dict[str, Any] = {}
    for path, value in settings.items():
        *above, name = path.split(".")
        place = tree
        for step in above:
            place = place.setdefault(step, {})
        place[name] = value
    return tree
