"""RL-13: a thousand malformed requests to Vertex AI's surface, over HTTP."""

import json
import re
import resource
from collections import Counter

import pytest

from app.wire.google.errors import Code
from tests.kit import TestWorld, custom_job
from tests.wire.vertex.mutations import BASE, malformed

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.mark.parametrize("seed", [1, 13])
def test_malformed_requests(world: TestWorld, seed: int) -> None:
    """RL-13: Google's envelope with a canonical code and a request id, and nothing but 4xx or 501; a job that was there
    is untouched."""
    made = world.vertex.create_custom_job(parent=BASE.removeprefix("/v1/"), custom_job=custom_job("bystander"))
    known = made.name.rpartition("/")[2]
    before = world.http.get(f"{world.endpoint}/v1/{made.name}").json()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    statuses: Counter[int] = Counter()
    for each in malformed(600, seed, "1"):
        answer = world.http.request(
            each.method, f"{world.endpoint}{each.path}", content=each.body, headers={"content-type": each.content_type}
        )
        status = answer.status_code
        statuses[status] += 1
        assert status < 500 or status == 501, (each, answer.text)
        assert b"Traceback" not in answer.content
        assert answer.headers["content-type"].startswith("application/json"), (each, answer.headers)
        assert UUID.fullmatch(answer.headers["x-request-id"])
        if status >= 400:
            error = json.loads(answer.content)["error"]
            assert (error["code"], error["status"] in Code.__members__) == (status, True)
            assert error["message"]
    assert sum(count for status, count in statuses.items() if status >= 400) > 0.5 * statuses.total(), statuses
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    assert grown_mb < 50, f"{grown_mb} MB for {statuses}"
    assert world.http.get(f"{world.endpoint}/v1/projects/p1/locations/us-central1/customJobs/{known}").json() == before
