"""The chart of nodes over time."""

from xml.etree import ElementTree

from app.console.drawing.node_times import draw, lanes, row_height
from app.core.occupancy import Kept, Occupancy, Row, Stay
from app.core.scheduling.policy import HOUR

NOW = 10 * HOUR


def stay(node: str, name: str, gpus: int, since: int, until: int | None = None, **facts: object) -> Stay:
    return Stay(node, name, name, "research", gpus, since, until, **facts)  # type: ignore[arg-type]


def drawn(*stays: Stay, rows: int = 2, kept: tuple[Kept, ...] = (), **facts: int) -> ElementTree.Element:
    names = [Row(f"n{number}", "gpus", 8, "healthy") for number in range(rows)]
    chart = Occupancy(names, stays, kept, facts.get("since", 4 * HOUR), facts.get("until", 12 * HOUR), NOW)
    return ElementTree.fromstring(draw(chart, {"research": "c0"}, lambda name: f"/w/{name}?a=1&b=2"))


def of_class(svg: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [one for one in svg.iter() if name in one.get("class", "").split()]


def test_stays_of_one_node_lie_beside_each_other_while_there_is_room() -> None:
    """A GPU that has become free is taken again."""
    stays = [
        stay("n", "a", 4, 0, 5 * HOUR),
        stay("n", "b", 2, 1 * HOUR),
        stay("n", "c", 2, 2 * HOUR),
        stay("n", "d", 4, 5 * HOUR),
    ]
    assert lanes(stays, 8, NOW) == [0, 4, 6, 0]


def test_a_stay_without_a_gap_of_its_size_is_drawn_all_the_same() -> None:
    assert lanes([stay("n", "a", 8, 0), stay("n", "b", 8, 1)], 8, NOW) == [0, 0]
    assert lanes([stay("n", "a", 16, 0)], 8, NOW) == [0]


def test_a_gang_is_one_path_with_one_link_over_all_its_nodes() -> None:
    """128 nodes are a few kilobytes."""
    svg = drawn(*(stay(f"n{number}", "gang", 8, 5 * HOUR, funded=True) for number in range(128)), rows=128)
    [bar] = of_class(svg, "bar")
    assert bar.get("d", "").count("Z") == 128 and bar.get("class") == "bar c0"
    [link] = svg.iter("a")
    assert link.get("href") == "/w/gang?a=1&b=2"
    [title] = link.iter("title")
    assert title.text is not None and title.text.startswith("gang · research\n1024 GPUs on 128 nodes\n")


def test_protection_is_hatched_until_it_ends_or_the_work_does() -> None:
    """FS-4: also beyond now, since that is what others wait for."""
    for until, right in ((None, 12), (9 * HOUR, 9)):
        svg = drawn(stay("n0", "a", 8, 6 * HOUR, until, funded=True, protected_until=12 * HOUR))
        assert f"H{104 + (1180 - 104) * (right - 4) / 8:.1f}V" in of_class(svg, "protected")[-1].get("d", "")
        assert len(of_class(svg, "to-come")) == (until is None)


def test_a_reservation_shows_its_hosts_and_t() -> None:
    """FS-9."""
    kept = Kept("large", ("n0", "n1", "gone"), 8 * HOUR, 11 * HOUR)
    svg = drawn(kept=(kept,))
    assert of_class(svg, "kept")[0].get("d", "").count("Z") == 2
    assert of_class(svg, "due-label")[0].text == "T"
    assert not of_class(drawn(kept=(kept,), until=10 * HOUR), "due-label")


def test_names_are_told_apart_from_markup() -> None:
    svg = drawn(stay("n0", "<b>&", 8, 5 * HOUR))
    assert [one.text for one in of_class(svg, "name")] == ["<b>&"]


def test_no_style_and_no_script_is_in_a_drawing() -> None:
    """RL-27: the content security policy allows neither."""
    svg = drawn(stay("n0", "a", 8, 5 * HOUR, NOW, funded=True, evicted=True))
    assert not list(svg.iter("style")) and not list(svg.iter("script"))
    assert not any("style" in one.attrib for one in svg.iter())
    assert of_class(svg, "evicted")


def test_now_is_marked_within_the_window_alone() -> None:
    assert of_class(drawn(), "now") and not of_class(drawn(until=9 * HOUR), "now")


def test_rows_are_lower_the_more_there_are() -> None:
    assert [row_height(count) for count in (1, 16, 17, 64, 128)] == [26, 26, 18, 12, 8]
