"""Extensions of Slurm clusters (`extensions.toml`): versions and settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from app.catalog.tables import Row, table

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be set under a dotted path: a text, a choice, a whole number from `least` to `most`, a switch. Without a
    default it is absent unless given."""

    path: str
    kind: Literal["text", "choice", "number", "switch"]
    default: Any
    choices: tuple[str, ...]
    least: int
    most: int
    since: str


@dataclass(frozen=True, slots=True)
class ExtensionOffer:
    """An extension. `versions` are offered, from the highest to the lowest."""

    name: str
    versions: tuple[str, ...]
    settings: tuple[Setting, ...]

    def settings_of(self, version: str) -> list[Setting]:
        """Those that the version knows."""
        return [one for one in self.settings if number(one.since) <= number(version)]


def number(version: str) -> Version:
    """`1.10.0` is later than `1.9.0`."""
    return tuple(int(part) for part in version.split("."))


@cache
def extensions() -> Mapping[str, ExtensionOffer]:
    """Every extension by its name."""
    return MappingProxyType({row["name"]: _offer(row) for row in table("extensions")["extensions"]})


def _offer(row: Row) -> ExtensionOffer:
    offered = set(row["versions"]) - set(row["withdrawn"])
    return ExtensionOffer(
        name=row["name"],
        versions=tuple(sorted(offered, key=number, reverse=True)),
        settings=tuple(_setting(each) for each in row["settings"]),
    )


def _setting(row: Row) -> Setting:
    return Setting(
        path=row["path"],
        kind=row["kind"],
        default=row.get("default"),
        choices=tuple(row.get("choices", ())),
        least=row.get("least", 0),
        most=row.get("most", 0),
        since=row.get("since", "0.0.0"),
    )
