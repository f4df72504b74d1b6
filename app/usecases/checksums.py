"""The checksums by which Cloud Storage and its clients find out that bytes were damaged on their way."""

import base64
import hashlib
from collections.abc import Mapping

import google_crc32c

from app.core.errors import Invalid

_TOLD = {"crc32c": "CRC32C", "md5Hash": "MD5 hash"}


class Checksums:
    """CRC-32C, MD5 and size of the pieces so far."""

    def __init__(self) -> None:
        self.size = 0
        self._crc32c = 0
        self._md5 = hashlib.md5(usedforsecurity=False)

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        self._crc32c = google_crc32c.extend(self._crc32c, piece)
        self._md5.update(piece)

    @property
    def crc32c(self) -> str:
        """Base64 of the big-endian number, as the service tells it."""
        return base64.b64encode(self._crc32c.to_bytes(4)).decode()

    @property
    def md5(self) -> str:
        """Base64 of the hash."""
        return base64.b64encode(self._md5.digest()).decode()

    def check(self, expected: Mapping[str, str]) -> None:
        """Invalid unless the bytes are those that their writer summed up; `expected` is by the members' names."""
        for kind, found in (("crc32c", self.crc32c), ("md5Hash", self.md5)):
            given = expected.get(kind, found)
            if given != found:
                raise Invalid(
                    f'Provided {_TOLD[kind]} "{given[:80]}" doesn\'t match calculated {_TOLD[kind]} "{found}".'
                )
