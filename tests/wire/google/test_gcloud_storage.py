"""`gcloud storage` as it is (VX-20), in world `main`: it sends uploads to the address without the world's path."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.host.exports import variables
from app.settings import Settings
from tests.kit import Running, serving

pytestmark = pytest.mark.skipif(shutil.which("gcloud") is None, reason="gcloud is not installed")
Gcloud = Callable[..., str]


@pytest.fixture
def lone(fresh: str) -> Iterator[Running]:
    """A service whose world `main` is nobody else's."""
    with serving(Settings(database_url=fresh, frozen=True)) as running:
        yield running


@pytest.fixture
def gcloud(lone: Running, tmp_path: Path) -> Gcloud:
    """`gcloud storage …` with what `windtunnel env` prints; its output."""
    told = variables(Settings(), lone.base, None)
    own = {"CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), "HOME": str(tmp_path), "CLOUDSDK_CORE_DISABLE_COLOR": "1"}

    def run(*args: str) -> str:
        done = subprocess.run(
            ["gcloud", "storage", *args], env={**os.environ, **told, **own}, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_cp_ls_cat_and_rm(gcloud: Gcloud, tmp_path: Path) -> None:
    """VX-20: small files go in one request of two parts, large ones in pieces, and folders are parts of names."""
    small, big, back = (tmp_path / name for name in ("small.txt", "big.bin", "back.bin"))
    small.write_text("hello\n")
    big.write_bytes(bytes(range(256)) * 40_000)
    gcloud("buckets", "create", "gs://bkt", "--location=us-central1")
    gcloud("cp", str(small), "gs://bkt/a folder/ü.txt")
    gcloud("cp", str(big), "gs://bkt/")
    assert gcloud("ls").split() == ["gs://bkt/"]
    assert gcloud("ls", "gs://bkt").splitlines() == ["gs://bkt/big.bin", "gs://bkt/a folder/"]
    assert gcloud("cat", "gs://bkt/a folder/ü.txt") == "hello\n"
    gcloud("cp", "gs://bkt/big.bin", "gs://bkt/copy.bin")
    gcloud("cp", "gs://bkt/copy.bin", str(back))
    assert back.read_bytes() == big.read_bytes()
    gcloud("rm", "-r", "gs://bkt")
    assert gcloud("buckets", "list") == ""
