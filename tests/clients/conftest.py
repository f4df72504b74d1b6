"""Which clients are installed. Where REQUIRE_CLIENTS is set, as in .ci/run, one that is missing is a failure."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.drivers import INSTALLED, CommandLine, Driver, JavaScript
from tests.kit import TestWorld


def need(name: str, is_there: bool) -> None:
    """Go on if the client is there; else skip, or fail where it must be there."""
    if is_there:
        return
    reason = f"{name} is not installed: `make clients` does it"
    if os.environ.get("REQUIRE_CLIENTS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(params=["javascript", "aws"])
def client(request: pytest.FixtureRequest, world: TestWorld) -> Iterator[Driver]:
    """Each client in turn, pointed at the test's world."""
    if request.param == "javascript":
        sdk = INSTALLED / "node_modules" / "@aws-sdk" / "client-sagemaker"
        need("the AWS SDK for JavaScript v3, or node,", sdk.is_dir() and shutil.which("node") is not None)
        made: Driver = JavaScript(world)
    else:
        made = CommandLine(world)
    yield made
    made.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder that others may enter: as root the database runs as another user."""
    made = Path(tempfile.mkdtemp(prefix="wt-clients-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def core_python() -> Path:
    """The Python that has sagemaker-core."""
    python = INSTALLED / "sagemaker-core" / "bin" / "python"
    need("sagemaker-core", python.is_file())
    return python
