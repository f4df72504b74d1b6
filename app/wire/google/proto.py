"""Messages of Google's APIs as proto3 JSON has them (VX-19): Pydantic walks them, `scalars` reads what they hold.

What is read is canonical at once: names in camel case, enums by name, 64-bit integers and durations as strings, and
what is unset, null or a default without presence left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, partial
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from app.wire.google.scalars import Text, invalid, whole

T = TypeVar("T")

UNKNOWN = "unknown_name"
"""The type of an error about a field that this version of the API does not have."""


def camel(name: str) -> str:
    """The JSON name of a field; a trailing underscore is Python's, not the field's."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _tell_required(schema: dict[str, Any], kind: type[BaseModel]) -> None:
    needed = [camel(name) for name, field in kind.model_fields.items() if REQUIRED in field.metadata]
    schema.update({"required": needed} if needed else {})


class Message(BaseModel):
    """A message of one of Google's APIs; `oneofs` names the fields of which at most one may be set."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=camel,
        validate_by_name=True,
        validate_by_alias=True,
        loc_by_alias=False,
        protected_namespaces=(),
        defer_build=True,
        json_schema_extra=_tell_required,
    )
    oneofs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls, oneofs: Mapping[str, tuple[str, ...]] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.oneofs = oneofs or {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Pydantic hands the keywords of the class on; `oneofs` has been used."""

    @model_validator(mode="before")
    @classmethod
    def _is_message(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, Mapping):
            raise invalid(message_type(cls.__qualname__, info))
        for oneof, fields in cls.oneofs.items():
            given = [camel(name) for name in fields if _is_set(value, name)]
            if len(given) > 1:
                raise invalid("oneof", f"oneof field '{oneof}' is already set. Cannot set '{given[1]}'")
        return value

    def canonical(self) -> dict[str, Any]:
        """The message in canonical JSON."""
        return self.model_dump(by_alias=True, exclude_none=True)


def _is_set(value: Mapping[str, Any], name: str) -> bool:
    return value.get(camel(name), value.get(name)) is not None


@dataclass(frozen=True)
class Of:
    """The field holds one of an enum: its name or its number is read, its name is kept.

    Zero is unset, unless the field has presence.
    """

    kind: type[IntEnum]
    presence: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        number = whole(32)

        def read(value: Any, info: ValidationInfo) -> str | None:
            if value is None:
                return None
            try:
                known = self.kind[value] if isinstance(value, str) else self.kind(number(value))
            except (KeyError, ValueError, TypeError, OverflowError):
                raise invalid(message_type(self.kind.__qualname__, info)) from None
            return known.name if known or self.presence else None

        return core_schema.with_info_plain_validator_function(read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "enum": [member.name for member in self.kind]}


def message_type(name: str, info: ValidationInfo) -> str:
    """The URL of a type of the API's version that is being read."""
    return f"type.googleapis.com/{(info.context or {}).get('package', '')}.{name}"


def _dropped(value: Any) -> None:
    """Whatever a request says of an output-only field is ignored, if only it is of the type."""


@dataclass(frozen=True)
class Only:
    """The field is in one version of the API."""

    version: str

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        if (info.context or {}).get("version", self.version) != self.version:
            raise PydanticCustomError(UNKNOWN, "unknown")
        return value


class Needed:
    """Marks a field that must be set in a request."""


def _listed(value: Any) -> Any:
    """A single value stands for a list of one, as Google's parser has it."""
    return value if value is None or isinstance(value, list) else [value]


def _unless_empty(value: Any) -> Any:
    return value or None


REQUIRED = Needed()
BETA, GA = Only("v1beta1"), Only("v1")
Repeated = Annotated[list[T] | None, BeforeValidator(_listed), AfterValidator(_unless_empty)]
StringMap = Annotated[dict[Text, Text] | None, AfterValidator(_unless_empty)]
Out = Annotated[T, AfterValidator(_dropped), Field(json_schema_extra={"readOnly": True})]
Required = Annotated[T, REQUIRED]
Beta = Annotated[T, AfterValidator(BETA)]
Ga = Annotated[T, AfterValidator(GA)]

Numbering = Callable[[Any], Any]


def numbered(kind: type[Message], value: Mapping[str, Any]) -> dict[str, Any]:
    """A canonical message with each enum by its number, as `$alt=json;enum-encoding=int` asks for."""
    numbering = _numbering(kind)
    return {name: numbering[name](item) if name in numbering else item for name, item in value.items()}


@cache
def _numbering(kind: type[Message]) -> dict[str, Numbering]:
    """What to do with the fields that hold enums somewhere, by their JSON names."""
    kind.model_rebuild()
    found = {camel(name): _of_type(field.annotation, field.metadata) for name, field in kind.model_fields.items()}
    return {name: each for name, each in found.items() if each is not None}


def _of_type(hint: Any, marks: Any = ()) -> Numbering | None:
    for mark in marks:
        if isinstance(mark, Of):
            return lambda name: mark.kind[name].value
    if isinstance(hint, type) and issubclass(hint, Message):
        return lambda value: numbered(hint, value)
    args, origin = get_args(hint), get_origin(hint)
    if origin is Annotated:
        return _of_type(args[0], args[1:])
    if origin in (dict, list):
        inner = _of_type(args[-1])
        if inner is None:
            return None
        return partial(_each_value if origin is dict else _each, inner)
    return next((found for each in args if (found := _of_type(each)) is not None), None)


def _each(numbering: Numbering, items: list[Any]) -> list[Any]:
    return [numbering(item) for item in items]


def _each_value(numbering: Numbering, items: Mapping[str, Any]) -> dict[str, Any]:
    return {key: numbering(item) for key, item in items.items()}
