"""Fault rules through the control API (CT-3)."""

import pytest

from tests.kit import TestWorld, slurm, workers


def test_a_rule_is_added_strikes_is_counted_and_removed(world: TestWorld) -> None:
    """CT-3: every hit is counted and can be listed."""
    assert world.fault("launch-transient", group="workers", times=2) == "f-1"
    world.sagemaker.create_cluster(**slurm(workers(2)))
    world.advance(600)
    (rule,) = world.control("GET", "faults")["rules"]
    assert rule["hits"] == 2
    hits = world.control("GET", "faults/hits", params={"id": "f-1"})["hits"]
    assert [(hit["rule_id"], hit["number"], hit["group"]) for hit in hits] == [
        ("f-1", 2, "workers"),
        ("f-1", 1, "workers"),
    ]
    assert world.control("DELETE", "faults/f-1") == {"removed": 1}
    assert world.control("GET", "faults")["rules"] == []


def test_an_id_that_hits_remember_is_not_given_again(world: TestWorld) -> None:
    """CT-3: a hit names its rule for good."""
    world.fault("launch-transient", times=1)
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(600)
    world.control("DELETE", "faults")
    assert world.fault("launch-transient", times=1) == "f-2"


def test_rules_are_replaced_as_a_whole(world: TestWorld) -> None:
    """CT-3."""
    world.fault("script-hang")
    told = world.control(
        "PUT", "faults", json={"rules": [{"effect": "boot-slow", "seconds": 9}, {"effect": "script-failed"}]}
    )
    assert [(rule["id"], rule["effect"]) for rule in told["rules"]] == [("f-2", "boot-slow"), ("f-3", "script-failed")]
    assert world.control("GET", "faults") == told


def test_a_rule_is_told_as_it_was_given(world: TestWorld) -> None:
    """CT-3: every word of the grammar comes back."""
    given = [
        {"effect": "node-hardware", "node": "i-0123456789abcdef0", "code": "Xid-74", "seconds": 3600},
        {"effect": "internal-error", "operation": "CreateComputeQuota", "code": "CreateRollbackFailed"},
        {"effect": "terminate-failed", "cluster": "demo", "group": "workers", "code": "AccessDenied"},
        {"effect": "api-error", "code": "ServiceUnavailable", "message": "Not now.", "account": "111122223333"},
        {"effect": "api-throttle", "api": "ce", "operation": "GetCostAndUsage", "seed": 2**63 - 1},
        {"effect": "api-latency", "region": "us-west-2", "seconds": 0.2, "probability": 0.25},
    ]
    told = world.control("PUT", "faults", json={"rules": given})["rules"]
    assert [{name: rule[name] for name in one} for one, rule in zip(given, told, strict=True)] == given


def test_rules_beyond_the_ninth_keep_their_order(world: TestWorld) -> None:
    ids = [world.fault("script-hang", cluster=f"c-{n}") for n in range(11)]
    assert [rule["id"] for rule in world.control("GET", "faults")["rules"]] == ids


def test_an_arn_is_understood(world: TestWorld) -> None:
    arn = world.sagemaker.create_cluster(**slurm(workers(1)))["ClusterArn"]
    world.fault("launch-transient", cluster=arn, group="workers", times=1)
    world.advance(600)
    assert world.control("GET", "faults")["rules"][0]["hits"] == 1


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"effect": "meteor"}, "Fault effect 'meteor' is not available. Choose one of: launch-capacity"),
        ({"effect": "stockout", "seconds": 3}, "takes no 'seconds'"),
        ({"effect": "worker-exit", "code": "256"}, "a number from 0 to 255, or transient; not '256'"),
        ({"effect": "worker-exit", "replica": "chief"}, "replica: "),
        ({"effect": "script-hang", "probability": 1.5}, "probability: "),
        ({"effect": "script-hang", "every": 0}, "every: "),
        ({"effect": "script-hang", "times": 0}, "times: "),
        ({"effect": "script-hang", "seconds": 3}, "takes no 'seconds'"),
        ({"effect": "boot-slow", "seconds": 1.5}, "must be whole"),
        ({"effect": "boot-slow", "seconds": 0}, "seconds: "),
        ({"effect": "boot-slow", "seconds": "NaN"}, "seconds: "),
        ({"effect": "script-hang", "operation": "CreateCluster"}, "never strikes CreateCluster"),
        ({"effect": "api-error", "operation": "CreateClutser"}, "Did you mean CreateCluster?"),
        ({"effect": "api-error", "api": "ec2"}, "There is no API 'ec2' here. Choose one of: sagemaker, ce"),
        ({"effect": "api-error", "api": "ce", "operation": "CreateCluster"}, "ce lacks the operation"),
        ({"effect": "api-throttle", "code": "Busy"}, "one of: ThrottlingException"),
        (
            {"effect": "api-error", "api": "vertex", "code": "Busy"},
            "no code 'Busy'. Choose one of: CANCELLED",
        ),
        ({"effect": "api-error", "operation": "GetCustomJob", "code": "503"}, "vertex has no code '503'."),
        ({"effect": "api-error", "operation": "???"}, "Write it as CreateCluster"),
        ({"effect": "api-error", "code": "X\r\nset-cookie: a"}, "code: "),
        ({"effect": "api-error", "group": "workers"}, "takes no 'group'"),
        ({"effect": "api-drop", "code": "during"}, "one of: before, after"),
        ({"effect": "api-latency"}, "needs 'seconds'"),
        ({"effect": "api-latency", "seconds": 301}, "from 0.001 to 300"),
        ({"effect": "api-latency", "seconds": 0.0001}, "from 0.001 to 300"),
        ({"effect": "script-hang", "instance_type": "ml.x"}, "No instance type 'ml.x'"),
        ({"effect": "script-hang", "node": "i-0123456789abcdef0"}, "logical id"),
        ({"effect": "script-hang", "cluster": "arn:aws:s3:::x"}, "is not a cluster's ARN"),
        (
            {"effect": "script-hang", "after": "2026-02-01T00:00:00Z", "before": "2026-01-01T00:00:00Z"},
            "'after' must be earlier",
        ),
        ({"effect": "script-hang", "clusters": "x"}, "clusters: is not known here"),
    ],
)
def test_a_rule_that_could_not_do_what_it_says_is_refused(world: TestWorld, rule: dict[str, object], told: str) -> None:
    answer = world.http.post(f"{world.endpoint}/_windtunnel/faults", json=rule)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
    assert world.control("GET", "faults")["rules"] == []


def test_a_rule_that_is_not_there(world: TestWorld) -> None:
    answer = world.http.delete(f"{world.endpoint}/_windtunnel/faults/f-9")
    assert answer.status_code == 404
    assert "windtunnel fault list" in answer.json()["error"]["message"]
