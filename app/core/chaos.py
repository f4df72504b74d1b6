"""The chaos profile: everyday trouble of a cloud as fault rules, at modest probabilities (CT-3).

The probabilities are chosen; what they name is what users report. Nothing in it keeps a cluster from ever being
deleted or fails a job for good at once, and a client that tries again as AWS's SDKs do gets through.
"""

from collections.abc import Iterable
from dataclasses import replace

from app.core.faults import Rule


def _rule(effect: str, percent: int, **facts: str | int) -> Rule:
    return replace(Rule("", effect, probability=percent * 10_000), **facts)  # type: ignore[arg-type]


PROFILE = (
    _rule("launch-capacity", 5),
    _rule("launch-transient", 5),
    _rule("launch-unhealthy", 2),
    _rule("boot-slow", 10),
    _rule("script-failed", 2),
    _rule("script-hang", 1),
    _rule("node-hardware", 3, code="Xid-73", seconds=2 * 3600),
    _rule("node-hardware", 2, code="Xid-74", seconds=6 * 3600),
    _rule("reboot-failed", 10),
    _rule("vm-maintenance", 2, seconds=3600),
    _rule("worker-exit", 1, code="139", seconds=600),
    _rule("spot-preemption", 20, seconds=3600),
    _rule("stockout", 2),
    _rule("internal-error", 1, operation="CreateCustomJob"),
    _rule("api-latency", 5, milliseconds=50),
    _rule("api-throttle", 3),
    _rule("api-error", 1),
    _rule("api-error", 1, code="ServiceUnavailable"),
    _rule("api-drop", 1, code="before"),
    _rule("api-drop", 1, code="after"),
)
"""The rules without their seed, in their order."""


def chaos(seed: int) -> list[Rule]:
    """The profile's rules, whose chance is drawn from `seed` whatever the world's is."""
    return [replace(rule, seed=seed) for rule in PROFILE]


def of_chaos(rules: Iterable[Rule]) -> list[Rule]:
    """Those of the rules that the profile has made, whatever their seed and their counts."""
    return [rule for rule in rules if rule.seed is not None and _bare(rule) in PROFILE]


def _bare(rule: Rule) -> Rule:
    return replace(rule, rule_id="", seed=None, matches=0, hits=0)
