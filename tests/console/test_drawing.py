"""Drawings, as the browser gets them."""

import xml.etree.ElementTree as ET

from app.console.drawing import bars
from app.console.drawing.grid import KINDS, MOST_LINKS, Block, grid, shape

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: str) -> ET.Element:
    return ET.fromstring(str(drawing).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def cells(count: int, kind: str = "ok", letter: str = "R") -> list[tuple[str, str]]:
    return [(kind, letter)] * count


def test_neighbours_of_a_kind_are_one_shape() -> None:
    """Ten thousand nodes are few elements and few bytes."""
    many = Block("workers", "/g", cells(5000) + cells(10, "bad", "F") + cells(4990))
    drawing = grid([many], "10,000 nodes")
    assert len(list(parsed(drawing).iter())) < 400
    assert len(drawing) < 40_000


def test_every_run_is_as_long_as_its_nodes() -> None:
    drawing = parsed(grid([Block("g", "/g", cells(3) + cells(2, "wait", "B"), [("/n", "n")] * 5)], "5 nodes"))
    runs = {path.get("fill"): path.get("d") for path in drawing.iter(f"{SVG}path") if path.get("fill")}
    assert runs == {"url(#cell-ok)": "M0 0h72v24h-72z", "url(#cell-wait)": "M72 0h48v24h-48z"}
    letters = next(text for text in drawing.iter(f"{SVG}text") if text.get("class") == "letters")
    assert (letters.text, len(str(letters.get("x")).split())) == ("RRRBB", 5)
    assert len([link for link in drawing.iter(f"{SVG}a") if link.get("href") == "/n"]) == 5


def test_each_kind_has_a_shape_of_its_own() -> None:
    assert len({shape(kind, 0, 0, 10) for kind in KINDS}) == len(KINDS)


def test_too_many_for_links_of_their_own() -> None:
    count = MOST_LINKS + 1
    drawing = parsed(grid([Block("g", "/g", cells(count))], "many"))
    assert {link.get("href") for link in drawing.iter(f"{SVG}a")} == {"/g"}


def test_names_are_escaped() -> None:
    block = Block("<b>&\"'", "/?a=1&b=<", cells(1), [("/<", '"><script>')])
    assert "<script>" not in grid([block], '">')
    assert parsed(grid([block], '">')).get("aria-label") == '">'


def test_a_bar_is_its_parts() -> None:
    drawing = parsed(bars.parts([(6, "ok", "Running"), (0, "bad", "Failed"), (2, "warn", "Waiting")], 10, "6 of 10"))
    widths = {rect.get("class"): int(rect.get("width", 0)) for rect in drawing.iter(f"{SVG}rect")}
    assert widths == {"s-track": 240, "s-ok": 144, "s-warn": 48}


def test_more_than_is_wanted_fits() -> None:
    """A group that shrinks has more than it wants."""
    drawing = parsed(bars.parts([(8, "ok", "Running")], 4, "8 of 4"))
    assert [rect.get("width") for rect in drawing.iter(f"{SVG}rect")] == ["240", "240"]


def test_nothing_of_nothing() -> None:
    assert len(list(parsed(bars.parts([], 0, "none")).iter(f"{SVG}rect"))) == 1
