"""Durations as people write them."""

import re
from decimal import Decimal

import typer

SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
MILLISECOND = Decimal("0.001")
WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[wdhms])")


def seconds(text: str) -> int | float:
    """`90s`, `3h`, `2d`, `1h30m`, `1.5h`, `200ms`, or plain seconds; raises typer.BadParameter for anything else."""
    written = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", written):
        written += "s"
    if not WHOLE.fullmatch(written):
        raise typer.BadParameter(f"{text!r} is not a duration: write it as 90s, 3h, 2d or 1h30m")
    total = sum(Decimal(number) * SECONDS.get(unit, MILLISECOND) for number, unit in PART.findall(written))
    return int(total) if total == int(total) else float(total)
