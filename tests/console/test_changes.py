"""The stream that tells a page to ask again."""

import html
import re

import httpx
import pytest

from app.usecases import changes
from tests.console.pages import Browser
from tests.kit import PLAIN, Running, TestWorld, login, slurm, workers


def test_a_change_is_told(browser: Browser) -> None:
    """Whatever it is: the stream says no more than that something has changed."""
    with browser.http.stream("GET", f"/console/{browser.world.name}/changes", timeout=30) as answer:
        lines = answer.iter_lines()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert next(lines) == "retry: 2000"
        browser.world.advance(60)
        assert next(line for line in lines if line.startswith("event")) == "event: changed"


def test_a_stream_of_no_world_waits(service: Running) -> None:
    """A page of a dropped world is told nothing, and its next request says why."""
    with httpx.stream("GET", f"{service.base}/console/none/changes", verify=PLAIN) as answer:
        assert next(answer.iter_lines()) == "retry: 2000"


def test_what_happened_before_the_stream_was_open_is_told(browser: Browser) -> None:
    """A page names the state that it shows: if that is over already, it is told at once, and else not."""
    before = _stream_of(browser.get())
    browser.world.advance(60)
    for address, first in ((before, "event: changed"), (_stream_of(browser.get()), ": beat")):
        with browser.http.stream("GET", address, timeout=30) as answer:
            told = [line for line, _ in zip(answer.iter_lines(), range(3), strict=False)]
            assert told == ["retry: 2000", "", first]


def _stream_of(page: str) -> str:
    return html.unescape(re.search(r'data-changes="([^"]+)"', page)[1])  # type: ignore[index]


@pytest.fixture
def marked(world: TestWorld, database: object) -> TestWorld:
    world.sagemaker.create_cluster(**slurm(login(), workers(2)))
    return world


async def test_each_kind_of_change_leaves_its_mark(marked: TestWorld, database) -> None:  # type: ignore[no-untyped-def]
    """Clock, faults, capacity, clusters, workloads, budgets; and reading leaves none."""
    seen = await database.run(changes.mark, marked.name)
    acts = (
        lambda: marked.control("POST", "clock", json={"rate": 2}),
        lambda: marked.advance(30),
        lambda: marked.fault("launch-capacity"),
        lambda: marked.control("DELETE", "faults"),
        lambda: marked.capacity("ml.p5.48xlarge", 9),
        lambda: marked.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[workers(3)]),
        lambda: marked.sagemaker.delete_cluster(ClusterName="demo"),
    )
    for act in acts:
        act()
        found = await database.run(changes.mark, marked.name)
        assert found != seen
        seen = found
    marked.describe()
    assert await database.run(changes.mark, marked.name) == seen
    assert await database.run(changes.mark, "no-such-world") is None
