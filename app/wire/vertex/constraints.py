"""What the service asks of resources beyond their types: told all at once, in its form (VX-18, VX-22).

The form, `List of found errors:\\t1.Field: F; Message: M\\t `, and the sentences about unset fields, labels, variables
and accelerators are of public reports; the others are ours.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.wire.google.errors import MOST_VIOLATIONS, Code, GoogleError, Violation, bad_request
from app.wire.google.proto import REQUIRED, Message

LONGEST_NAME = 128
MOST_LABELS = 64
LONGEST_LABEL = 64
"""Characters of a key or a value, as the protocol states it."""
UNSET = "Required field is not set."
_KMS_KEY = re.compile(r"projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+")
_LABEL = "Label keys and values can only contain lowercase letters, numbers, dashes and underscores: up to 64."


def enforce(violations: Iterator[Violation]) -> None:
    """Raise the one refusal that tells all violations, the first of each field, if there is any."""
    first: dict[str, Violation] = {}
    for each in violations:
        first.setdefault(each.field, each)
    found = list(first.values())
    if not found:
        return
    told = "".join(f"\t{n}.Field: {each.field}; Message: {each.description}" for n, each in enumerate(found, 1))
    raise GoogleError(Code.INVALID_ARGUMENT, f"List of found errors:{told}\t ", [bad_request(found[:MOST_VIOLATIONS])])


def unset(message: Message | None, path: str) -> Iterator[Violation]:
    """Required fields that are unset, in the message and in those that it holds."""
    for name, field in type(message).model_fields.items() if message else ():
        value, place = getattr(message, name), _joined(path, name.rstrip("_"))
        if value is None and REQUIRED in field.metadata:
            yield Violation(place, UNSET)
        elif isinstance(value, Message):
            yield from unset(value, place)
        elif isinstance(value, list):
            for number, each in enumerate(value):
                if isinstance(each, Message):
                    yield from unset(each, f"{place}[{number}]")


def common(resource: Mapping[str, Any]) -> Iterator[Violation]:
    """Of what jobs and pipelines have in common: display name, labels, key."""
    name = resource.get("displayName", "")
    if len(name) > LONGEST_NAME:
        yield Violation("display_name", f"Must be at most {LONGEST_NAME} characters long, and has {len(name)}.")
    yield from _labels(resource.get("labels", {}))
    key = resource.get("encryptionSpec", {}).get("kmsKeyName")
    if key is not None and not _KMS_KEY.fullmatch(key):
        form = "projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY"
        yield Violation("encryption_spec.kms_key_name", f"Must be of the form {form}.")


def _labels(labels: Mapping[str, str]) -> Iterator[Violation]:
    if len(labels) > MOST_LABELS:
        yield Violation("labels", f"There are {len(labels)} labels. There can be at most {MOST_LABELS}.")
    if not all(_is_label(text) for pair in labels.items() for text in pair):
        yield Violation("labels", _LABEL)
    elif not all(key[:1].isalpha() for key in labels):
        yield Violation("labels", "Label keys must begin with a letter.")


def _is_label(text: str) -> bool:
    """International letters are allowed; of those with case, the small ones."""
    return len(text) <= LONGEST_LABEL and all(
        each in "_-" or each.isdigit() or (each.isalpha() and each == each.lower()) for each in text
    )


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
