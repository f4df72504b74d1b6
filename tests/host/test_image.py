"""The image's health check, run as Docker would run it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.settings import Settings
from tests.kit import serving

DOCKERFILE = (Path(__file__).parents[2] / "Dockerfile").read_text()


def health_check() -> list[str]:
    """The words of CMD; a backslash at a line's end joins it with the next."""
    found = re.search(r"^HEALTHCHECK .*?CMD (\[.*\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert found
    words: list[str] = json.loads(found[1])
    return words


@pytest.mark.parametrize(("token", "given"), [(None, None), ("secret-4711", "secret-4711"), ("secret-4711", None)])
def test_the_health_check_sends_the_token(dsn: str, token: str | None, given: str | None) -> None:
    """CT-7, CT-14: a service with a token refuses a check without it."""
    program, *words = health_check()
    assert program == "python"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WINDTUNNEL_")}
    told = {"WINDTUNNEL_CONTROL_TOKEN": given} if given else {}
    with serving(Settings(database_url=dsn, control_token=token)) as running:
        port = urlsplit(running.base).port
        words = [word.replace(":4600/", f":{port}/") for word in words]
        ran = subprocess.run(
            [sys.executable, *words], env=kept | told, capture_output=True, text=True, timeout=30, check=False
        )
    assert (ran.returncode == 0) is (token == given), ran.stderr
