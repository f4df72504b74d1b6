"""What fault rules do to a request, in no vendor's words (CT-3)."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.effects import DROP, LATENCY
from app.core.faults import Faults, Rule, Subject
from app.core.times import WorldTime

_ENDINGS = ("api-error", "api-throttle", DROP)


@dataclass(frozen=True, slots=True)
class Mishap:
    """A request's fate: the rule that ends it, or None, and how many milliseconds of wall time the answer is late.

    `rules` are the ids of all that struck it.
    """

    ending: Rule | None
    late_ms: int
    rules: tuple[str, ...] = ()

    @property
    def instead(self) -> Rule | None:
        """The rule that keeps what was asked from being done; None when only the answer suffers."""
        if self.ending is None or (self.drops and self.ending.code == "after"):
            return None
        return self.ending

    @property
    def drops(self) -> bool:
        """The connection closes without an answer."""
        return self.ending is not None and self.ending.effect == DROP


def befall(faults: Faults, subject: Subject, now: WorldTime) -> Mishap | None:
    """Strike the request: at most once by a latency and once by what ends it. None: it goes its way."""
    late = faults.strike(LATENCY, subject, now)
    ending = faults.strike_any(_ENDINGS, subject, now)
    if late is None and ending is None:
        return None
    rules = tuple(rule.rule_id for rule in (late, ending) if rule is not None)
    return Mishap(ending, (late.milliseconds or 0) if late else 0, rules)


def may_befall(rules: Iterable[Rule], subject: Subject) -> bool:
    """False when no rule can strike the request at any moment, whatever else its cluster is called."""
    return any(not rule.is_spent and _may_regard(rule, subject) for rule in rules)


def _may_regard(rule: Rule, subject: Subject) -> bool:
    return (
        rule.api in (None, subject.api)
        and rule.operation in (None, subject.operation)
        and rule.account in (None, subject.account)
        and rule.region in (None, subject.region)
        and (rule.cluster is None or subject.cluster != "")
        and rule.job in (None, subject.job)
    )
