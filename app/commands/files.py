"""Files of the user's that a request carries: TOML or JSON."""

import json
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import typer


def read_object(path: Path, what: str) -> Any:
    """The file's content as JSON has it; raises typer.BadParameter if it is neither TOML nor JSON."""
    try:
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return json.loads(content)
        return json.loads(json.dumps(tomllib.loads(content), default=_instant))  # TOML has instants, JSON has not
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"the {what} {path} cannot be read: {error}") from error


def _instant(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise ValueError(f"{value!r} is no value of such a file")
