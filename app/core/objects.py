"""Buckets and objects as Cloud Storage has them: their names, their generations, and what a request may demand of them.

Names are rules of https://cloud.google.com/storage/docs/buckets and …/objects.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.core.errors import DomainError, Invalid
from app.core.times import WorldTime, to_millis

MOST_BYTES = 256 * 1024 * 1024
"""What one object may have here (CT-14); the real service takes 5 TiB."""
MOST_NAME_BYTES = 1024
MOST_PARTS = 32
"""Objects that one is composed of at a time."""
STEP = 256 * 1024
"""What is kept of an upload in pieces, but for its last one, is a multiple of this."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_ADDRESS = re.compile(r"[0-9]+(\.[0-9]+){3}")
_RANGE = re.compile(r"bytes=(?:([0-9]{1,19})-([0-9]{0,19})|-([0-9]{1,19}))")
_PIECE = re.compile(r"bytes (?:([0-9]{1,19})-([0-9]{1,19})|\*)/([0-9]{1,19}|\*)")
_CHALLENGE = ".well-known/acme-challenge/"


class Unmet(DomainError):
    """A precondition of the request does not hold."""


class Unchanged(DomainError):
    """The object is still the one that the reader has."""


class OutOfRange(DomainError):
    """None of the bytes that were asked for exist. `size` is how many there are."""

    def __init__(self, message: str, size: int) -> None:
        super().__init__(message)
        self.size = size


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket. `generation` is the last number that anything in it was given."""

    name: str
    project: str
    location: str
    storage_class: str
    labels: Mapping[str, str]
    created_at: WorldTime
    generation: int = 0


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's facts. Its bytes lie under the number `content`; `attributes` are what its writer told about it.

    `md5` and `crc32c` are base64; an object that was composed of `components` parts has no MD5.
    """

    bucket: str
    name: str
    generation: int
    metageneration: int
    content: int
    size: int
    crc32c: str
    md5: str | None
    components: int | None
    attributes: Mapping[str, Any]
    created_at: WorldTime
    updated_at: WorldTime


class Entry(NamedTuple):
    """One line of a list: an object, or the folder in which there are some."""

    folder: str | None
    found: StoredObject

    @property
    def name(self) -> str:
        return self.folder or self.found.name


class Listing(NamedTuple):
    """What is listed: names with `prefix`, from `first` and before `end`; and behind `after`, the page before."""

    prefix: str = ""
    delimiter: str = ""
    first: str | None = None
    end: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload in pieces, of which `received` bytes are there; `generation` is that of the object it has become.

    `total` is the object's size as far as it was told; `checksums` are what the writer expects, by kind.
    """

    bucket: str
    upload_id: str
    content: int
    name: str
    attributes: Mapping[str, Any]
    checksums: Mapping[str, str]
    conditions: Mapping[str, int]
    began_at: WorldTime
    total: int | None = None
    received: int = 0
    generation: int | None = None


class Piece(NamedTuple):
    """Bytes of an upload: `size` of them from `start`, or from where it has got to; `total` is how many it will have,
    if that is known by now."""

    start: int | None
    size: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Sought:
    """An object as somebody asks for it: its name, a generation if it must be that one, and what it must be."""

    bucket: str
    name: str
    generation: int | None = None
    conditions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """An object as somebody wants it written: its place, what is told about it, and what it must be."""

    bucket: str
    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, int] = field(default_factory=dict)


def check_bucket(name: str) -> None:
    """Invalid unless a bucket may have the name."""
    parts = name.split(".")
    fits = _BUCKET.fullmatch(name) and all(0 < len(part) <= 63 for part in parts) and not _ADDRESS.fullmatch(name)
    if not fits or name.startswith("goog") or "google" in name:
        raise Invalid(
            f"Invalid bucket name: '{_shown(name)}'. A name has 3 to 63 of a-z, 0-9, '-', '_' and '.', begins and ends "
            "with a letter or digit, is no IP address, and has no 'google' in it."
        )


def check_object(name: str) -> None:
    """Invalid unless an object may have the name. It is a name and no path: `../a` is the object of that name."""
    size = len(name.encode("utf-8", "replace"))
    if not 1 <= size <= MOST_NAME_BYTES:
        raise Invalid(f"An object's name has 1 to {MOST_NAME_BYTES} bytes of UTF-8; this one has {size}.")
    if name in (".", "..") or name.startswith(_CHALLENGE) or any(mark in name for mark in "\r\n\0"):
        raise Invalid(
            f"Disallowed object name: '{_shown(name)}'. It may not be '.' or '..', begin with '{_CHALLENGE}', or hold "
            "a carriage return, a line feed or NUL."
        )


def next_generation(last: int, now: WorldTime) -> int:
    """Microseconds of the world's time, as the real service numbers generations; never one that was given before."""
    return max(to_millis(now) * 1000, last + 1)


