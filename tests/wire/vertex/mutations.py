"""Seeded nonsense made of the messages: valid requests with something wrong at a random place (RL-13)."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin
from urllib.parse import quote

import orjson

from app.wire.google.proto import Message, Of, camel
from app.wire.vertex.application import rpcs
from app.wire.vertex.rpc import LOCATIONS, OPERATIONS, Rpc
from tests.wire.aws.mutations import ODD, RAW, TEXTS

BASE = "/v1/projects/p1/locations/us-central1"
JSON = "application/json"
POOL = {
    "machineSpec": {"machineType": "n1-standard-4", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1},
    "replicaCount": "1",
    "containerSpec": {"imageUri": "gcr.io/demo/train", "args": ["--a"], "env": [{"name": "A", "value": "b"}]},
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
}
SPEC = {
    "workerPoolSpecs": [POOL, POOL | {"replicaCount": "2"}],
    "scheduling": {"timeout": "3600s", "strategy": "STANDARD", "disableRetries": True},
    "baseOutputDirectory": {"outputUriPrefix": "gs://bkt/out"},
}
TUNING = {
    "studySpec": {
        "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
        "parameters": [
            {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 1}, "scaleType": "UNIT_LOG_SCALE"},
            {"parameterId": "units", "integerValueSpec": {"minValue": "1", "maxValue": "8"}},
            {
                "parameterId": "kind",
                "categoricalValueSpec": {"values": ["a", "b"]},
                "conditionalParameterSpecs": [
                    {
                        "parentCategoricalValues": {"values": ["a"]},
                        "parameterSpec": {"parameterId": "depth", "discreteValueSpec": {"values": [1, 2]}},
                    }
                ],
            },
        ],
        "algorithm": "RANDOM_SEARCH",
    },
    "maxTrialCount": 4,
    "parallelTrialCount": 2,
    "trialJobSpec": SPEC,
}
DEFINITION = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
VALID: dict[str, Any] = {
    "CreateCustomJob": {"displayName": "job", "jobSpec": SPEC, "labels": {"team": "red"}},
    "CreateHyperparameterTuningJob": {"displayName": "tunes", **TUNING},
    "CreateTrainingPipeline": {
        "displayName": "pipeline",
        "trainingTaskDefinition": DEFINITION,
        "trainingTaskInputs": SPEC,
        "modelToUpload": {"displayName": "model", "containerSpec": {"imageUri": "gcr.io/demo/serve"}},
    },
}
"""What the service accepts, so that what is wrong with it gets as far as it can."""
SCALARS = {"string": "text", "integer": 1, "number": 0.5, "boolean": True, "object": {"a": 1}}


@dataclass(frozen=True)
class Nonsense:
    """One request to send."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


def sample(kind: type[Message], depth: int = 0) -> dict[str, Any]:
    """A message with every field set, of a recursion as deep as need be."""
    properties = kind.model_json_schema(ref_template="{model}")
    properties = properties.get("$defs", {}).get(kind.__name__, properties).get("properties", {})
    made = {}
    for name, each in kind.model_fields.items():
        if any(name in union[1:] for union in kind.oneofs.values()):
            continue
        value = _value(each.annotation, each.metadata, properties.get(camel(name), {}), depth)
        if value is not None:
            made[camel(name)] = value
    return made


