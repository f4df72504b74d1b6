"""Buckets and objects in the JSON of Cloud Storage's API: what of it is read, and what is told."""

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.core.errors import Invalid
from app.core.objects import Bucket, StoredObject
from app.core.projects import number_of
from app.core.times import to_iso
from app.usecases.buckets import LOCATION, STORAGE_CLASS

MOST_METADATA = 8 * 1024
"""Bytes of an object's own metadata, as on the real service."""
HEADERS = {
    "contentType": "content-type",
    "cacheControl": "cache-control",
    "contentDisposition": "content-disposition",
    "contentEncoding": "content-encoding",
    "contentLanguage": "content-language",
}
"""Attributes that a download tells as headers."""
_ATTRIBUTES = (*HEADERS, "storageClass", "customTime", "metadata")
_CHECKSUMS = ("crc32c", "md5Hash")

Text = Annotated[str, Field(max_length=MOST_METADATA, pattern=r"^[^\x00]*$")]
Line = Annotated[str, Field(max_length=1024, pattern=r"^[^\x00-\x1f\x7f]*$")]
Labels = Annotated[dict[Text, Text], Field(max_length=64)]


def _small(metadata: Mapping[str, str | None] | None) -> Mapping[str, str | None] | None:
    size = sum(len(name.encode()) + len((value or "").encode()) for name, value in (metadata or {}).items())
    if size > MOST_METADATA:
        raise ValueError(f"has {size} bytes; at most {MOST_METADATA} are kept")
    return metadata


class BucketFacts(BaseModel):
    """What of a bucket's resource is read; the rest is ignored."""

    model_config = ConfigDict(extra="ignore")
    name: Text
    location: Line | None = None
    storageClass: Line | None = None  # noqa: N815
    labels: Labels | None = None
    versioning: dict[str, Any] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """How the bucket is to be. Invalid: it is to be as none is here."""
        if (self.versioning or {}).get("enabled"):
            raise Invalid("Object versioning is not emulated: leave `versioning` out.")
        return {
            "location": (self.location or LOCATION).upper(),
            "storage_class": self.storageClass or STORAGE_CLASS,
            "labels": self.labels or {},
        }


class ObjectFacts(BaseModel):
    """What of an object's resource is read; the rest is ignored."""

    model_config = ConfigDict(extra="ignore")
    name: Text | None = None
    contentType: Line | None = None  # noqa: N815
    cacheControl: Line | None = None  # noqa: N815
    contentDisposition: Line | None = None  # noqa: N815
    contentEncoding: Line | None = None  # noqa: N815
    contentLanguage: Line | None = None  # noqa: N815
    storageClass: Line | None = None  # noqa: N815
    customTime: Line | None = None  # noqa: N815
    metadata: Annotated[dict[Text, Text | None] | None, AfterValidator(_small)] = None
    crc32c: Line | None = None
    md5Hash: Line | None = None  # noqa: N815

    @property
    def attributes(self) -> dict[str, Any]:
        """What is told about the object."""
        return {name: value for name, value in self.changes.items() if value is not None}

    @property
    def changes(self) -> dict[str, Any]:
        """The same, and None for what is said to be nothing."""
        told = self.model_dump(include=self.model_fields_set)
        return {name: told[name] for name in _ATTRIBUTES if name in told}

    @property
    def checksums(self) -> dict[str, str]:
        """What the writer expects, by the members' names."""
        return {name: value for name in _CHECKSUMS if (value := getattr(self, name)) is not None}


class Part(BaseModel):
    """One of the objects that another is composed of."""

    model_config = ConfigDict(extra="ignore")
    name: Text
    generation: int | None = Field(default=None, ge=0, lt=2**63)
    objectPreconditions: dict[Line, Annotated[int, Field(ge=0, lt=2**63)]] | None = None  # noqa: N815


class Composition(BaseModel):
    """What an object is composed of, and what is told about it."""

    model_config = ConfigDict(extra="ignore")
    sourceObjects: list[Part] = Field(default=[], max_length=100)  # noqa: N815
    destination: ObjectFacts = ObjectFacts()


def project_of(named: str | None) -> str:
    """The project's number; empty where none is named, as by the SDK that is told of an emulator and no project."""
    return "" if named in (None, "", "<none>") else number_of(str(named))


def bucket_shown(bucket: Bucket, base: str) -> dict[str, Any]:
    """The bucket's resource; `base` is the address of this service, with the world's prefix."""
    created = to_iso(bucket.created_at)
    return {
        "kind": "storage#bucket",
        "id": bucket.name,
        "selfLink": f"{base}storage/v1/b/{bucket.name}",
        "name": bucket.name,
        "projectNumber": bucket.project or "0",
        "metageneration": "1",
        **_place(bucket),
        "storageClass": bucket.storage_class,
        "etag": "CAE=",
        "timeCreated": created,
        "updated": created,
        "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}},
        **({"labels": bucket.labels} if bucket.labels else {}),
    }


def layout_shown(bucket: Bucket) -> dict[str, Any]:
    """How the bucket keeps its objects: flat."""
    return {"kind": "storage#storageLayout", "bucket": bucket.name, **_place(bucket)} | {
        "hierarchicalNamespace": {"enabled": False}
    }


def _place(bucket: Bucket) -> dict[str, str]:
    kind = "multi-region" if bucket.location in ("US", "EU", "ASIA") else "region"
    return {"location": bucket.location, "locationType": kind}


def object_shown(stored: StoredObject, base: str) -> dict[str, Any]:
    """The object's resource."""
    place = f"storage/v1/b/{stored.bucket}/o/{quote(stored.name, safe='')}"
    created = to_iso(stored.created_at)
    shown = {
        "kind": "storage#object",
        "id": f"{stored.bucket}/{stored.name}/{stored.generation}",
        "selfLink": f"{base}{place}",
        "mediaLink": f"{base}download/{place}?generation={stored.generation}&alt=media",
        "name": stored.name,
        "bucket": stored.bucket,
        "generation": str(stored.generation),
        "metageneration": str(stored.metageneration),
        "size": str(stored.size),
        "md5Hash": stored.md5,
        "crc32c": stored.crc32c,
        "componentCount": stored.components,
        "etag": etag_of(stored),
        "timeCreated": created,
        "updated": to_iso(stored.updated_at),
        "timeStorageClassUpdated": created,
        "timeFinalized": created,
        **stored.attributes,
    }
    return {name: value for name, value in shown.items() if value is not None}


def etag_of(stored: StoredObject) -> str:
    """Another one for each generation and metageneration."""
    return base64.b64encode(f"{stored.generation}/{stored.metageneration}".encode()).decode()


def token_of(name: str) -> str:
    """The token of the page behind this name."""
    return base64.urlsafe_b64encode(name.encode()).decode()


def name_of(token: str) -> str:
    """The name that a page's token holds. Invalid: no list gave it."""
    try:
        name = base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        name = "\0"
    if "\0" in name:
        raise Invalid("pageToken is none that a list gave. Send back what it gave, or leave it out.")
    return name
