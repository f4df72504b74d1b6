"""Requests made from the model: whole ones, ones that break a single constraint, and nonsense.

Everything here reads the shapes; nothing knows an operation by name, so it grows with the registry.
"""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import regex

import app.wire.sagemaker as topics
from app.wire.aws.model import Shape
from app.wire.aws.registry import AwsService, Context

FIRST_OPERATIONS = frozenset(
    {
        "CreateCluster", "DescribeCluster", "UpdateCluster", "DeleteCluster", "ListClusters", "ListClusterNodes",
        "DescribeClusterNode", "ListClusterEvents", "DescribeClusterEvent", "BatchAddClusterNodes",
        "BatchDeleteClusterNodes", "AddTags", "ListTags", "DeleteTags",
    }
)  # fmt: skip


def emulated_names() -> list[str]:
    """Every operation that a topic of the service registers, and those that it began with."""
    for topic in pkgutil.iter_modules(topics.__path__):
        importlib.import_module(f"{topics.__name__}.{topic.name}")
    return sorted(FIRST_OPERATIONS | set(topics.sagemaker.operations))


def silent_service(names: list[str]) -> AwsService:
    """SageMaker with handlers that answer nothing: the wire without the rest."""
    service = AwsService("sagemaker", target_prefix="SageMaker")
    for name in names:

        async def handler(ctx: Context, req: Any) -> dict[str, Any]:
            return {}

        handler.__name__ = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        service.operation(handler)
    return service


@dataclass(frozen=True)
class Site:
    """A place in an operation's input: its shape, its path as AWS tells it, and a request with a value put there.

    `told_at` and `told_as` are how a broken scalar is reported: a list's or map's scalars at the whole.
    """

    shape: Shape
    path: str
    request: Callable[[Any], Any]
    told_at: str
    told_as: str = ""
    is_key: bool = False


def sites(shape: Shape) -> Iterator[Site]:
    """Every place below an input shape; a shape inside itself is not entered again."""
    yield from _sites(Site(shape, "", lambda value: value, ""), frozenset())


def _sites(site: Site, above: frozenset[str]) -> Iterator[Site]:
    yield site
    shape = site.shape
    if shape.name in above:
        return
    inside = above | {shape.name}
    for name, member in shape.members.items():
        path = f"{site.path}.{name[0].lower()}{name[1:]}".lstrip(".")
        base = {} if shape.is_union else {key: value for key, value in sample(shape).items() if key != name}
        put = lambda value, name=name, base=base: site.request({**base, name: value})  # noqa: E731
        yield from _sites(Site(member, path, put, path), inside)
    if shape.element is not None:
        rest = [sample(shape.element)] * (int(shape.minimum or 1) - 1)
        put = lambda value: site.request([value, *rest])  # noqa: E731
        yield from _sites(_part(shape.element, f"{site.path}.1.member", site, put, "Member must satisfy"), inside)
    if shape.key is not None and shape.value is not None:
        key, value = sample(shape.key), sample(shape.value)
        put_key = lambda bad: site.request({bad: value})  # noqa: E731
        yield Site(shape.key, site.path, put_key, site.path, "Map keys must satisfy", is_key=True)
        put = lambda bad: site.request({key: bad})  # noqa: E731
        yield from _sites(_part(shape.value, f"{site.path}.1.member", site, put, "Map value must satisfy"), inside)


def _part(shape: Shape, path: str, whole: Site, put: Callable[[Any], Any], told_as: str) -> Site:
    if shape.kind in ("structure", "list", "map"):
        return Site(shape, path, put, path)
    return Site(shape, path, put, whole.path, told_as)


def sample(shape: Shape) -> Any:
    """A value that breaks nothing, with required members only (one member for a union)."""
    match shape.kind:
        case "structure":
            names = list(shape.members)[:1] if shape.is_union else shape.required
            return {name: sample(shape.members[name]) for name in names}
        case "list":
            assert shape.element is not None
            return [sample(shape.element)] * int(shape.minimum or 0)
        case "map":
            return dict(zip(keys(shape, int(shape.minimum or 0)), iter(lambda: sample(shape.value), 1), strict=False))
        case "string":
            return shape.choices[0] if shape.choices else text(shape)
        case "boolean":
            return True
        case "timestamp":
            return 1_770_000_000
    return shape.minimum or 1


def keys(shape: Shape, count: int) -> list[str]:
    """`count` different keys that a map of this shape takes."""
    assert shape.key is not None
    return [sample(shape.key)[:8] + str(number) for number in range(count)]


def text(shape: Shape) -> str:
    """A string of the shape's pattern and length."""
    least, most = int(shape.minimum or 0), int(shape.maximum or 8192)
    if shape.pattern is None:
        return "a" * max(least, 1)
    tree = _parser.parse(re.sub(r"\\p\{[LMNPSZ]\}", "a", shape.pattern))
    for extra in range(1, 100):
        made = _from_pattern(tree, extra)
        if least <= len(made) <= most and regex.fullmatch(shape.pattern, made):
            return made
    raise AssertionError(f"no sample for {shape.pattern}")


def _from_pattern(tree: Any, extra: int) -> str:
    out = []
    for kind, argument in tree:
        match kind:
            case op.LITERAL:
                out.append(chr(argument))
            case op.ANY:
                out.append("a")
            case op.NOT_LITERAL:
                out.append("a" if argument != ord("a") else "b")
            case op.IN:
                out.append(_from_class(argument))
            case op.SUBPATTERN:
                out.append(_from_pattern(argument[-1], extra))
            case op.BRANCH:
                out.append(_from_pattern(argument[1][0], extra))
            case op.MAX_REPEAT | op.MIN_REPEAT:
                low, high, item = argument
                out.append(_from_pattern(item, extra) * min(int(high), max(low, low + extra - 1)))
    return "".join(out)


def _from_class(items: Any) -> str:
    if items[0][0] is op.NEGATE:
        return "a"
    for kind, argument in items:
        if kind is op.RANGE:
            return chr(argument[0])
        if kind is op.CATEGORY:
            return "0" if argument is op.CATEGORY_DIGIT else "a"
    return chr(items[0][1])
