"""Our messages against the SDK's descriptors, of both versions: fields, types, presence, enums, oneofs (VX-19)."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from google.cloud import aiplatform_v1, aiplatform_v1beta1
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from app.wire.google.proto import BETA, GA, Message, Only, camel
from app.wire.google.reading import read
from app.wire.vertex import messages

VERSIONS = {"v1": aiplatform_v1, "v1beta1": aiplatform_v1beta1}
SHARED = {
    "Named": ("GetCustomJobRequest", "CancelTrainingPipelineRequest", "DeleteHyperparameterTuningJobRequest"),
    "ListRequest": (
        "ListCustomJobsRequest",
        "ListHyperparameterTuningJobsRequest",
        "ListTrainingPipelinesRequest",
    ),
    "PageRequest": ("ListPersistentResourcesRequest", "ListMetadataStoresRequest"),
}
"""Messages of ours that stand for several."""
OF_OTHERS = {
    "Status",
    "HyperparameterTuningJobSpec",
    "ListOperationsRequest",
    "WaitOperationRequest",
    "ListLocationsRequest",
}
"""Of google.rpc, google.longrunning and google.cloud.location; and of a schema that is no protocol."""
SCALARS: dict[int, dict[str, Any]] = {
    FieldDescriptor.TYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.TYPE_FLOAT: {"type": "number", "format": "double"},
    FieldDescriptor.TYPE_INT64: {"type": "string", "format": "int64"},
    FieldDescriptor.TYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
}
WELL_KNOWN: dict[str, dict[str, Any]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "format": "google-duration"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Value": {},
    "google.protobuf.ListValue": {},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.BoolValue": {"type": "boolean"},
    "google.protobuf.Int32Value": {"type": "integer", "format": "int32"},
    "google.rpc.Status": {"message": "Status"},
}
DEFAULTS = {
    kind: {"number": 0.0, "integer": 0, "boolean": False}.get(each["type"], "") for kind, each in SCALARS.items()
}
DEFAULTS[FieldDescriptor.TYPE_INT64] = "0"


def every(kind: type[Message]) -> Iterator[type[Message]]:
    """The message and those declared in it."""
    yield kind
    for each in vars(kind).values():
        if (
            isinstance(each, type)
            and issubclass(each, Message)
            and each.__qualname__.startswith(kind.__qualname__ + ".")
        ):
            yield from every(each)


def ours() -> dict[str, type[Message]]:
    found: dict[str, type[Message]] = {}
    for info in pkgutil.iter_modules(messages.__path__):
        module = importlib.import_module(f"{messages.__name__}.{info.name}")
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, Message) and each is not Message:
                found |= {one.__qualname__: one for one in every(each)}
    return found


OURS = ours()


def theirs(version: str, name: str) -> Descriptor | None:
    """The SDK's descriptor of the message, or None when the version has none."""
    first, *rest = name.split(".")
    kind = getattr(VERSIONS[version], first, None) or getattr(VERSIONS[version].types, first, None)
    if kind is None:
        return None
    descriptor: Descriptor | None = kind.pb(kind()).DESCRIPTOR
    for part in rest:
        descriptor = descriptor and descriptor.nested_types_by_name.get(part)
    return descriptor


def in_version(kind: type[Message], version: str) -> dict[str, str]:
    """Python's name of each field that the version has, by the protocol's name."""
    return {
        name.rstrip("_"): name
        for name, field in kind.model_fields.items()
        if not any(isinstance(mark, Only) and mark.version != version for mark in _marks(field.metadata))
    }


def _marks(metadata: Any) -> Iterator[Any]:
    for each in metadata:
        yield getattr(each, "func", each)


def shape(schema: dict[str, Any]) -> dict[str, Any]:
    """Our field's type: what the JSON schema says, without what is the same for all."""
    if "anyOf" in schema:
        (schema,) = [each for each in schema["anyOf"] if each.get("type") != "null"]
    if "$ref" in schema:
        return {"message": schema["$ref"].rpartition("/")[2]}
    if "allOf" in schema:
        return shape(schema["allOf"][0])
    if schema.get("type") == "array":
        return {"repeated": shape(schema["items"])}
    if "additionalProperties" in schema and schema["additionalProperties"] is not True:
        return {"map": shape(schema["additionalProperties"])}
    return {key: schema[key] for key in ("type", "format", "enum") if key in schema}


