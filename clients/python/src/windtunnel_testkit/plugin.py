"""The pytest plugin: one service a run, a world a test, and what happened in it when the test fails.

Each fixture has two names, `windtunnel_world` and `world`; a fixture of yours with the short name is yours alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, Callable

import pytest

from windtunnel_testkit import service as services
from windtunnel_testkit.report import report
from windtunnel_testkit.run import RUN, SHARED, Run, option
from windtunnel_testkit.service import ENDPOINT, Service
from windtunnel_testkit.world import World

_WORLDS = pytest.StashKey["list[World]"]()
_MARKER = "windtunnel(seed=, start=, profile=): how the test's world begins"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("windtunnel")
    for name, text in (
        ("endpoint", f"the service to use; else {ENDPOINT}, else one of the run's own"),
        ("command", "how `windtunnel` is run here; else WINDTUNNEL_COMMAND, else from PATH"),
        ("profile", f"how long things take in worlds: instant, fast, realistic; else {services.PROFILE}"),
        ("seed", f"what worlds' ids and chance are drawn from: a number, or random; else {services.SEED}"),
        ("start", f"when worlds begin; else {services.START}"),
    ):
        group.addoption(f"--windtunnel-{name}", help=text)
        parser.addini(f"windtunnel_{name}", text)
    group.addoption(
        "--windtunnel-keep", action="store_true", help="leave the worlds, and a service of the run's own, for a look"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    config.stash[RUN] = Run(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Of pytest-xdist: its workers are told the folder of the one service that they share."""
    node.workerinput[SHARED] = str(node.config.stash[RUN].shared().folder)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if line := config.stash[RUN].stays():
        terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    if (run := config.stash.get(RUN, None)) is not None:
        run.close()


@pytest.fixture(scope="session")
def windtunnel(pytestconfig: pytest.Config) -> Service:
    """The run's service: the one that is named, or one that is started for all of the run's workers."""
    return pytestconfig.stash[RUN].service()


@pytest.fixture
def windtunnel_world(windtunnel: Service, request: pytest.FixtureRequest) -> Iterator[World]:
    """A new world with a frozen clock, which is dropped when the test has ended."""
    marker = request.node.get_closest_marker("windtunnel")
    made = windtunnel.world(_name(request.node), **_beginning(request.config, marker))
    request.node.stash.setdefault(_WORLDS, []).append(made)
    yield made
    if not request.config.getoption("--windtunnel-keep"):
        made.drop()


@pytest.fixture
def windtunnel_sagemaker(windtunnel_world: World) -> Iterator[Any]:
    """boto3's client of SageMaker, bound to the test's world."""
    client = windtunnel_world.boto3("sagemaker")
    yield client
    if hasattr(client, "close"):  # botocore has it since 1.29
        client.close()


@pytest.fixture
def windtunnel_vertex(windtunnel_world: World, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module `google.cloud.aiplatform`, initialised for the test's world."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", windtunnel_world.endpoint)
    return windtunnel_world.vertex()


@pytest.fixture
def windtunnel_advance(windtunnel_world: World) -> Callable[..., Any]:
    """`world.advance`: `advance("3h")`, `advance(minutes=10)`."""
    return windtunnel_world.advance


@pytest.fixture
def world(windtunnel_world: World) -> World:
    """`windtunnel_world`."""
    return windtunnel_world


@pytest.fixture
def sagemaker(windtunnel_sagemaker: Any) -> Any:
    """`windtunnel_sagemaker`."""
    return windtunnel_sagemaker


@pytest.fixture
def vertex(windtunnel_vertex: Any) -> Any:
    """`windtunnel_vertex`."""
    return windtunnel_vertex


@pytest.fixture
def advance(windtunnel_advance: Callable[..., Any]) -> Callable[..., Any]:
    """`windtunnel_advance`."""
    return windtunnel_advance


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test tells the seed of its world, what waits there, and what happened."""
    outcome: Any = yield
    result = outcome.get_result()
    if result.failed and result.when != "teardown":
        for world in item.stash.get(_WORLDS, []):
            result.sections.append((f"windtunnel: world {world.name}", report(world, item, item.config.stash[RUN])))


def _name(node: Any) -> str:
    """Unique in the service, and known by the test's name."""
    return f"{re.sub(r'[^a-z0-9]+', '-', node.name.lower()).strip('-')[:50] or 'test'}-{os.urandom(4).hex()}"


def _beginning(config: pytest.Config, marker: pytest.Mark | None) -> dict[str, Any]:
    """The marker wins over the command line, that over the configuration."""
    told = marker.kwargs if marker else {}
    if wrong := sorted({*told} - {"seed", "start", "profile"}) or (marker and list(marker.args)):
        raise pytest.UsageError(f"@pytest.mark.windtunnel takes seed=, start= and profile=, not {wrong}")
    seed = option(config, "seed")
    chosen = {
        "seed": config.stash[RUN].random_seed() if seed == "random" else int(seed or services.SEED),
        "start": option(config, "start") or services.START,
        "profile": option(config, "profile") or services.PROFILE,
    }
    return {**chosen, **told}