def _value(hint: Any, marks: Any, schema: dict[str, Any], depth: int) -> Any:
    for mark in marks:
        if isinstance(mark, Of):
            return list(mark.kind)[-1].name
    if isinstance(hint, type) and issubclass(hint, Message):
        return sample(hint, depth + 1) if depth < 7 else None
    if schema.get("format") == "google-duration":
        return "60s"
    if schema.get("format") == "date-time":
        return "2026-01-01T00:00:00Z"
    for part in get_args(hint):
        inner = get_args(part)[0] if get_origin(part) is list else part
        if isinstance(inner, type) and issubclass(inner, Message):
            made = sample(inner, depth + 1) if depth < 7 else None
            return [made] if inner is not part and made is not None else made
    if get_origin(hint) is dict or any(get_origin(part) is dict for part in get_args(hint)):
        return {"key": "value"}
    if any(get_origin(part) is list for part in get_args(hint)):
        return ["text"]
    return SCALARS.get(schema.get("type", ""), "text")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def put(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """`value` with `odd` in a place."""
    if not path:
        return odd
    made = copy.copy(value)
    made[path[0]] = put(value[path[0]], path[1:], odd)
    return made


def malformed(count: int, seed: int, known: str) -> Iterator[Nonsense]:
    """`count` requests, the same for the same seed; `known` is the id of a job that is there. Some may be valid."""
    draw = random.Random(seed)
    names = sorted(rpcs())
    bodies = {name: _sample_of(rpcs()[name]) for name in names}
    sites = {name: list(places(body)) for name, body in bodies.items()}
    writers = [name for name in names if rpcs()[name].body not in ("", "*")] + 2 * list(VALID)
    for _ in range(count):
        roll = draw.random()
        name = draw.choice(writers if roll < 0.6 else names)
        rpc = rpcs()[name]
        path, whole = _path(rpc, known), orjson.dumps(bodies[name])
        if roll < 0.35:
            odd = copy.deepcopy(draw.choice(ODD))
            yield Nonsense(rpc.method, path, orjson.dumps(put(bodies[name], draw.choice(sites[name]), odd)))
        elif roll < 0.45:
            body = orjson.dumps(put(bodies[name], draw.choice(sites[name]), RAW))
            yield Nonsense(rpc.method, path, body.replace(f'"{RAW}"'.encode(), draw.choice(TEXTS).encode()))
        elif roll < 0.52:
            place = draw.choice([site for site in sites[name] if site])
            odd = put(bodies[name], place[:-1], {str(draw.choice(ODD))[:300]: 1, "unknown": {}})
            yield Nonsense(rpc.method, path, orjson.dumps(odd))
        elif roll < 0.60:
            yield Nonsense(rpc.method, path, _garbled(whole, draw))
        elif roll < 0.65:
            yield Nonsense(rpc.method, path, b'{"a":' * 10_000 + b"1" + b"}" * 10_000)
        elif roll < 0.70:
            kind = draw.choice(("text/plain", "application/xml", "multipart/form-data", "a\tb"))
            yield Nonsense(rpc.method, path, whole if rpc.body else b"{}x", content_type=kind)
        elif roll < 0.75:
            method = draw.choice(("GET", "PUT", "DELETE", "OPTIONS", "PATCH", "POST", "PROPFIND"))
            yield Nonsense(method, path, b"")
        elif roll < 0.90:
            yield Nonsense(rpc.method, f"{path}?{_query(draw)}", whole if rpc.body else b"")
        else:
            yield Nonsense(draw.choice(("GET", "POST", "DELETE")), _odd_path(draw))


def _sample_of(rpc: Rpc) -> Any:
    if rpc.name in VALID:
        return VALID[rpc.name]
    return sample(rpc.request).get(camel(rpc.body), {}) if rpc.body not in ("", "*") else {}


def _path(rpc: Rpc, known: str) -> str:
    if rpc.service == LOCATIONS:
        return BASE if rpc.path.endswith("*") else BASE.rpartition("/")[0]
    owner = "customJobs/1/" if rpc.service == OPERATIONS else ""
    return f"{BASE}/{owner}{rpc.path.replace('*', known)}"


def _query(draw: random.Random) -> str:
    names = ("filter", "pageSize", "pageToken", "readMask", "page_size", "alt", "$alt", "foo", "orderBy", "timeout")
    value = str(draw.choice((*ODD, "state=", "NOT " * 500, "(" * 900, 'a="', "json;enum-encoding=int", "proto")))
    return f"{draw.choice(names)}={quote(value[:3000])}"


def _odd_path(draw: random.Random) -> str:
    odd = quote(str(draw.choice(ODD))[:500], safe="")
    return draw.choice(
        (
            f"/v1/projects/{odd}/locations/us-central1/customJobs",
            f"/v1/projects/p1/locations/{odd}/customJobs",
            f"{BASE}/customJobs/{odd}",
            f"{BASE}/{odd}",
            f"{BASE}/customJobs/1:{odd}",
            f"{BASE}/customJobs/1/operations/{odd}",
            f"/ui/projects/p1/locations/us-central1/operations/{odd}",
            f"/v1beta1/{odd}",
            "/v1/",
            f"{BASE}//customJobs",
            f"{BASE}/customJobs/",
            f"{BASE}/endpoints/1:predict",
        )
    )


def _garbled(whole: bytes, draw: random.Random) -> bytes:
    garbled = bytearray(whole)
    for _ in range(draw.randint(1, 4)):
        garbled[draw.randrange(len(garbled))] = draw.randrange(256)
    return bytes(garbled[: draw.randint(0, len(garbled))])
