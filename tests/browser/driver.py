"""One headless Chromium for all browser tests, and a tab that notes whatever a browser complains of."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.kit import TestWorld

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # as root, in containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 60_000.0
"""Wall time that a state may take; only a failure waits so long."""
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


def program() -> str:
    """The browser's path; without one the test is skipped, or fails where browsers are required."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        told = "no Chromium found: apt-get install chromium"
        if os.environ.get("REQUIRE_CLIENTS") == "1":
            pytest.fail(told)
        pytest.skip(told)
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that ends with the block."""
    path = program()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Tab:
    """A tab on a world's console. `complaints` are the browser's: errors in the console, of scripts, of the policy."""

    page: Page
    world: TestWorld
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("requestfailed", self._note_failure)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _note_failure(self, request: Any) -> None:
        # A page that is left breaks off what it still asks for.
        if "ERR_ABORTED" not in (request.failure or ""):
            self.complaints.append(f"request: {request.url} {request.failure}")

    def open(self, path: str = "") -> None:
        """Go to a page of the world, as far as it is read without a script."""
        address = f"{self.world.base}/console/{self.world.name}/{path}".rstrip("/")
        answer = self.page.goto(address, wait_until="domcontentloaded")
        assert answer is not None
        assert answer.ok, answer.text()

    def press(self, name: str, role: Any = "button") -> None:
        """Press what is called so, and wait for the page that it leads to."""
        with self.page.expect_navigation(wait_until="domcontentloaded"):
            self.page.get_by_role(role, name=name, exact=True).first.click()

    def sees(self, text: str) -> None:
        """Wait until the page says so."""
        self.page.get_by_text(text).first.wait_for(state="attached")
