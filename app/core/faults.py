"""Faults as data: rules that say what goes wrong, for whom, and how often (CT-3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.core.chance import MILLION, draw
from app.core.errors import Invalid
from app.core.times import WorldTime

WORLD_EFFECTS = (
    "launch-capacity",
    "launch-transient",
    "launch-unhealthy",
    "boot-slow",
    "script-failed",
    "script-hang",
)
"""The effects of this version. Each strikes one launch attempt."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule may strike: a launch attempt, a node, a request. What it has nothing to do with is empty.

    `operation` is the API's operation, of a request or of what a request has begun (`CreateComputeQuota`).
    """

    account: str
    region: str
    cluster: str = ""
    cluster_id: str = ""
    group: str = ""
    instance_type: str = ""
    logical_id: str = ""
    attempt: int = 0
    operation: str = ""
    instance_id: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault rule: what it matches (None matches all), how often it strikes, and how often it has.

    `probability` is in millionths; `every` strikes each n-th match; `times` is the most strikes; `seconds` lengthens
    a `boot-slow`.
    """

    rule_id: str
    effect: str
    account: str | None = None
    region: str | None = None
    cluster: str | None = None
    group: str | None = None
    instance_type: str | None = None
    node: str | None = None
    attempt: int | None = None
    operation: str | None = None
    code: str | None = None
    message: str | None = None
    probability: int = MILLION
    every: int = 1
    times: int | None = None
    after: WorldTime | None = None
    before: WorldTime | None = None
    seconds: int | None = None
    matches: int = 0
    hits: int = 0

    def covers(self, subject: Subject, now: WorldTime) -> bool:
        """True when the rule is about this attempt at this moment, leaving chance and counts aside."""
        return (
            (self.after is None or now >= self.after)
            and (self.before is None or now < self.before)
            and self.account in (None, subject.account)
            and self.region in (None, subject.region)
            and self.cluster in (None, subject.cluster, subject.cluster_id)
            and self.group in (None, subject.group)
            and self.instance_type in (None, subject.instance_type)
            and self.node in (None, subject.logical_id, subject.instance_id)
            and self.attempt in (None, subject.attempt)
            and self.operation in (None, subject.operation)
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule struck an attempt."""

    rule_id: str
    effect: str
    at: WorldTime
    subject: Subject


class Faults:
    """The rules of a world during one decision. It counts matches and strikes, in the order in which it is asked."""

    def __init__(self, rules: Iterable[Rule], seed: int) -> None:
        self._rules = {rule.rule_id: rule for rule in rules}
        self._before = dict(self._rules)
        self._seed = seed
        self.hits: list[Hit] = []

    def __bool__(self) -> bool:
        return bool(self._rules)

    def strike(self, effect: str, subject: Subject, now: WorldTime) -> Rule | None:
        """The first rule of this effect that strikes the attempt, or None."""
        for rule in self._rules.values():
            if rule.effect == effect and rule.covers(subject, now) and self._struck(rule, subject):
                self.hits.append(Hit(rule.rule_id, effect, now, subject))
                return rule
        return None

    @property
    def counted(self) -> list[Rule]:
        """The rules whose counts have changed."""
        return [rule for key, rule in self._rules.items() if rule is not self._before[key]]

    @property
    def hits_before(self) -> dict[str, int]:
        """How often each rule had struck before this decision."""
        return {key: rule.hits for key, rule in self._before.items()}

    def _struck(self, rule: Rule, subject: Subject) -> bool:
        matches = rule.matches + 1
        strikes = (
            (rule.times is None or rule.hits < rule.times)
            and matches % rule.every == 0
            and draw(self._seed, f"{rule.rule_id}/{subject.logical_id}/{subject.attempt}", "fault") < rule.probability
        )
        self._rules[rule.rule_id] = replace(rule, matches=matches, hits=rule.hits + strikes)
        return strikes


def check_effect(effect: str, known: Sequence[str] = WORLD_EFFECTS) -> None:
    """Refuse an effect that this version does not have, naming those that it has."""
    if effect not in known:
        raise Invalid(f"Fault effect '{effect}' is not available. Choose one of: {', '.join(known)}.")
