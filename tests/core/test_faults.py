"""Fault rules: whom they strike and how often (CT-3)."""

import pytest

from app.core.chance import MILLION, below, draw
from app.core.faults import Faults, Rule, Subject
from tests.core.builders import CPU, GPU, SEED, T0, at, rule, subject

MATCHES: dict[str, tuple[Rule, bool]] = {
    "everything": (rule(), True),
    "its account": (rule(account="111122223333"), True),
    "another account": (rule(account="444455556666"), False),
    "its region": (rule(region="us-west-2"), True),
    "another region": (rule(region="eu-west-1"), False),
    "the cluster's name": (rule(cluster="demo"), True),
    "the cluster's id": (rule(cluster="abcdefghij12"), True),
    "another cluster": (rule(cluster="other"), False),
    "its group": (rule(group="workers"), True),
    "another group": (rule(group="login"), False),
    "its type": (rule(instance_type=GPU), True),
    "another type": (rule(instance_type=CPU), False),
    "its node": (rule(node="n-1"), True),
    "another node": (rule(node="n-2"), False),
    "its attempt": (rule(attempt=1), True),
    "its instance": (rule(node="i-1"), True),
    "its operation": (rule(operation="CreateComputeQuota"), True),
    "another operation": (rule(operation="UpdateComputeQuota"), False),
    "another attempt": (rule(attempt=2), False),
    "from then on": (rule(after=at(10)), True),
    "not yet": (rule(after=at(11)), False),
    "until then": (rule(before=at(11)), True),
    "no longer": (rule(before=at(10)), False),
    "one of several does not match": (rule(group="workers", attempt=2), False),
}


@pytest.mark.parametrize("name", MATCHES)
def test_matching(name: str) -> None:
    one, expected = MATCHES[name]
    whom = subject(operation="CreateComputeQuota", instance_id="i-1")
    assert one.covers(whom, at(10)) is expected
    assert (Faults([one], SEED).strike("launch-capacity", whom, at(10)) is not None) is expected


def struck(one: Rule, subjects: int = 12) -> list[int]:
    """Which of so many attempts, counted from 1, a rule strikes."""
    faults = Faults([one], SEED)
    return [n for n in range(1, subjects + 1) if faults.strike(one.effect, subject(f"n-{n}"), T0)]


COUNTS: dict[str, tuple[Rule, list[int]]] = {
    "always": (rule(), list(range(1, 13))),
    "never": (rule(probability=0), []),
    "each third": (rule(every=3), [3, 6, 9, 12]),
    "at most twice": (rule(times=2), [1, 2]),
    "each third, at most twice": (rule(every=3, times=2), [3, 6]),
    "counts go on": (rule(every=3, times=2, matches=2, hits=1), [1]),
    "spent": (rule(times=2, hits=2), []),
}


@pytest.mark.parametrize("name", COUNTS)
def test_how_often(name: str) -> None:
    one, expected = COUNTS[name]
    assert struck(one) == expected


def test_chance_does_not_depend_on_the_order_of_work() -> None:
    """RL-10: a draw is a hash of seed, subject and purpose."""
    names = [f"n-{n}" for n in range(500)]
    half = rule(probability=MILLION // 2)
    forward, backward = Faults([half], SEED), Faults([half], SEED)
    hit = {name for name in names if forward.strike(half.effect, subject(name), T0)}
    again = {name for name in reversed(names) if backward.strike(half.effect, subject(name), T0)}
    assert hit == again
    assert 200 < len(hit) < 300


def test_chance_depends_on_seed_rule_node_and_attempt() -> None:
    half = {"probability": MILLION // 2}

    def pattern(seed: int = SEED, rule_id: str = "fault-1", attempt: int = 1) -> list[bool]:
        faults = Faults([rule(rule_id=rule_id, **half)], seed)
        return [faults.strike("launch-capacity", subject(f"n-{n}", attempt), T0) is not None for n in range(40)]

    patterns = [pattern(), pattern(seed=8), pattern(rule_id="fault-2"), pattern(attempt=2)]
    assert len({tuple(one) for one in patterns}) == 4
    assert pattern() == patterns[0]


def test_what_is_no_node_is_drawn_for_at_each_match() -> None:
    """CT-3: the same request, sent again, has a chance of its own; it goes by the number of the match alone."""
    half, whom = rule("api-error", probability=MILLION // 2), Subject(account="1", region="r", operation="O")
    whole, cut = Faults([half], SEED), Faults([half], SEED)
    pattern = [whole.strike("api-error", whom, T0) is not None for _ in range(200)]
    assert 60 < sum(pattern) < 140
    again = [cut.strike("api-error", whom, T0) is not None for _ in range(100)]
    cut = Faults(cut.counted, SEED)
    assert again + [cut.strike("api-error", whom, T0) is not None for _ in range(100)] == pattern


def test_a_spent_rule_counts_no_more() -> None:
    """CT-3: what has struck for the last time is over, so nothing need be asked about it."""
    faults = Faults([rule(times=1, hits=1, matches=4), rule(rule_id="b")], SEED)
    hit = faults.strike("launch-capacity", subject(), T0)
    assert hit is not None
    assert (hit.rule_id, [one.rule_id for one in faults.counted]) == ("b", ["b"])


def test_the_first_of_several_effects_is_the_first_rule() -> None:
    """CT-3: of what ends a request only one is spent on it."""
    faults = Faults([rule("api-throttle", "a"), rule("api-error", "b")], SEED)
    hit = faults.strike_any(("api-error", "api-throttle"), Subject("1", "r"), T0)
    assert hit is not None
    assert (hit.effect, len(faults.hits)) == ("api-throttle", 1)


def test_the_first_rule_that_strikes_is_named() -> None:
    faults = Faults([rule(rule_id="a", probability=0), rule(rule_id="b"), rule(rule_id="c")], SEED)
    hit = faults.strike("launch-capacity", subject(), T0)
    assert hit is not None
    assert hit.rule_id == "b"
    assert [(one.rule_id, one.at, one.subject) for one in faults.hits] == [("b", T0, subject())]


def test_counts_are_kept_of_the_rules_that_were_asked() -> None:
    """A rule that matched without striking has counted too, since `every` and `times` go on from there."""
    rules = [rule(rule_id="a", every=2), rule("boot-slow", "b"), rule(rule_id="c", group="other")]
    faults = Faults(rules, SEED)
    faults.strike("launch-capacity", subject(), T0)
    assert [(one.rule_id, one.matches, one.hits) for one in faults.counted] == [("a", 1, 0)]
    assert faults.hits_before == {"a": 0, "b": 0, "c": 0}


def test_without_rules_there_are_no_faults() -> None:
    assert not Faults([], SEED)
    assert Faults([rule()], SEED)


def test_draws_are_even() -> None:
    draws = [draw(SEED, f"n-{n}", "fault") for n in range(4000)]
    assert min(draws) >= 0
    assert max(draws) < MILLION
    assert 0.47 < sum(draws) / len(draws) / MILLION < 0.53
    assert {below(SEED, f"n-{n}", "zone", 3) for n in range(50)} == {0, 1, 2}
