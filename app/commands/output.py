"""How answers are printed: JSON as it came, or tables and sentences, with colour where a person looks.

Colour is rich's: none in a pipe, none with NO_COLOR, and FORCE_COLOR to have it all the same.
"""

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

NUMBER = re.compile(r"-|-?[0-9]+(\.[0-9]+)?")
PIPE_WIDTH = 10_000  # a pipe has no width: lines are as long as they need to be


class Screen(NamedTuple):
    """What is drawn for: its width in columns, and whether a person looks at it."""

    width: int
    is_terminal: bool


_screen: ContextVar[Screen | None] = ContextVar("screen", default=None)


def screen() -> Screen:
    """Where standard output leads, or where it led before it was captured."""
    found = _screen.get()
    if found is not None:
        return found
    if not sys.stdout.isatty() and not os.environ.get("FORCE_COLOR"):
        return Screen(PIPE_WIDTH, is_terminal=False)
    from rich.console import Console

    console = Console()
    return Screen(console.width if sys.stdout.isatty() else PIPE_WIDTH, console.is_terminal)


def captured(draw: Callable[[], None]) -> str:
    """What `draw` prints, as it would look on the screen."""
    token, text = _screen.set(screen()), io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            draw()
    finally:
        _screen.reset(token)
    return text.getvalue()


def as_json_text(answer: Any) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False)


def show(answer: Any, *, as_json: bool) -> None:
    """JSON; or a list of objects as a table, an object as `name value` lines."""
    if as_json:
        print(as_json_text(answer))
    elif isinstance(answer, dict):
        lists = {name: value for name, value in answer.items() if _is_rows(value)}
        facts({name: value for name, value in answer.items() if name not in lists})
        for name, rows in lists.items():
            table(rows, title=name if len(answer) > 1 else "", empty=f"no {name}")
    elif _is_rows(answer):
        table(answer)
    elif answer is not None:
        print(text(answer))


def facts(plain: dict[str, Any]) -> None:
    """A line for each, the values below each other."""
    width = max((len(name) for name in plain), default=0)
    lines = [(f"{name:<{width}}", text(value), name) for name, value in plain.items()]
    if not lines or not screen().is_terminal:  # without rich, which takes its time to load
        print("".join(f"{padded}  {said}\n" for padded, said, _ in lines), end="")
        return
    from rich.text import Text

    with _printing() as console:
        for padded, said, name in lines:
            console.print(Text.assemble((padded, "dim"), "  ", (said, colour(name, said))), soft_wrap=True)


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str] = (), *, title: str = "", empty: str = "none") -> None:
    """Rows under the given columns, or under every key that some row has a value for."""
    if not rows:
        print(empty)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = columns or [key for key in dict.fromkeys(k for row in rows for k in row) if _is_used(rows, key)]
    grid = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in names:
        numeric = all(NUMBER.fullmatch(text(row.get(name))) for row in rows)
        grid.add_column(name.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        cells = ((name, text(row.get(name))) for name in names)
        grid.add_row(*(Text(said, colour(name, said)) for name, said in cells))
    with _printing() as console:
        console.print(grid)


@contextlib.contextmanager
def _printing() -> Iterator["Console"]:
    """A console whose lines are printed without the blanks at their ends, and without empty ones."""
    from rich.console import Console

    where = screen()
    console = Console(markup=False, highlight=False, width=where.width, force_terminal=where.is_terminal)
    with console.capture() as drawn:
        yield console
    print("\n".join(line.rstrip() for line in drawn.get().splitlines() if line.strip()))


_COLOURED = ("status", "state", "health", "severity", "level", "ready", "settled", "frozen", "code")
_WORDS = {
    "green": "running inservice active schedulable healthy succeeded completed ready ok available delivered yes",
    "yellow": "pending waiting queued creating updating deleting draining drained held leaving starting shuttingdown "
    "systemupdating warn warning cancelled cancelling away new",
    "red": "failed failure error critical expired unhealthy lost evicted alarm unschedulabledueto",
}
_STYLES = {word: style for style, words in _WORDS.items() for word in words.split()}


def colour(name: str, said: str) -> str:
    """The style of a state's word, and of nothing else."""
    if name.rpartition("_")[2].rpartition(" ")[2] not in _COLOURED:
        return ""
    word = re.sub(r"[^a-z]", "", said.partition(":")[0].lower().removeprefix("job_state_"))
    return _STYLES.get(word, "")


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