def declared(field: FieldDescriptor, *, element: bool = False) -> dict[str, Any]:
    """The protocol's type of the field in the same terms."""
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return {"map": declared(field.message_type.fields_by_name["value"], element=True)}
    if field.is_repeated and not element:
        return {"repeated": declared(field, element=True)}
    if field.enum_type is not None:
        return {"type": "string", "enum": [value.name for value in field.enum_type.values]}
    if field.message_type is not None:
        known = WELL_KNOWN.get(field.message_type.full_name)
        return {"message": field.message_type.name} if known is None else known
    return SCALARS[field.type]


CASES = [(version, name) for version in VERSIONS for name in OURS if name not in OF_OTHERS | set(SHARED)]


@pytest.mark.parametrize(("version", "name"), CASES)
def test_a_message(version: str, name: str) -> None:
    """Each field of the version is there, of its type, and no other is."""
    kind, descriptor = OURS[name], theirs(version, name)
    if descriptor is None:
        assert theirs("v1" if version == "v1beta1" else "v1beta1", name) is not None, "in neither version"
        return
    fields = in_version(kind, version)
    assert set(fields) == {field.name.rstrip("_") for field in descriptor.fields}
    schema = kind.model_json_schema(ref_template="{model}")
    definition = schema.get("$defs", {}).get(kind.__name__, schema) if "$ref" in schema else schema
    for field in descriptor.fields:
        assert shape(definition["properties"][camel(field.name)]) == declared(field), field.name
    unions = {each.name: {field.name.rstrip("_") for field in each.fields} for each in descriptor.oneofs}
    real = {union: names for union, names in unions.items() if not union.startswith("_")}
    mine = {union: {each.rstrip("_") for each in names} & set(fields) for union, names in kind.oneofs.items()}
    assert mine == real


@pytest.mark.parametrize(("version", "name"), CASES)
def test_presence(version: str, name: str) -> None:
    """A scalar's default is unset, unless the field has presence; null always is (proto3 JSON)."""
    kind, descriptor = OURS[name], theirs(version, name)
    package = f"google.cloud.aiplatform.{version}"
    for field in descriptor.fields if descriptor else ():
        python = in_version(kind, version)[field.name.rstrip("_")]
        if field.is_repeated or field.message_type is not None or "readOnly" in str(kind.model_fields[python]):
            continue
        default = field.enum_type.values[0].name if field.enum_type else DEFAULTS[field.type]
        told = read(kind, {camel(python): default}, package=package, version=version).canonical()
        assert (camel(python) in told) == field.has_presence, field.name
        assert read(kind, {camel(python): None}, package=package, version=version).canonical() == {}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_message_for_several(version: str, name: str) -> None:
    for each in SHARED[name]:
        descriptor = theirs(version, each)
        assert descriptor is not None
        assert {field.name for field in descriptor.fields} == set(OURS[name].model_fields)


def numbers(kind: type[Message]) -> Iterator[tuple[str, dict[str, int]]]:
    for field in kind.model_fields.values():
        for each in (*field.metadata, *get_args(field.annotation)):
            enum = getattr(each, "kind", None)
            if enum is not None:
                yield enum.__qualname__, {member.name: member.value for member in enum}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_numbers_of_enums(version: str) -> None:
    """Both forms of an enum are read and written, so the numbers must be the protocol's."""
    seen = {}
    for name, kind in OURS.items():
        descriptor = theirs(version, name) if name not in OF_OTHERS else None
        known = {
            field.enum_type.full_name.split(f".{version}.")[1]: {v.name: v.number for v in field.enum_type.values}
            for field in (descriptor.fields if descriptor else ())
            if field.enum_type
        }
        for enum, members in numbers(kind):
            if enum in known:
                seen[enum] = members
                assert members == known[enum]
    assert {"JobState", "Scheduling.Strategy", "AcceleratorType", "Trial.State", "PipelineState"} <= set(seen)


def test_marks_are_told_apart() -> None:
    assert (BETA.version, GA.version) == ("v1beta1", "v1")
