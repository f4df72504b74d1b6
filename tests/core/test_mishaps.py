"""What rules do to a request (CT-3)."""

import pytest

from app.core.faults import Faults, Rule, Subject
from app.core.mishaps import befall, may_befall
from tests.core.builders import ACCOUNT, REGION, SEED, T0, rule

REQUEST = Subject(ACCOUNT, REGION, "demo", api="sagemaker", operation="CreateCluster")


def test_without_a_strike_nothing_befalls() -> None:
    assert befall(Faults([], SEED), REQUEST, T0) is None
    assert befall(Faults([rule("api-error", operation="ListClusters")], SEED), REQUEST, T0) is None


def test_a_request_is_late_and_ends_at_most_once() -> None:
    """CT-3."""
    rules = [rule("api-drop", "a"), rule("api-latency", "b", milliseconds=200), rule("api-error", "c")]
    struck = Faults(rules, SEED)
    mishap = befall(struck, REQUEST, T0)
    assert mishap is not None
    assert (mishap.late_ms, mishap.ending) == (200, rules[0])
    assert [hit.rule_id for hit in struck.hits] == ["b", "a"]


@pytest.mark.parametrize(
    ("one", "instead", "drops"),
    [
        (rule("api-error"), True, False),
        (rule("api-throttle"), True, False),
        (rule("api-drop"), True, True),
        (rule("api-drop", code="before"), True, True),
        (rule("api-drop", code="after"), False, True),
        (rule("api-latency", milliseconds=1), False, False),
    ],
)
def test_whether_what_was_asked_is_done(one: Rule, instead: bool, drops: bool) -> None:
    mishap = befall(Faults([one], SEED), REQUEST, T0)
    assert mishap is not None
    assert (mishap.instead is not None, mishap.drops) == (instead, drops)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (rule("api-error"), True),
        (rule("api-error", cluster="another name, or an id"), True),
        (rule("api-error", times=1, hits=1), False),
        (rule("api-error", operation="ListClusters"), False),
        (rule("api-error", api="ce"), False),
        (rule("api-error", account="444455556666"), False),
        (rule("api-error", region="eu-west-1"), False),
    ],
)
def test_what_cannot_strike_is_known_without_asking(one: Rule, expected: bool) -> None:
    assert may_befall([one], REQUEST) is expected
    assert not may_befall([], REQUEST)


def test_a_rule_of_a_cluster_cannot_strike_what_names_none() -> None:
    assert not may_befall([rule("api-error", cluster="demo")], Subject(ACCOUNT, REGION, operation="ListClusters"))
