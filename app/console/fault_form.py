"""The form of a fault rule: which fields an effect has, and the rule that they make (CT-3)."""

from dataclasses import dataclass
from typing import Any

from app.console.forms import Form
from app.console.reading import MILLION, instant, millionths
from app.core.effects import LATENCY, WHEN, Effect
from app.core.errors import Invalid
from app.core.faults import Rule
from app.core.times import to_iso

LONGEST_SECONDS = 10 * 365 * 86_400
MOST_TIMES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the word of the rule, its label, what may stand in it, and the option of the command line."""

    name: str
    label: str
    example: str = ""
    kind: str = "text"
    option: str = ""

    @property
    def flag(self) -> str:
        return f"--{self.option or self.name}"


FIELDS = (
    Field("cluster", "Cluster", "name or ARN"),
    Field("group", "Group"),
    Field("instance_type", "Instance type", "ml.p5.48xlarge", option="type"),
    Field("node", "Node", "its logical id"),
    Field("job", "Job", "id or name"),
    Field("replica", "Worker", "workerpool0-0"),
    Field("attempt", "Attempt", "any", "number"),
    Field("operation", "Operation", "CreateCluster"),
    Field("api", "API", "sagemaker"),
    Field("code", "Code"),
    Field("message", "Message"),
    Field("seconds", "Seconds", "", "decimal"),
    Field("probability", "Probability, 0 to 1", "1", "decimal"),
    Field("every", "Every n-th match", "1", "number"),
    Field("times", "At most so often", "no limit", "number"),
    Field("after", "Not before", "2026-01-31T12:00:00Z"),
    Field("before", "Not from then on", "2026-01-31T12:00:00Z"),
    Field("account", "Account", "twelve digits"),
    Field("region", "Region", "us-west-2"),
)
"""In the order in which they are shown."""
_TEXTS = ("cluster", "group", "instance_type", "node", "job", "replica", "operation", "api", "account", "region")


def fields_of(effect: Effect) -> tuple[list[Field], list[Field]]:
    """What the effect takes beyond what all take; and that."""
    taken = [field for field in FIELDS if field.name in effect.takes | WHEN]
    return [one for one in taken if one.name not in WHEN], [one for one in taken if one.name in WHEN]


def rule_of(form: Form) -> Rule:
    """The rule that the form describes, still without an id. Invalid."""
    chance, effect = millionths(form, "probability", 1), form.text("effect")
    facts: dict[str, Any] = {name: form.optional(name) for name in (*_TEXTS, "code")}
    facts |= _of_arn(facts["cluster"]) if (facts["cluster"] or "").startswith("arn:") else {}
    return Rule(
        "",
        effect,
        message=form.optional("message", 1024),
        attempt=_count(form, "attempt"),
        every=_count(form, "every") or 1,
        times=_count(form, "times"),
        probability=MILLION if chance is None else chance,
        after=instant(form, "after"),
        before=instant(form, "before"),
        **facts | _length(form, effect),
    )


def _count(form: Form, name: str) -> int | None:
    return None if form.optional(name) is None else form.whole(name, 1, MOST_TIMES)


def _of_arn(arn: str) -> dict[str, str]:
    parts = arn.split(":", 5)
    if len(parts) != 6 or not parts[5].startswith("cluster/"):
        raise Invalid(f"'{arn[:120]}' is not a cluster's ARN. Give its name, or the ClusterArn of CreateCluster.")
    return {"region": parts[3], "account": parts[4], "cluster": parts[5].removeprefix("cluster/")}


def _length(form: Form, effect: str) -> dict[str, int]:
    """A request is late in wall time, to the millisecond; all else lasts whole seconds of the world's."""
    length = millionths(form, "seconds", LONGEST_SECONDS)
    if length is None:
        return {}
    if effect == LATENCY:
        return {"milliseconds": length // 1000}
    if length % MILLION:
        raise Invalid(f"'seconds' of {effect} must be whole.")
    return {"seconds": length // MILLION}


def body_of(rule: Rule) -> dict[str, Any]:
    """The rule as the control API takes it."""
    given: dict[str, Any] = {field.name: getattr(rule, field.name) for field in FIELDS}
    given["seconds"] = rule.seconds if rule.milliseconds is None else rule.milliseconds / 1000
    given["probability"] = None if rule.probability == MILLION else rule.probability / MILLION
    given["every"] = None if rule.every == 1 else rule.every
    given |= {name: to_iso(given[name]) for name in ("after", "before") if given[name] is not None}
    return {"effect": rule.effect} | {name: value for name, value in given.items() if value is not None}


def words_of(rule: Rule) -> list[str]:
    """The rule as words of the command line."""
    body = body_of(rule)
    return [rule.effect, *(word for one in FIELDS if one.name in body for word in (one.flag, str(body[one.name])))]
