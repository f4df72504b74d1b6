"""One browser for all these tests, a tab with storage and cookies of its own for each test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.driver import WIDE, Tab, launched
from tests.kit import TestWorld


@pytest.fixture(scope="package")  # while the driver lives its event loop does, too, beside which no other may run
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def tabs(chromium: Browser) -> Iterator[Callable[..., Tab]]:
    """Makes tabs; options are Playwright's of a context."""
    contexts = []

    def made(world: TestWorld, **options: Any) -> Tab:
        contexts.append(chromium.new_context(**({"viewport": WIDE} | options)))
        return Tab(contexts[-1].new_page(), world)

    yield made
    for context in contexts:
        context.close()


@pytest.fixture
def tab(tabs: Callable[..., Tab], world: TestWorld) -> Tab:
    return tabs(world)
