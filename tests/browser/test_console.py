"""The console in a real browser: what a user clicks through, and what no browser may complain of."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.console.navigation import entries
from tests.browser.driver import NARROW, WIDE, Tab
from tests.kit import Running, TestWorld
from tests.workloads import fleet, funded, submit

HERE = Path(__file__).parent
LOOK = (HERE / "looking.js").read_text(encoding="utf-8")
CONTRAST = (HERE / "contrast.js").read_text(encoding="utf-8")
SOFT = ("ok", "wait", "warn", "bad", "busy")
PAIRS = [
    *((f"--{text}", f"--{ground}") for text in ("text", "muted") for ground in ("bg", "surface", "raised")),
    *((f"--{text}", "--surface") for text in ("accent", *SOFT)),
    *((f"--{name}", f"--{name}-soft") for name in (*SOFT, "accent")),
    ("--on-accent", "--accent"),
]
"""What is written on what."""
LEAST_CONTRAST = 4.5
"""WCAG 2.2, AA, of text that is not large."""


@pytest.fixture(scope="package")
def lived(service: Running) -> TestWorld:
    """A world in which something of everything has happened."""
    world = fleet(service.world(), 2, research=2, product=1)
    world.capacity("ml.p5.48xlarge", 2)
    funded(world, "pretrain", "research", 2, replicas=2, runtime_seconds=36_000, checkpoint_seconds=1800)
    world.advance(hours=1)
    funded(world, "launch", "product", 1, runtime_seconds=3600)
    submit(world, "sweep", 4, runtime_seconds=3600)
    world.fault("launch-transient", group="gpus", times=2)
    world.control("POST", "snapshots", json={"name": "kept"})
    world.advance(hours=2)
    return world


def test_from_a_cluster_to_the_interval_of_its_bill(tab: Tab) -> None:
    """Create a cluster, add a fault, advance, see what came of it, and what it cost, down to an interval."""
    page = tab.page
    tab.open("clusters")
    page.get_by_label("Name").fill("shop")
    page.get_by_label("Workers", exact=True).fill("2")
    tab.press("Create a demo cluster")
    tab.sees("shop")
    tab.open("faults?effect=script-failed")
    page.get_by_label("Group").fill("workers")
    page.get_by_label("At most so often").fill("1")
    tab.press("Add the rule")
    tab.sees("Rule f-1 holds from now on")
    tab.press("+1 h")
    page.locator("#rule-f-1").get_by_text("1 of 1").wait_for()
    tab.open("clusters/shop")
    tab.sees("InService")
    tab.open("events")
    tab.sees("Error")
    tab.open("bill")
    page.locator("main a[href*='interval'], main details summary, main tbody a").first.click()
    tab.sees("2026-01-01 01:00:00")
    assert tab.complaints == []


def test_a_deed_is_told_as_command_and_as_python(tab: Tab) -> None:
    """Whoever clicks learns how to say it."""
    tab.open("snapshots")
    tab.page.get_by_label("Name").fill("before")
    tab.press("Save")
    tab.page.locator(".deed summary").click()
    tab.page.locator(".deed pre", has_text=f"windtunnel snapshot save before --world {tab.world.name}").wait_for()
    assert "httpx.post(" in tab.page.locator(".deed").inner_text()
    tab.press("Go back to before")
    tab.sees("a new history begins")
    assert tab.complaints == []


def test_every_link_names_its_world(tab: Tab, service: Running) -> None:
    """CT-0: the switcher leads to another world, where every link is that one's."""
    other = service.world()
    tab.open("capacity")
    tab.page.locator(".worlds summary").click()
    tab.page.locator(".worlds").get_by_role("link", name=other.name).click()
    tab.page.wait_for_url(f"**/console/{other.name}")
    links = tab.page.eval_on_selector_all("nav a", "links => links.map(a => a.pathname)")
    assert len(links) >= len(entries())
    assert all(link == f"/console/{other.name}" or link.startswith(f"/console/{other.name}/") for link in links)
    assert tab.complaints == []


