"""RL-13: a thousand malformed requests against the whole application, over HTTP."""

import json
import re
import resource
from collections import Counter

import pytest

from app.wire import emulated
from tests.kit import TestWorld, slurm, workers
from tests.wire.aws.mutations import malformed

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
IN_DIALECT = "application/x-amz-json-1.1"


@pytest.mark.parametrize(("name", "seed"), [("sagemaker", 1), ("sagemaker", 13), ("ce", 2), ("ce", 3)])
def test_a_thousand_malformed_requests(world: TestWorld, name: str, seed: int) -> None:
    """RL-13: well-formed 4xx in AWS's dialect with a request id; no 5xx, no traceback, no growth; a cluster that was
    there is untouched."""
    service = next(one for one in emulated.services() if one.name == name)
    world.sagemaker.create_cluster(**slurm(workers(2), name="bystander"))
    world.advance(60)
    before = world.describe("bystander")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    statuses: Counter[int] = Counter()
    for each in malformed(service, 500 if name == "sagemaker" else 150, seed):
        if "\x7f" in each.target:
            continue  # no HTTP at all, so no client can send it and no dialect answers it
        answer = world.http.request(
            each.method,
            f"{world.endpoint}/",
            content=each.body,
            headers={"x-amz-target": each.target, "content-type": each.content_type},
        )
        status, headers, body = answer.status_code, answer.headers, answer.content
        statuses[status] += 1
        assert status < 500, (each, body)
        assert b"Traceback" not in body
        if each.method == "POST":
            assert headers["content-type"] == IN_DIALECT, (each, headers)
            assert UUID.fullmatch(headers["x-amzn-requestid"])
            assert status in (200, 400)
            if status == 400:
                assert json.loads(body)["__type"]
                assert json.loads(body)["message"]
    assert statuses[400] > 0.5 * statuses.total()
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    assert grown_mb < 50, f"{grown_mb} MB for {statuses}"
    after = world.describe("bystander")
    del before["ResponseMetadata"], after["ResponseMetadata"]
    assert after == before


def test_the_application_lives_on(world: TestWorld) -> None:
    """RL-13: after all that, a right request is answered."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(60)
    assert world.describe()["ClusterStatus"] == "InService"
