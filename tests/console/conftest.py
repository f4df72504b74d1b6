"""A browser for each test, on a world of its own."""

from collections.abc import Iterator

import pytest

from app.console import journeys
from tests.console.pages import Browser
from tests.kit import TestWorld


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Posted forms wait for their advances, however slow the machine is."""
    monkeypatch.setattr(journeys, "PATIENCE_SECONDS", 60)


@pytest.fixture
def browser(world: TestWorld, patient: None) -> Iterator[Browser]:
    opened = Browser(world)
    yield opened
    opened.http.close()
