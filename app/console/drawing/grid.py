"""Many nodes at once: a cell each, whose colour, shape and letter tell how it stands.

All cells of one kind are one path, and all letters of a row one text, so that ten thousand nodes are a few hundred
elements for the browser.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH = 1120
HEADING = 20
GAP_BELOW = 14
SIZES = ((400, 24), (1500, 18), (4000, 12), (20_000, 9))
"""Up to so many nodes the pitch of the cells is so many units."""
LEAST_PITCH = 6
LETTERS_FROM = 18
MOST_LINKS = 1500
_HEADING = Markup('<a href="{}"><text x="0" y="{}" class="heading">{}</text></a>')
_LETTERS = Markup('<text class="letters" aria-hidden="true" x="{}" y="{}">{}</text>')
_HIT = Markup(
    '<a href="{}" aria-label="{}"><rect class="hit" x="{}" y="{}" width="{}" height="{}"/><title>{}</title></a>'
)
_ROW = Markup('<a href="{}" tabindex="-1" aria-hidden="true"><rect class="hit" y="{}" width="{}" height="{}"/></a>')
_SUNK = {"bad": 3, "warn": -3}
"""How much deeper than the middle the letter of a triangle stands."""
KINDS = ("ok", "wait", "busy", "warn", "bad")


@dataclass(frozen=True, slots=True)
class Cell:
    """A node: its kind, its letter, what is told when one points at it, and where its page is."""

    kind: str
    letter: str
    title: str
    address: str


@dataclass(frozen=True, slots=True)
class Block:
    """A group of nodes under one heading. `address` is a page of them all."""

    heading: str
    address: str
    cells: Sequence[Cell]


def grid(blocks: Sequence[Block], label: str) -> Markup:
    """The drawing; empty without nodes."""
    count = sum(len(block.cells) for block in blocks)
    pitch = next((pitch for most, pitch in SIZES if count <= most), LEAST_PITCH)
    paths: dict[str, list[str]] = {kind: [] for kind in KINDS}
    above: list[Markup] = []
    y = 0
    for block in blocks:
        above.append(_heading(block, y))
        y = _draw(block, y + HEADING, pitch, paths, above, linked=count <= MOST_LINKS) + GAP_BELOW
    shapes = [Markup('<path class="s-{}" d="{}"/>').format(kind, "".join(path)) for kind, path in paths.items() if path]
    return Markup('<svg class="drawing grid" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}</svg>').format(
        WIDTH, max(y, 1), label, Markup("").join(shapes), Markup("").join(above)
    )


def _heading(block: Block, y: int) -> Markup:
    return _HEADING.format(block.address, y + 12, f"{block.heading} · {len(block.cells):,}")


def _draw(block: Block, top: int, pitch: int, paths: dict[str, list[str]], above: list[Markup], *, linked: bool) -> int:
    """Draw the block's rows; how far down they reach."""
    columns, size = WIDTH // pitch, pitch - max(1, pitch // 7)
    for first in range(0, len(block.cells), columns):
        row, y = block.cells[first : first + columns], top + first // columns * pitch
        for place, cell in enumerate(row):
            paths[cell.kind].append(shape(cell.kind, place * pitch, y, size))
        if pitch >= LETTERS_FROM:
            above.append(_letters(row, y, pitch, size))
        above += _links(row, y, pitch, size) if linked else [_row_link(block, y, size)]
    return top + -(-len(block.cells) // columns) * pitch


def _letters(row: Sequence[Cell], y: int, pitch: int, size: int) -> Markup:
    places = " ".join(str(place * pitch + size // 2) for place in range(len(row)))
    middle = y + size // 2 + 3
    heights = " ".join(str(middle + _SUNK.get(cell.kind, 0)) for cell in row)
    return _LETTERS.format(places, heights, "".join(cell.letter for cell in row))


def _links(row: Sequence[Cell], y: int, pitch: int, size: int) -> list[Markup]:
    return [
        _HIT.format(cell.address, cell.title, place * pitch, y, size, size, cell.title)
        for place, cell in enumerate(row)
    ]


def _row_link(block: Block, y: int, size: int) -> Markup:
    return _ROW.format(block.address, y, WIDTH, size)


def shape(kind: str, x: int, y: int, size: int) -> str:
    """The path of a cell: square, circle, diamond, triangle down, triangle up."""
    half = size // 2
    if kind == "ok":
        return f"M{x} {y}h{size}v{size}h-{size}z"
    if kind == "wait":
        return f"M{x} {y + half}a{half} {half} 0 1 0 {2 * half} 0a{half} {half} 0 1 0 -{2 * half} 0z"
    if kind == "busy":
        return f"M{x + half} {y}l{half} {half}l-{half} {half}l-{half} -{half}z"
    if kind == "warn":
        return f"M{x} {y}h{size}l-{half} {size}z"
    return f"M{x + half} {y}l{half} {size}h-{2 * half}z"
