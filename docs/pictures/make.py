"""Makes the pictures of the console in this folder, of the world that `windtunnel demo` plays: the same each time.

python docs/pictures/make.py
"""

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
Scheme = Literal["light", "dark"]
PICTURES: tuple[tuple[str, str, Scheme], ...] = (
    ("overview-light", "", "light"),
    ("overview-dark", "", "dark"),
    ("queue-light", "queue", "light"),
    ("nodes-over-time-dark", "node-times", "dark"),
    ("bill-light", "bill?by=instance", "light"),
    ("what-if-light", "what-if/1", "light"),
)
"""The name, the page, and the theme."""
SIZE: Any = {"width": 1240, "height": 760}
MOST_BYTES = 150_000


@contextmanager
def demo() -> Iterator[str]:
    """The address of the world of a demonstration that stays up for the block."""
    command = [sys.executable, "-m", "app.cli", "demo", "--keep", "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
    assert process.stdout
    lines = iter(process.stdout.readline, "}\n")
    try:
        yield json.loads("".join(lines) + "}")["endpoint"]
    finally:
        process.terminate()
        process.wait(60)


def post(address: str, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)  # noqa: S310 - loopback
    urllib.request.urlopen(request, timeout=60).close()  # noqa: S310


def busy(endpoint: str) -> None:
    """Some work more, so that somebody waits."""
    own = f"{endpoint}/_windtunnel"
    for name, budget, gpus, replicas in (
        ("evaluate", "product", 8, 1),
        ("tune", "research", 8, 2),
        ("probe", None, 4, 1),
    ):
        body = {"name": name, "gpus": gpus, "replicas": replicas, "runtime_seconds": 5400}
        funded = {"budget": budget, "min_runtime_seconds": 3600} if budget else {}
        post(f"{own}/workloads", body | funded)
    post(f"{own}/faults", {"effect": "node-degraded", "code": "Xid-63", "times": 1, "seconds": 3600})
    post(f"{own}/clock/advance", {"by": 1500})


def take(browser: Browser, base: str, world: str) -> None:
    """Every picture; raises when one is too heavy."""
    page = browser.new_page(viewport=SIZE)
    page.goto(f"{base}/console/{world}/what-if?kind=fault")
    page.locator("select[name=effect]").select_option("node-hardware")
    page.locator("input[name=times]").fill("2")
    page.get_by_role("button", name="Play both").click()
    page.get_by_role("heading", name="Side by side").wait_for(timeout=120_000)
    for name, path, scheme in PICTURES:
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{base}/console/{world}/{path}".rstrip("/"), wait_until="load")
        page.wait_for_timeout(500)
        file = HERE / f"{name}.png"
        page.screenshot(path=file)
        if file.stat().st_size > MOST_BYTES:
            raise RuntimeError(f"{file.name} has {file.stat().st_size} bytes, over {MOST_BYTES}")
        print(f"{file.name}: {file.stat().st_size // 1000} kB")


def main() -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with demo() as endpoint, sync_playwright() as driver:
        busy(endpoint)
        browser = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        base, _, world = endpoint.partition("/w/")
        take(browser, base, world)
        browser.close()


if __name__ == "__main__":
    main()
