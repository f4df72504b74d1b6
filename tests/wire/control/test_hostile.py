"""Hostile text in every place of the control API that takes text (RL-13, RL-20)."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.kit import TestWorld, slurm, workers

HOSTILE = [
    "\x00",
    "a\x00b",
    "\ud800",
    "'; DROP TABLE world; --",
    "' OR '1'='1",
    "%00%0d%0aSet-Cookie: a=b",
    "\r\nX-Evil: 1",
    "{{7*7}}${7*7}",
    "../../etc/passwd",
    "\u202e\u0007\u001b[31m",
    "🙂" * 40,
    "9" * 300,
    "arn:aws:sagemaker:us-west-2:111122223333:cluster/'--",
    "",
]
P5 = "ml.p5.48xlarge"
HERE = object()
BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "worlds", {"name": HERE}),
    ("POST", "worlds", {"name": "unused", "fork_of": HERE}),
    ("POST", "worlds", {"name": "unused", "profile": HERE, "fork_of": "none"}),
    ("POST", "worlds", {"name": "unused", "start": HERE, "fork_of": "none"}),
    ("POST", "clock/advance", {"to": HERE}),
    ("POST", "capacity", {"instance_type": HERE, "total": 1}),
    ("POST", "capacity", {"instance_type": P5, "total": 1, "zone": HERE}),
    ("POST", "capacity", {"instance_type": P5, "total": 1, "region": HERE}),
    ("POST", "prices", {"instance_type": HERE, "micro_usd_per_hour": 1}),
    ("POST", "prices", {"instance_type": P5, "region": HERE, "micro_usd_per_hour": 1}),
    ("POST", "quotas", {"name": HERE, "value": 1}),
    ("POST", "quotas", {"name": f"{P5} for cluster usage", "value": 1, "account": HERE}),
    *(
        ("POST", "faults", {"effect": "script-hang", field: HERE})
        for field in ("effect", "account", "region", "instance_type", "after", "code")
    ),
    ("POST", "workloads", {"name": HERE, "gpus": 1}),
    *(("POST", "workloads", {"name": "w", "gpus": 1, field: HERE}) for field in ("cluster", "budget", "kind")),
    ("PATCH", "fleets/demo", {"window_seconds": HERE}),
    ("POST", "reset", {"seed": {"faults": [{"effect": HERE}]}}),
    ("POST", "reset", {"seed": {"clusters": [{"ClusterName": HERE, "account": HERE}]}}),
    ("POST", "reset", {"seed": {"clusters": [{"ClusterName": HERE}]}}),
    ("POST", "reset", {"seed": {HERE: []}}),  # type: ignore[dict-item]
]
MATCHERS = ("cluster", "group", "node")
QUERIES = [
    *(("bills", name) for name in ("cluster", "by", "from", "to", "format", "intervals")),
    *(("prices", name) for name in ("instance_type", "region")),
    *(("quotas", name) for name in ("account", "region")),
    *(("workloads", name) for name in ("cluster", "budget", "status", "limit")),
    *(("queue", name) for name in ("cluster", "budget", "limit")),
    *(("decisions", name) for name in ("cluster", "workload", "kind", "after")),
    ("faults/hits", "id"),
    ("events", "limit"),
    ("requests", "limit"),
]
PATHS = [
    ("GET", "worlds/{}/export"),
    ("GET", "worlds/main/compare/{}"),
    ("GET", "workloads/{}"),
    ("GET", "workloads/{}/why"),
    ("POST", "workloads/{}/cancel"),
    ("GET", "fleets/{}"),
    ("DELETE", "worlds/{}"),
    ("DELETE", "faults/{}"),
]


def planted(template: Any, text: str) -> Any:
    if template is HERE:
        return text
    if isinstance(template, dict):
        return {planted(key, text): planted(value, text) for key, value in template.items()}
    return [planted(each, text) for each in template] if isinstance(template, list) else template


@pytest.fixture(scope="module")
def victim(service: Any) -> TestWorld:
    world: TestWorld = service.world()
    world.sagemaker.create_cluster(**slurm(workers(1)))
    return world


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_refused_and_changes_nothing(victim: TestWorld, text: str) -> None:
    """RL-20: row hash before = after; RL-13: 4xx in the dialect with a request id, and no 5xx."""
    before = victim.export()
    base = f"{victim.endpoint}/_windtunnel"
    for method, path, template in BODIES:
        body = json.dumps(planted(template, text)).encode()
        answer = victim.http.request(
            method, f"{base}/{path}", content=body, headers={"content-type": "application/json"}
        )
        assert 400 <= answer.status_code < 500, (path, template, answer.text)
        assert answer.json()["error"]["message"]
        assert answer.headers["x-request-id"]
        assert "x-evil" not in answer.headers
    encoded = quote(text.encode("utf-8", "surrogatepass"), safe="")
    for path, name in QUERIES:
        assert victim.http.get(f"{base}/{path}?{name}={encoded}").status_code < 500, (path, name)
    for method, path in PATHS:
        assert victim.http.request(method, f"{base}/{path.format(encoded)}").status_code < 500, path
    assert victim.export() == before


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_matchers_of_a_fault_are_text(victim: TestWorld, text: str) -> None:
    """RL-20: what is kept is kept as it is, or refused."""
    base = f"{victim.endpoint}/_windtunnel/faults"
    for name in MATCHERS:
        body = json.dumps({"effect": "script-hang", name: text}).encode()
        answer = victim.http.post(base, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (201, 400), answer.text
        if answer.status_code == 201 and not text.startswith("arn:"):
            assert answer.json()[name] == text
    victim.control("DELETE", "faults")
