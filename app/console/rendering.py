"""Templates and how values read in them. Everything is escaped, and a name that nobody gave is an error."""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.console import assets, navigation, standing
from app.console.drawing.grid import shape
from app.core.times import WorldTime, to_iso

FOLDER = Path(__file__).parent / "templates"
MICRO = 1_000_000


@cache
def environment() -> Environment:
    """The templates; the macros of `parts.html` are `ui` in all of them."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"instant": instant, "money": money, "span": span, "number": number, "share": share}
    made.globals |= {"asset": assets.address, "sections": navigation.SECTIONS, "iso": to_iso}
    made.globals |= {"kind_of_status": standing.kind_of_status, "kind_of": standing.kind_of}
    made.globals |= {"level_kinds": standing.LEVELS, "shape": shape}
    made.globals["ui"] = made.get_template("parts.html").module
    return made


def whole(template: str, **values: Any) -> str:
    """The page."""
    return environment().get_template(template).render(**values)


def block(template: str, name: str, **values: Any) -> str:
    """One block of the page, alone."""
    found = environment().get_template(template)
    return "".join(found.blocks[name](found.new_context(values)))


def macro(name: str, *values: Any) -> str:
    """What the macro of `parts.html` makes of the values."""
    return str(getattr(environment().globals["ui"], name)(*values))


def instant(value: WorldTime | datetime | None) -> Markup:
    """Date and time of day in UTC, to the second; to the millisecond where one points at it."""
    if value is None:
        return Markup('<span class="none">–</span>')
    told = to_iso(WorldTime(value))
    return Markup('<time datetime="{}" title="{}">{} {}</time>').format(told, told, told[:10], told[11:19])


def money(micro_usd: int) -> str:
    """Dollars and cents of micro-dollars; what is less than a cent keeps its digits."""
    sign, micro = ("-" if micro_usd < 0 else ""), abs(micro_usd)
    if 0 < micro < 10_000:
        return f"{sign}${micro / MICRO:.6f}"
    cents = (micro + 5_000) // 10_000
    return f"{sign}${cents // 100:,}.{cents % 100:02d}"


def span(milliseconds: int | None) -> str:
    """A length of time by its two largest units, as `3 h 20 min`."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds // 1000
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    parts = []
    for name, size in units:
        count, seconds = divmod(seconds, size)
        parts.append((count, name))
    first = next(place for place, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {name}" for count, name in parts[first : first + 2] if count)


def number(value: int | float) -> str:
    """With commas; at most two decimals."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")


def share(part: int, of: int) -> int:
    """Whole per cent, and no more than a hundred; nothing of nothing is none."""
    return min(100, part * 100 // of) if of else 0
