from dataclasses import replace
from typing import Any

import pytest

from app.core.cluster import Cluster
from app.core.errors import Invalid
from app.core.job_labels import Home, Wish, chosen, duration, wish_of
from tests.core.builders import T0, cluster

HOME = Home("111122223333", "us-west-2")


def test_labels_choose_cluster_budget_and_minimum_runtime() -> None:
    """VX-24."""
    labels = {
        "team": "a",
        "windtunnel-cluster": "demo",
        "windtunnel-account": "444455556666",
        "windtunnel-region": "eu-west-1",
        "windtunnel-budget": "team-a",
        "windtunnel-min-runtime": "1h30m",
    }
    assert wish_of(labels, "STANDARD") == Wish("demo", "444455556666", "eu-west-1", "team-a", 5400)
    assert wish_of({"team": "a"}, "SPOT") == Wish()


@pytest.mark.parametrize(
    ("labels", "strategy", "words"),
    [
        ({"windtunnel-clustr": "demo"}, "STANDARD", "Did you mean windtunnel-cluster"),
        ({"windtunnel-x": "demo"}, "STANDARD", "They are windtunnel-cluster, "),
        ({"windtunnel-region": "us-west-2"}, "STANDARD", "no windtunnel-cluster names it"),
        ({"windtunnel-cluster": "a", "windtunnel-account": "12"}, "STANDARD", "twelve digits"),
        ({"windtunnel-cluster": "a", "windtunnel-region": "mars"}, "STANDARD", "us-west-2"),
        ({"windtunnel-budget": "-a"}, "STANDARD", "team-a"),
        ({"windtunnel-min-runtime": "2 h"}, "STANDARD", "no duration"),
        ({"windtunnel-min-runtime": "h"}, "STANDARD", "no duration"),
        ({"windtunnel-min-runtime": "8h1s"}, "STANDARD", "at most 8h"),
        ({"windtunnel-cluster": "a"}, "SPOT", "Leave one of the two out"),
        ({"windtunnel-cluster": "a"}, "FLEX_START", "Leave one of the two out"),
    ],
)
def test_a_label_that_cannot_be_meant_is_refused_with_what_to_do(
    labels: dict[str, str], strategy: str, words: str
) -> None:
    """VX-24."""
    with pytest.raises(Invalid, match=words):
        wish_of(labels, strategy)


def test_durations() -> None:
    assert [duration({"k": text}, "k") for text in ("90s", "2h", "1d1s", "0s")] == [90, 7200, 86_401, 0]
    assert duration({}, "k") is None
    assert duration({"k": "999999999d" * 6}, "k") == 3650 * 86_400


def named(name: str, *, region: str = "us-west-2", account: str = "111122223333", **facts: Any) -> Cluster:
    return replace(cluster(), name=name, region=region, account=account, **facts)


def test_the_cluster_of_the_default_account_and_region_is_meant_or_else_the_only_one() -> None:
    """VX-24."""
    here, there = named("Demo"), named("demo", region="us-east-1")
    assert chosen(Wish("demo"), [there, here], HOME) is here
    assert chosen(Wish("demo"), [there], HOME) is there
    assert chosen(Wish("demo", region="us-east-1"), [there], HOME) is there


def test_a_cluster_that_is_unknown_ambiguous_or_going_is_refused_with_what_to_do() -> None:
    """VX-24."""
    with pytest.raises(Invalid, match="no cluster of account 444455556666 of region us-east-1"):
        chosen(Wish("demo", "444455556666", "us-east-1"), [], HOME)
    with pytest.raises(Invalid, match="Add windtunnel-account and windtunnel-region"):
        chosen(Wish("demo"), [named("demo", region="us-east-1"), named("demo", region="eu-west-1")], HOME)
    with pytest.raises(Invalid, match="give the id"):
        chosen(Wish("demo"), [named("demo"), named("Demo")], HOME)
    for gone in (named("demo", delete_requested_at=T0), named("demo", failed_at=T0)):
        with pytest.raises(Invalid, match="Name another"):
            chosen(Wish("demo"), [gone], HOME)
