"""Reads the catalogue's TOML: a table when it is first asked for, not at import, which every process pays."""

from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@cache
def table(name: str) -> Row:
    """The whole of `<name>.toml`. The answer is shared: take from it, never write to it."""
    # Here, because tomllib with its regular expressions costs more than the rest of this package together.
    import tomllib

    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def origin(document: Row, row: Row) -> Row:
    """The three fields each record ends with: how well the row is known, from where, of what day."""
    source = document["sources"][row["source"]]
    return {"evidence": row["evidence"], "source": source["title"], "date": source["date"]}
