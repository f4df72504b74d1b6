"""Many nodes at once: a cell each, whose colour, shape and letter tell how it stands.

Neighbours of one kind are one rectangle, filled with a pattern of their shape, and all letters of a row are one text:
so ten thousand nodes are some hundred elements for the browser.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

WIDTH = 1120
HEADING = 20
GAP_BELOW = 14
SIZES = ((400, 24), (1500, 18), (4000, 12), (20_000, 9))
"""Up to so many nodes the pitch of the cells is so many units."""
LEAST_PITCH = 6
LETTERS_FROM = 18
MOST_LINKS = 1500
"""Up to so many nodes each is a link to its page; of more, each row is one to its group's."""
KINDS = ("ok", "wait", "busy", "warn", "bad")
_SUNK = {"bad": 3, "warn": -3}
"""How much deeper than the middle the letter of a triangle stands."""
_WHOLE = Markup('<svg class="drawing grid" viewBox="0 0 {} {}" role="group" aria-label="{}"><defs>{}</defs>{}</svg>')
_PATTERN = Markup(
    '<pattern id="cell-{}" width="{}" height="{}" patternUnits="userSpaceOnUse"><path class="s-{}" d="{}"/></pattern>'
)
_BLOCK = Markup('<g transform="translate(0 {})">{}</g>')
_RUNS = Markup('<path fill="url(#cell-{})" d="{}"/>')
_HEADING = Markup('<a href="{}"><text x="0" y="{}" class="heading">{}</text></a>')
_LETTERS = Markup('<text class="letters" aria-hidden="true" x="{}" y="{}">{}</text>')
_HIT = Markup(
    '<a href="{}" aria-label="{}"><rect class="hit" x="{}" y="{}" width="{}" height="{}"/><title>{}</title></a>'
)
_ROW = Markup('<a href="{}" tabindex="-1" aria-hidden="true"><rect class="hit" y="{}" width="{}" height="{}"/></a>')


@dataclass(frozen=True, slots=True)
class Block:
    """A group of nodes under one heading. `address` is a page of them all; `cells` are their (kind, letter); `links`
    their (address, title), which may be left out for many."""

    heading: str
    address: str
    cells: Sequence[tuple[str, str]]
    links: Sequence[tuple[str, str]] = ()


def grid(blocks: Sequence[Block], label: str) -> Markup:
    """The drawing."""
    count = sum(len(block.cells) for block in blocks)
    pitch = next((pitch for most, pitch in SIZES if count <= most), LEAST_PITCH)
    size = pitch - max(1, pitch // 7)
    patterns = (_PATTERN.format(kind, pitch, pitch, kind, shape(kind, 0, 0, size)) for kind in KINDS)
    drawn, y = [], 0
    for block in blocks:
        rows = list(_rows(block, pitch))
        inside = [_HEADING.format(block.address, 12 - HEADING, f"{block.heading} · {len(block.cells):,}")]
        inside += [_RUNS.format(kind, path) for kind, path in _runs(rows, pitch)]
        for number, (cells, links) in enumerate(rows):
            inside += _over(block, cells, links, number * pitch, pitch, size)
        drawn.append(_BLOCK.format(y + HEADING, Markup("").join(inside)))
        y += HEADING + len(rows) * pitch + GAP_BELOW
    return _WHOLE.format(WIDTH, max(y, 1), label, Markup("").join(patterns), Markup("").join(drawn))


Row = tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]]


def _rows(block: Block, pitch: int) -> Iterator[Row]:
    columns = WIDTH // pitch
    for first in range(0, len(block.cells), columns):
        yield block.cells[first : first + columns], block.links[first : first + columns]


def _runs(rows: Sequence[Row], pitch: int) -> Iterator[tuple[str, str]]:
    """For each kind the path of its runs in all rows."""
    paths: dict[str, list[str]] = {}
    for number, (cells, _) in enumerate(rows):
        place = 0
        for kind, run in groupby(kind for kind, _ in cells):
            length = sum(1 for _ in run)
            across = length * pitch
            paths.setdefault(kind, []).append(f"M{place * pitch} {number * pitch}h{across}v{pitch}h-{across}z")
            place += length
    for kind, path in paths.items():
        yield kind, "".join(path)


def _over(
    block: Block,
    cells: Sequence[tuple[str, str]],
    links: Sequence[tuple[str, str]],
    y: int,
    pitch: int,
    size: int,
) -> list[Markup]:
    """What lies over a row: its letters if they can be read, and its links."""
    over = []
    if pitch >= LETTERS_FROM:
        places = " ".join(str(place * pitch + size // 2) for place in range(len(cells)))
        heights = " ".join(str(y + size // 2 + 3 + _SUNK.get(kind, 0)) for kind, _ in cells)
        over.append(_LETTERS.format(places, heights, "".join(letter for _, letter in cells)))
    if not links:
        return [*over, _ROW.format(block.address, y, WIDTH, size)]
    for place, (address, title) in enumerate(links):
        over.append(_HIT.format(address, title, place * pitch, y, size, size, title))
    return over


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
