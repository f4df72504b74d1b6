"""What every surface says when the database is away, and when it is back."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import ensure_schema
from tests.kit import serving

LIST = {"headers": {"x-amz-target": "SageMaker.ListClusters"}, "content": b"{}"}

GOOGLE = "v1/projects/p1/locations/us-central1/customJobs"


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A database server of its own, to be stopped."""
    directory = Path(tempfile.mkdtemp(prefix="wt-away-"))
    directory.chmod(0o755)
    made = EmbeddedPostgres(directory)
    asyncio.run(made.start())
    yield made
    asyncio.run(made.stop())
    shutil.rmtree(directory, ignore_errors=True)


def test_a_database_that_is_away_is_503_in_every_dialect_and_then_forgotten(server: EmbeddedPostgres) -> None:
    """HP-W3, CT-7: 503 and nothing else, without a trace of why; the process lives and goes on by itself."""
    asyncio.run(ensure_schema(server.dsn))
    with serving(Settings(database_url=server.dsn, frozen=True)) as running, httpx.Client(timeout=30) as http:
        base = running.base
        assert http.post(f"{base}/", **LIST).status_code == 200
        asyncio.run(server.stop())
        aws = http.post(f"{base}/", **LIST)
        assert (aws.status_code, aws.json()["__type"]) == (503, "ServiceUnavailable")
        other = http.post(f"{base}/w/some-world/", **LIST)
        assert (other.status_code, other.json()["__type"]) == (503, "ServiceUnavailable")
        google = http.get(f"{base}/{GOOGLE}")
        assert (google.status_code, google.json()["error"]["status"]) == (503, "UNAVAILABLE")
        ours = http.get(f"{base}/_windtunnel/clock")
        assert (ours.status_code, ours.json()["error"]["code"]) == (503, "ServiceUnavailable")
        ready = http.get(f"{base}/_windtunnel/ready")
        assert (ready.status_code, ready.json()["missing"]) == (503, ["the database does not answer"])
        assert http.get(f"{base}/_windtunnel/health").status_code == 200
        for answer in (aws, google, ours):
            assert "Traceback" not in answer.text
            assert "postgres" not in answer.text
        asyncio.run(server.start())
        assert http.post(f"{base}/", **LIST).status_code == 200
        assert http.get(f"{base}/{GOOGLE}").json() == {}
        assert http.get(f"{base}/_windtunnel/clock").status_code == 200
