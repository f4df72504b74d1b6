"""HP-W4: each constraint of each input shape, broken alone, is told with its path and AWS's sentence."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import botocore.loaders
import botocore.model
import regex

from app.wire.aws.model import Shape
from tests.wire.aws.calls import Reply, Wire
from tests.wire.aws.samples import Site, emulated_names, keys, sample, silent_service, sites

NUMBERS = ("integer", "long", "float", "double")
SCALARS = (*NUMBERS, "string", "boolean", "timestamp", "blob")
NOT_A = {"string": 5, "structure": [], "map": [], "list": "x"}

Break = tuple[str, Any, str, str]
"""What is broken, the request that breaks it, the path that must be told, the sentence."""


def breaks(site: Site) -> Iterator[Break]:
    """Every constraint that this place has, each with a request that breaks it."""
    shape = site.shape
    if not site.is_key:
        yield "type", site.request(NOT_A.get(shape.kind, {})), site.path, ""
    for name in shape.required:
        path = f"{site.path}.{name[0].lower()}{name[1:]}".lstrip(".")
        rest = {key: value for key, value in sample(shape).items() if key != name}
        yield "required", site.request(rest), path, "Member must not be null"
    if shape.is_union:
        both = {name: sample(member) for name, member in list(shape.members.items())[:2]}
        yield "union", site.request({}), site.path, "Exactly one member must be set"
        yield "union, two set", site.request(both), site.path, "Exactly one member must be set"
    measure = "value" if shape.kind in NUMBERS else "length"
    if has_floor(shape.kind, shape.minimum):
        sentence = f"Member must have {measure} greater than or equal to {shape.minimum}"
        yield "min", site.request(sized(shape, int(shape.minimum) - 1)), site.told_at, sentence
    if shape.maximum is not None:
        sentence = f"Member must have {measure} less than or equal to {shape.maximum}"
        yield "max", site.request(sized(shape, int(shape.maximum) + 1)), site.told_at, sentence
    if shape.pattern is not None:
        sentence = f"Member must satisfy regular expression pattern: {shape.pattern}"
        yield "pattern", site.request(unlike(shape)), site.told_at, sentence
    if shape.choices:
        sentence = f"Member must satisfy enum value set: [{', '.join(shape.choices)}]"
        yield "enum", site.request("no-such-choice"), site.told_at, sentence


def has_floor(kind: str, minimum: int | None) -> bool:
    """A length or size below 0 cannot be sent, so a minimum of 0 constrains only values."""
    return minimum is not None and (minimum > 0 or kind in NUMBERS)


def sized(shape: Shape, size: int) -> Any:
    """A value of the shape that is wrong in nothing but its size."""
    if shape.kind in NUMBERS:
        return size
    if shape.kind == "list":
        return [sample(shape.element)] * size
    if shape.kind == "map":
        return {key: sample(shape.value) for key in keys(shape, size)}
    value = sample(shape)
    return value[:size] if len(value) > size else value + (value[-1:] or "a") * (size - len(value))


def unlike(shape: Shape) -> str:
    """A string of a good length that is not of the pattern; the empty one where there is no other."""
    length = max(int(shape.minimum or 0), 1)
    if shape.maximum is not None:
        length = min(max(length, 4), int(shape.maximum))
    for char in ("!", "\n", "#", "\x01", " "):
        if not regex.fullmatch(shape.pattern, char * length):
            return char * length
    return ""


def assert_told(reply: Reply, case: Break, site: Site) -> bool:
    """The reply names path and sentence, and nothing of another place. True when it names just the one."""
    what, _, path, sentence = case
    reply.assert_is_aws()
    assert reply.status == 400, case
    if what == "type":
        assert reply.code == "SerializationException", case
        assert reply.message.endswith(f" at '{path}'") or not path, (case, reply.message)
        return ";" not in reply.message
    assert reply.code == "ValidationException", case
    constraint = f"at '{path}' failed to satisfy constraint: "
    told_as = f"{site.told_as} constraint: [" if site.told_as and what != "required" else ""
    assert constraint + told_as in reply.message, (case, reply.message)
    assert sentence in reply.message, (case, reply.message)
    count = int(reply.message.split()[0])
    assert reply.message.count(constraint) == count, (case, reply.message)
    return count == 1


async def test_every_constraint_is_told() -> None:
    """HP-W4: the count covered equals the count that botocore's own reading of the model gives."""
    names = emulated_names()
    service = silent_service(names)
    wire = Wire([service])
    covered: Counter[str] = Counter()
    together = 0
    for name in names:
        fine = await wire.call(name, sample(service.operations[name].model.input))
        assert fine.status == 200, (name, fine.body)
        for site in sites(service.operations[name].model.input):
            for case in breaks(site):
                reply = await wire.call(name, case[1])
                together += not assert_told(reply, case, site)
                covered[case[0]] += 1
    del covered["union, two set"]
    expected = sum((count_of(name) for name in names), Counter())
    print(f"constraints covered: {covered.total()} of {expected.total()} in {len(names)} operations "
          f"({dict(covered)}; {together} cannot be broken without another of the same value)")  # fmt: skip
    assert covered == expected


def count_of(operation: str) -> Counter[str]:
    """The constraints of an operation's input, counted by botocore's own model classes."""
    raw = botocore.loaders.Loader(include_default_search_paths=True).load_service_model("sagemaker", "service-2")
    found = botocore.model.ServiceModel(raw).operation_model(operation).input_shape
    return _count(found, frozenset(), is_key=False)


def _count(shape: Any, above: frozenset[str], *, is_key: bool) -> Counter[str]:
    facts = shape.metadata
    count: Counter[str] = Counter()
    count["type"] += not is_key
    count["required"] += len(facts.get("required", ()))
    count["union"] += bool(getattr(shape, "is_tagged_union", False))
    count["min"] += has_floor(shape.type_name, facts.get("min"))
    count["max"] += "max" in facts
    count["pattern"] += "pattern" in facts
    count["enum"] += "enum" in facts
    count = +count
    if shape.name in above:
        return count
    inside = above | {shape.name}
    for member in getattr(shape, "members", {}).values():
        count += _count(member, inside, is_key=False)
    if shape.type_name == "list":
        count += _count(shape.member, inside, is_key=False)
    if shape.type_name == "map":
        count += _count(shape.key, inside, is_key=True) + _count(shape.value, inside, is_key=False)
    return count
