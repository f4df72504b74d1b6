"""A browser for each test, on a world of its own."""

from collections.abc import Iterator

import pytest

from tests.console.pages import Browser
from tests.kit import TestWorld


@pytest.fixture
def browser(world: TestWorld) -> Iterator[Browser]:
    opened = Browser(world)
    yield opened
    opened.http.close()
