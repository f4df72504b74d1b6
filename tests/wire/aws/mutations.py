"""Seeded nonsense: valid requests with something wrong at a random place, and bodies that are no requests (RL-13)."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from app.wire.aws.registry import AwsService
from tests.wire.aws.calls import JSON_1_1
from tests.wire.aws.samples import Site, sample, sites

RAW = "\ue000"
"""Stands in a value for JSON text that no serializer writes."""
TEXTS = ("NaN", "Infinity", "-Infinity", '"\\ud800"', '"\\udfff\\ud800"', "1e999", "01", "9" * 400, "[" * 10_000)
HOSTILE = (
    "' OR 1=1 --", "'; DROP TABLE clusters; --", "{{7*7}}", "${jndi:ldap://x}", "../../etc/passwd", "a\r\nX-Evil: 1",
    "<script>alert(1)</script>", "%00", "\0", "\u202e", "𝕏" * 300, "x" * 100_000,
)  # fmt: skip
ODD = (None, True, False, 0, -1, 2**31, 2**63, -(2**63), 1.5, 1e300, "", [], {}, [[]], [None], {"": None}, *HOSTILE)


@dataclass(frozen=True)
class Nonsense:
    """One request to send."""

    target: str
    body: bytes
    content_type: str = JSON_1_1
    method: str = "POST"


def malformed(service: AwsService, count: int, seed: int) -> Iterator[Nonsense]:
    """`count` requests; the same for the same seed. Some may happen to be valid."""
    draw = random.Random(seed)
    names = sorted(service.operations)
    places = {name: list(sites(service.operations[name].model.input)) for name in names}
    for _ in range(count):
        name = draw.choice(names)
        target = f"{service.target_prefix}.{name}"
        whole = orjson.dumps(sample(service.operations[name].model.input))
        roll = draw.random()
        if roll < 0.55:
            value = copy.deepcopy(draw.choice(ODD))
            yield Nonsense(target, orjson.dumps(_put(draw.choice(places[name]), value) or {}))
        elif roll < 0.70:
            body = orjson.dumps(draw.choice(places[name]).request(RAW) or {})
            yield Nonsense(target, body.replace(f'"{RAW}"'.encode(), draw.choice(TEXTS).encode()))
        elif roll < 0.80:
            yield Nonsense(target, _garbled(whole, draw))
        elif roll < 0.85:
            yield Nonsense(target, whole, content_type=draw.choice(("text/plain", "", "application/xml", "a\tb")))
        elif roll < 0.90:
            yield Nonsense(draw.choice(("", ".", "SageMaker", "SageMaker.", "X.Y", f"{target}\x7f", name)), whole)
        elif roll < 0.95:
            yield Nonsense(target, whole, method=draw.choice(("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "BREW")))
        else:
            yield Nonsense(target, _deep(draw))


def _put(site: Site, value: object) -> object:
    """The request with `value` in its place; what is no text is written as text where only a key can be."""
    return site.request(value if isinstance(value, str) or not site.is_key else orjson.dumps(value).decode())


def _garbled(whole: bytes, draw: random.Random) -> bytes:
    garbled = bytearray(whole)
    for _ in range(draw.randint(1, 4)):
        garbled[draw.randrange(len(garbled))] = draw.randrange(256)
    return bytes(garbled[: draw.randint(0, len(garbled))])


def _deep(draw: random.Random) -> bytes:
    depth = draw.choice((100, 1000, 1020, 10_000))
    opening, closing = draw.choice(((b"[", b"]"), (b'{"And":[', b"]}"), (b'{"ClusterName":', b"}")))
    return opening * depth + b"1" + closing * depth
