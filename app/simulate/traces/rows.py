"""A row of a public trace, as every format has it, and how cells become numbers; errors say where."""

from collections.abc import Iterable, Iterator
from csv import reader
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.errors import Invalid


@dataclass(frozen=True, slots=True)
class Row:
    """One job. Seconds; `owners` maps what it may be charged to (vc, user, queue ...) to whom.

    `free` marks work that its owner declared best effort. None as `runtime`: it was never seen to run or to end.
    """

    line: int
    id: str
    submit: int
    runtime: int | None
    gpus: int
    owners: tuple[tuple[str, str], ...]
    free: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and where it stands."""

    line: int
    column: str
    text: str

    def wrong(self, expected: str) -> Invalid:
        return Invalid(f"line {self.line}, column {self.column}: expected {expected}, found {self.text!r}.")

    def whole(self) -> int:
        """A number that is not negative; `8.0` and `66.4` are read too, and rounded down."""
        try:
            number = int(float(self.text)) if "." in self.text or "e" in self.text.lower() else int(self.text)
        except (ValueError, OverflowError):
            raise self.wrong("a number") from None
        if number < 0:
            raise self.wrong("a number that is not negative")
        return number

    def seconds(self) -> int:
        """An instant as seconds since 1970; without a zone it is taken for UTC."""
        try:
            moment = datetime.fromisoformat(self.text)
        except ValueError:
            raise self.wrong("a time such as 2017-10-09 07:01:55") from None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())

    def __bool__(self) -> bool:
        return bool(self.text.strip())


class Table:
    """The lines of a CSV file with a header, one at a time."""

    def __init__(self, lines: Iterable[str], needed: tuple[str, ...]) -> None:
        """Invalid: a needed column is missing."""
        self._rows = reader(lines)
        header = [name.strip() for name in next(self._rows, [])]
        missing = [name for name in needed if name not in header]
        if missing:
            raise Invalid(
                f"line 1: no column {', '.join(missing)}; expected {', '.join(needed)}, found {', '.join(header)}."
            )
        self._header, self._at = header, {name: header.index(name) for name in header}

    def __iter__(self) -> Iterator["Record"]:
        for cells in self._rows:
            line = self._rows.line_num
            if not cells:
                continue
            if len(cells) != len(self._header):
                raise Invalid(f"line {line}: expected {len(self._header)} cells, found {len(cells)}.")
            yield Record(line, self._at, cells)


@dataclass(frozen=True, slots=True)
class Record:
    line: int
    at: dict[str, int]
    cells: list[str]

    def __getitem__(self, column: str) -> Cell:
        return Cell(self.line, column, self.cells[self.at[column]])

    def owners(self, *columns: str) -> tuple[tuple[str, str], ...]:
        """Who it may be charged to; who is not named is `unknown`."""
        return tuple((column, self[column].text.strip() or "unknown") for column in columns)
