"""How a demonstration is told on a terminal."""

import re
from collections.abc import Iterable

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from app.commands.acts import ACTS
from app.commands.output import NUMBER
from app.commands.stage import Step

_WIDEST = 118
_INDENT = 4
_INSTANT = re.compile(r"2026-01-01T([0-9:]{8})\.000Z")  # the day of the demonstration, which is told at its beginning


class Telling:
    """Tells steps as they come: an act's name once, then what is done, the commands that do it, and what they show."""

    def __init__(self, console: Console) -> None:
        self._console, self._act = console, ""

    def begin(self, where: str) -> None:
        title = Text("Windtunnel, in three acts", style="bold")
        about = Text(f"A shortage of GPUs, two teams, a bill. Everything below really runs, on {where}.")
        self._console.print(Panel(Group(title, about), box=box.ROUNDED, border_style="cyan", width=self._width()))

    def tell(self, step: Step) -> None:
        if step.act != self._act:
            self._act = step.act
            number = ACTS.index(step.act) + 1
            self._console.print()
            self._console.rule(f"[bold cyan]{number}[/]  [bold]{escape(step.act)}[/]", align="left", style="cyan")
        self._console.print()
        self._console.print(Text(step.says), width=self._width())
        for command in step.commands:
            self._console.print(_command(command), width=self._width())
        if step.rows:
            self._console.print(Padding(_table(step), (1, 0, 1, _INDENT), expand=False))
        if step.means:
            self._console.print(Text.assemble(("→ ", "cyan"), _text(step.means)), width=self._width())

    def end(self, lines: Iterable[str]) -> None:
        self._console.print()
        self._console.print(
            Panel(Group(*(Text(line) for line in lines)), box=box.ROUNDED, border_style="cyan", width=self._width())
        )

    def _width(self) -> int:
        return min(self._console.width, _WIDEST)


def _command(command: str) -> Text:
    """A long one is shown by its beginning; `--json` has it whole."""
    program, _, rest = command.partition(" ")
    return Text.assemble(("  $ ", "dim"), (program, "green"), " ", (rest, "dim"), no_wrap=True, overflow="ellipsis")


def _table(step: Step) -> Table:
    names = list(dict.fromkeys(name for row in step.rows for name in row))
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
    for name in names:
        numeric = all(NUMBER.fullmatch(str(row.get(name, "-"))) for row in step.rows)
        grid.add_column(name.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in step.rows:
        grid.add_row(*(_text(row.get(name, "-")) for name in names))
    return grid


def _text(value: object) -> Text:
    return Text(_INSTANT.sub(r"\1", str(value)))