def test_what_others_do_is_seen_without_a_reload(tab: Tab) -> None:
    """The stream says that something has changed; a field that somebody fills in is left alone."""
    tab.open("capacity")
    tab.page.get_by_label("Type").fill("ml.g5")
    tab.page.evaluate("window.same = true")
    tab.world.capacity("ml.p4d.24xlarge", 3)
    tab.page.get_by_role("rowheader", name="ml.p4d.24xlarge").wait_for()
    tab.world.advance(hours=1)
    tab.page.locator("time.tick", has_text="01:00:00").wait_for()
    assert tab.page.get_by_label("Type").input_value() == "ml.g5"
    assert tab.page.evaluate("window.same") is True
    assert tab.complaints == []


def test_by_keyboard_alone(tab: Tab) -> None:
    """Keys lead to pages, to help and to another theme, and the first Tab to the content."""
    page, keys = tab.page, tab.page.keyboard
    tab.open()
    keys.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    keys.press("?")
    page.locator("dialog#keys[open]").wait_for()
    keys.press("Escape")
    page.locator("dialog#keys:not([open])").wait_for(state="attached")
    for theme in ("light", "dark"):
        keys.press("t")
        page.locator(f"html[data-theme={theme}]").wait_for(state="attached")
    keys.press("g")
    keys.press("x")
    page.wait_for_url(f"**/console/{tab.world.name}/faults")
    page.locator("html[data-theme=dark]").wait_for(state="attached")
    assert tab.complaints == []


def test_it_reads_and_works_without_a_script(tabs: Callable[..., Tab], lived: TestWorld) -> None:
    """All reading by links and forms; the clock moves by a form as well."""
    tab = tabs(lived, java_script_enabled=False)
    for entry in entries():
        tab.open(entry.path)
        assert tab.page.locator("h1").count() == 1, entry
    tab.open("capacity/prices")
    tab.page.get_by_label("Type", exact=True).fill("p5.48")
    tab.press("Show")
    assert tab.page.get_by_role("rowheader").all_inner_texts() == ["ml.p5.48xlarge"]
    before = lived.now()
    tab.press("+1 m")
    assert lived.now() > before
    assert tab.complaints == []


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.path or "overview")
def test_no_page_gives_cause_for_complaint(
    tabs: Callable[..., Tab], lived: TestWorld, service: Running, entry: Any
) -> None:
    """RL-27: no error, no violation of the policy, nothing unnamed, nothing that sticks out; wide and narrow, light and
    dark, in a world that has lived and in an empty one."""
    for world in (lived, service.world()):
        tab = tabs(world)
        tab.open(entry.path)
        for scheme, size in (("light", WIDE), ("dark", NARROW)):
            tab.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            tab.page.set_viewport_size(size)  # type: ignore[arg-type]
            assert tab.page.evaluate(LOOK) == [], (world.name, scheme)
        assert tab.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(tabs: Callable[..., Tab], lived: TestWorld, scheme: Any) -> None:
    """WCAG 2.2, AA, of every pair of colours that text is written in."""
    tab = tabs(lived, color_scheme=scheme)
    tab.open()
    found = tab.page.evaluate(CONTRAST, PAIRS)
    assert len(found) == len(PAIRS)
    assert [pair for pair in found if pair[2] < LEAST_CONTRAST] == []


def test_a_script_of_a_page_would_be_blocked_and_noted(tab: Tab) -> None:
    """RL-27: the policy holds, and these tests would see a violation."""
    tab.open()
    tab.page.evaluate(
        "() => { const made = document.createElement('script'); made.textContent = 'window.bad = 1';"
        " document.body.append(made); }"
    )
    assert tab.page.evaluate("window.bad") is None
    assert ["Content Security Policy" in each for each in tab.complaints] == [True]
