"""How the console bears ten thousand nodes: first paint, longest task of the main thread, weight of the page.

    python -m benchmarks.console [NODES]

A Chromium of this machine looks at a service of its own, alone on it. Wanted: a first paint within a second and no task
over 200 ms; a task is the browser's work without a pause, as its PerformanceObserver tells those over 50 ms.
"""

import sys
from statistics import median
from typing import Any

import boto3
from playwright.sync_api import Browser, sync_playwright

from benchmarks.processes import server
from benchmarks.scale import eks
from benchmarks.versus_moto import free_port, post
from tests.browser.driver import FLAGS, WIDE, program

NODES, GROUPS, TIMES = 10_000, 50, 3
PATHS = ("", "clusters", "clusters/large", "nodes?cluster=large", "events", "bill")
WATCH = """() => {
  window.tasks = [];
  new PerformanceObserver(list => { for (const one of list.getEntries()) window.tasks.push(one.duration); })
    .observe({type: "longtask", buffered: true});
}"""
FIGURES = """() => ({
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
  answered: performance.getEntriesByType("navigation")[0].responseEnd,
  page: performance.getEntriesByType("navigation")[0].encodedBodySize,
  others: performance.getEntriesByType("resource").reduce((sum, one) => sum + one.encodedBodySize, 0),
  elements: document.querySelectorAll("*").length,
  longest: Math.max(0, ...window.tasks),
})"""


def look(browser: Browser, address: str) -> dict[str, Any]:
    """One visit with an empty cache, and what came of it once the network is quiet; milliseconds and bytes."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    page.goto(address, wait_until="load")
    page.wait_for_timeout(1500)
    found: dict[str, Any] = page.evaluate(FIGURES)
    context.close()
    return found


def main() -> None:
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else NODES
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "app.cli", "up", "--ephemeral", "--port", str(port), "--grpc-port", "0"]
    command += ["--frozen", "--profile", "instant", "--log-level", "error"]
    with server(command, f"{base}/_windtunnel/ready"):
        fill(base, nodes)
        print(f"{nodes:,} nodes\n{'page':<18}{'first paint':>13}{'answer':>10}{'longest task':>14}{'page':>10}", end="")
        print(f"{'the rest':>10}{'elements':>10}")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=program(), args=list(FLAGS))
            for path in PATHS:
                tell(path, [look(browser, f"{base}/console/main/{path}".rstrip("/")) for _ in range(TIMES)])
            browser.close()


def fill(base: str, nodes: int) -> None:
    """A cluster of so many nodes that all run, two hours old."""
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    sagemaker = boto3.client("sagemaker", endpoint_url=base, region_name="us-west-2", **keys)
    sagemaker.create_cluster(**eks("large", nodes, GROUPS))
    post(f"{base}/_windtunnel/clock/advance", {"by": 7200})


def tell(path: str, found: list[dict[str, Any]]) -> None:
    """The median of the visits."""
    one = {name: median(each[name] or 0 for each in found) for name in found[0]}
    print(
        f"{path or 'overview':<18}{one['paint']:>10.0f} ms{one['answered']:>7.0f} ms{one['longest']:>11.0f} ms"
        f"{one['page'] / 1000:>7.0f} kB{one['others'] / 1000:>7.0f} kB{one['elements']:>10.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
