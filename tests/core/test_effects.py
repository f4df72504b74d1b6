"""What rules may say (CT-3)."""

import pytest

from app.core.effects import EFFECTS, REQUEST_EFFECTS, WORLD_EFFECTS, check_words, effect_of
from app.core.errors import Invalid


def test_the_effects_that_there_are() -> None:
    """CT-3: those of the API, those of the world that HyperPod has, and those of jobs."""
    assert set(WORLD_EFFECTS) == {
        *("launch-capacity", "launch-transient", "launch-unhealthy", "boot-slow", "script-failed", "script-hang"),
        *("node-hardware", "node-degraded", "reboot-failed", "terminate-failed", "internal-error"),
        *("worker-exit", "worker-oom", "vm-maintenance", "spot-preemption", "stockout"),
    }
    assert set(REQUEST_EFFECTS) == {"api-error", "api-throttle", "api-latency", "api-drop"}
    assert set(EFFECTS) == {*WORLD_EFFECTS, *REQUEST_EFFECTS}
    assert all(effect_of(name).name == name for name in EFFECTS)


def test_an_unknown_effect_is_refused_with_those_that_exist() -> None:
    with pytest.raises(Invalid) as refusal:
        effect_of("meteor")
    assert refusal.value.message.startswith("Fault effect 'meteor' is not available. Choose one of: launch-capacity, ")
    with pytest.raises(Invalid, match="Did you mean launch-capacity"):
        effect_of("launch-capcity")


@pytest.mark.parametrize(
    ("effect", "words", "code", "told"),
    [
        ("launch-unhealthy", ["operation"], None, "takes no 'operation'.*script-hang.*api-error"),
        ("api-error", ["group"], None, "takes no 'group'"),
        ("node-hardware", ["attempt"], None, "takes no 'attempt'"),
        ("api-drop", ["code"], "during", "one of: before, after; not 'during'"),
    ],
)
def test_what_an_effect_has_no_use_for_is_refused(effect: str, words: list[str], code: str | None, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        check_words(effect_of(effect), words, code)


def test_every_effect_takes_what_says_when() -> None:
    for effect in EFFECTS.values():
        check_words(effect, ("account", "region", "times", "every", "after", "before", *effect.takes), None)


@pytest.mark.parametrize(
    ("effect", "operation"),
    [
        ("internal-error", "DescribeCluster"),
        ("node-hardware", "CreateCluster"),
        ("script-failed", "CreateCluster"),
        ("script-hang", "StartClusterHealthCheck"),
    ],
)
def test_an_operation_that_an_effect_never_strikes_is_refused(effect: str, operation: str) -> None:
    """A rule that would lie there for ever is a mistake of its author."""
    with pytest.raises(Invalid, match=f"{effect} never strikes {operation}. .* choose one of: [A-Z]"):
        check_words(effect_of(effect), ["operation"], None, operation)
    check_words(effect_of("api-error"), ["operation"], None, operation)
