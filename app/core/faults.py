"""Faults as data: rules that say what goes wrong, for whom, and how often (CT-3)."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from app.core.chance import MILLION, draw
from app.core.times import WorldTime


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule may strike: a launch attempt, a node, a request. What it has nothing to do with is empty.

    `operation` is the API's operation, of a request or of what a request has begun (`CreateComputeQuota`). What is
    struck more often than once for each (`logical_id`, `attempt`, `turn`) gets the same draw each time, unless it has
    no `logical_id`: then each match draws afresh.
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
    turn: int = 0
    """Tells apart what may strike one instance several times, such as each of its reboots."""
    api: str = ""
    job: str = ""
    job_name: str = ""
    replica: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A fault rule: what it matches (None matches all), how often it strikes, and how often it has.

    `probability` is in millionths; `every` strikes each n-th match; `times` is the most strikes, after which nothing
    matches any more. `seconds` are the world's and `milliseconds` the wall's; `app.core.effects` says of what.
    Chance is drawn from `seed`, or from the world's.
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
    api: str | None = None
    job: str | None = None
    replica: str | None = None
    code: str | None = None
    message: str | None = None
    probability: int = MILLION
    every: int = 1
    times: int | None = None
    after: WorldTime | None = None
    before: WorldTime | None = None
    seconds: int | None = None
    milliseconds: int | None = None
    seed: int | None = None
    matches: int = 0
    hits: int = 0

    @property
    def is_spent(self) -> bool:
        """The rule has struck as often as it may."""
        return self.times is not None and self.hits >= self.times

    def covers(self, subject: Subject, now: WorldTime) -> bool:
        """True when the rule is about this subject at this moment, leaving chance and counts aside."""
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
            and self.api in (None, subject.api)
            and self.job in (None, subject.job, subject.job_name)
            and self.replica in (None, subject.replica)
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule struck something."""

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
        """The first rule of this effect that strikes the subject, or None."""
        return self.strike_any((effect,), subject, now)

    def strike_any(self, effects: Container[str], subject: Subject, now: WorldTime) -> Rule | None:
        """The first rule of any of these effects that strikes the subject, or None."""
        for rule in self._rules.values():
            if rule.effect in effects and rule.covers(subject, now) and self._struck(rule, subject):
                self.hits.append(Hit(rule.rule_id, rule.effect, now, subject))
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
        if rule.is_spent:
            return False
        matches = rule.matches + 1
        who = (
            f"{subject.logical_id}/{subject.attempt}" + f"/{subject.turn}" * bool(subject.turn)
            if subject.logical_id
            else f"match {matches}"
        )
        seed = self._seed if rule.seed is None else rule.seed
        strikes = matches % rule.every == 0 and draw(seed, f"{rule.rule_id}/{who}", "fault") < rule.probability
        self._rules[rule.rule_id] = replace(rule, matches=matches, hits=rule.hits + strikes)
        return strikes
