"""How answers are printed: JSON as it came, or tables and sentences. Colour is rich's: NO_COLOR turns it off."""

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

NUMBER = re.compile(r"-|-?[0-9]+(\.[0-9]+)?")


def as_json_text(answer: Any) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False)


def show(answer: Any, *, as_json: bool) -> None:
    """JSON; or a list of objects as a table, an object as `name value` lines."""
    if as_json:
        print(as_json_text(answer))
    elif isinstance(answer, dict):
        lists = {name: value for name, value in answer.items() if _is_rows(value)}
        plain = {name: value for name, value in answer.items() if name not in lists}
        width = max((len(name) for name in plain), default=0)
        for name, value in plain.items():
            print(f"{name:<{width}}  {text(value)}")
        for name, rows in lists.items():
            table(rows, title=name if len(answer) > 1 else "", empty=f"no {name}")
    elif _is_rows(answer):
        table(answer)
    elif answer is not None:
        print(text(answer))


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str] = (), *, title: str = "", empty: str = "none") -> None:
    """Rows under the given columns, or under every key that some row has a value for."""
    if not rows:
        print(empty)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    names = columns or [key for key in dict.fromkeys(k for row in rows for k in row) if _is_used(rows, key)]
    grid = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in names:
        numeric = all(NUMBER.fullmatch(text(row.get(name))) for row in rows)
        grid.add_column(name.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(text(row.get(name)) for name in names))
    # A pipe has no width: then lines are as long as they need to be.
    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 10_000)
    with console.capture() as drawn:
        console.print(grid)
    print("\n".join(line.rstrip() for line in drawn.get().splitlines() if line.strip()))


def dollars(micro_usd: int) -> str:
    """Integer micro-dollars with their six decimals: -1 is -0.000001."""
    sign = "-" if micro_usd < 0 else ""
    return f"{sign}{abs(micro_usd) // 1_000_000}.{abs(micro_usd) % 1_000_000:06d}"


def text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_used(rows: Sequence[dict[str, Any]], key: str) -> bool:
    return any(row.get(key) is not None for row in rows)
