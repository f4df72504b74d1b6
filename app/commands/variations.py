"""The settings of policies as people write them: `--set window=14d`, `--vary tick=1s,1m`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import typer

from app.commands.durations import seconds
from app.simulate.settings import Settings


def _milliseconds(text: str) -> int:
    return int(seconds(text) * 1000)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise typer.BadParameter(f"{text!r} is not a whole number")
    return int(text)


def _millionths(text: str) -> int:
    return _scaled(text, 1_000_000)


def _thousandths(text: str) -> int:
    return _scaled(text, 1_000)


def _scaled(text: str, scale: int) -> int:
    try:
        value = Decimal(text) * scale
    except InvalidOperation:
        raise typer.BadParameter(f"{text!r} is not a number such as 0.01") from None
    if not value.is_finite() or value < 0 or value != int(value):
        raise typer.BadParameter(f"{text!r} must be 0 or more and a multiple of 1/{scale}")
    return int(value)


def _yes(text: str) -> bool:
    answers = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
    if text.lower() not in answers:
        raise typer.BadParameter(f"{text!r} is neither yes nor no")
    return answers[text.lower()]


BUDGET: dict[str, tuple[str, Callable[[str], Any]]] = {
    "window": ("window", _milliseconds),
    "margin": ("margin", _millionths),
    "tick": ("tick", _milliseconds),
    "longest-minimum": ("longest_minimum", _milliseconds),
    "least-commitment": ("least_commitment", _milliseconds),
    "funded-grace": ("funded_grace", _milliseconds),
    "unfunded-grace": ("unfunded_grace", _milliseconds),
    "reservation-wait": ("reservation_wait", _milliseconds),
    "reservations": ("max_reservations", _whole),
    "waive": ("waive_at_t", _yes),
    "yields-in-leaf": ("yields_in_leaf", _yes),
    "move-interval": ("move_interval", _milliseconds),
}
"""Of our own policy: the name, its field and how it is read."""

OTHERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "half-life": ("half_life", _milliseconds),
    "k": ("k", _thousandths),
    "quota": ("quota", _thousandths),
    "caps": ("caps", _thousandths),
    "backfill": ("backfill", _yes),
}
NAMES = ", ".join(sorted({**BUDGET, **OTHERS}))


@dataclass(frozen=True, slots=True)
class Variation:
    """Settings, and what tells them from the ones that were given for all."""

    label: str
    settings: Settings


def changed(settings: Settings, name: str, value: str) -> Settings:
    """The settings with one of them as it is written. BadParameter: no such setting, or no such value."""
    try:
        if name in BUDGET:
            field, read = BUDGET[name]
            return replace(settings, budget=replace(settings.budget, **{field: read(value)}))
        if name in OTHERS:
            field, read = OTHERS[name]
            return replace(settings, **{field: read(value)})
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{name}: {error.message}") from None
    raise typer.BadParameter(f"there is no setting {name!r}; there are {NAMES}")


def given(written: Sequence[str]) -> Settings:
    """The settings that all cases have: each is `name=value`."""
    settings = Settings()
    for text in written:
        name, _, value = text.partition("=")
        settings = changed(settings, name.strip(), value.strip())
    return settings


def variations(settings: Settings, written: Sequence[str]) -> list[Variation]:
    """One for each value of each `name=value,value`; with none, the settings as they are."""
    found = []
    for text in written:
        name, _, values = text.partition("=")
        for value in values.split(","):
            label = f"{name.strip()}={value.strip()}"
            found.append(Variation(label, changed(settings, name.strip(), value.strip())))
    return found or [Variation("", settings)]