def check_conditions(conditions: Mapping[str, int], found: StoredObject | None) -> None:
    """Unmet unless the object, or its absence, is what the writer takes it for. Generation 0 stands for absence."""
    if not _match(conditions, found) or not _differ(conditions, found):
        raise Unmet("At least one of the pre-conditions you specified did not hold.")


def check_reader(conditions: Mapping[str, int], found: StoredObject) -> None:
    """The same for a reader, to whom Unchanged tells that it has the object already."""
    if not _match(conditions, found):
        raise Unmet("At least one of the pre-conditions you specified did not hold.")
    if not _differ(conditions, found):
        raise Unchanged("The object is the one that the request excludes.")


def _match(conditions: Mapping[str, int], found: StoredObject | None) -> bool:
    generation, metageneration = _numbers(found)
    return (
        conditions.get("ifGenerationMatch", generation) == generation
        and conditions.get("ifMetagenerationMatch", metageneration) == metageneration
    )


def _differ(conditions: Mapping[str, int], found: StoredObject | None) -> bool:
    generation, metageneration = _numbers(found)
    return (
        conditions.get("ifGenerationNotMatch") != generation
        and conditions.get("ifMetagenerationNotMatch") != metageneration
    )


def _numbers(found: StoredObject | None) -> tuple[int, int]:
    return (found.generation, found.metageneration) if found else (0, 0)


def span_of(header: str | None, size: int) -> range | None:
    """The bytes that a `Range` header asks for; None for all of them, as when it is not understood (RFC 9110).

    OutOfRange: there are none such.
    """
    asked = _RANGE.fullmatch(header) if header else None
    if asked is None:
        return None
    first, last, suffix = asked.groups()
    if suffix is not None:
        start, stop = max(0, size - int(suffix)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= stop:
        raise OutOfRange(f"Request range not satisfiable: the object has {size} bytes.", size)
    return range(start, stop)


def piece_of(header: str | None, size: int) -> Piece:
    """What a body of `size` bytes is by its `Content-Range`: without one, all of the object. Invalid."""
    if header is None:
        return Piece(0, size, size)
    told = _PIECE.fullmatch(header)
    if told is None:
        raise Invalid("Failed to parse Content-Range header. Send `bytes 0-262143/*`, or `bytes */*` to ask.")
    first, last, whole = told.groups()
    length = int(last) - int(first) + 1 if first else 0
    if length != size:
        raise Invalid(f"The Content-Range '{header}' is of {length} bytes, and the body has {size}. Send it again.")
    return Piece(int(first) if first else None, size, None if whole == "*" else int(whole))


def taken(upload: Upload, piece: Piece) -> tuple[range, bool]:
    """Which bytes of the piece are kept, and whether the upload is then complete. Invalid: it does not fit.

    What is there already is not written again, and what is behind the last full step is not kept: the client is told
    where to go on.
    """
    start = upload.received if piece.start is None else piece.start
    stop = max(start + piece.size, upload.received)
    total = piece.total if upload.total is None else upload.total
    if piece.total not in (None, total):
        raise Invalid(f"The upload was begun with {total} bytes in all, and Content-Range says {piece.total}.")
    if start > upload.received:
        raise Invalid(
            f"According to the Content-Range header, the upload offset is {start} byte(s), which exceeds already "
            f"uploaded size of {upload.received} byte(s). Go on from there."
        )
    if total is not None and stop > total:
        raise Invalid(f"The upload would have {stop} bytes, which is more than the {total} that it was to have.")
    if stop == total:
        return range(upload.received, stop), True
    return range(upload.received, max(upload.received, stop - stop % STEP)), False


def told_anew(attributes: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes when some of them are told anew; None takes one away, and in `metadata` one of its keys."""
    merged = {**attributes, **told}
    if told.get("metadata") is not None:
        merged["metadata"] = _without_none({**(attributes.get("metadata") or {}), **told["metadata"]}) or None
    return _without_none(merged)


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _shown(name: str) -> str:
    return name[:100].encode("unicode_escape").decode("ascii")
