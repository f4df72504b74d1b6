"""Page tokens: opaque, bound to the question that they continue, and refused when they were not made by us (HP-W7)."""

import base64
import binascii
from collections.abc import Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

import orjson

_SEAL_BYTES = 12


class Tokens:
    """The tokens of one question; `about` is all that makes it another one."""

    def __init__(self, about: Sequence[Any]) -> None:
        self._key = blake2b(orjson.dumps(about, option=orjson.OPT_SORT_KEYS), digest_size=32).digest()

    def token(self, position: Sequence[Any]) -> str:
        """The token of the page that begins behind `position`."""
        body = orjson.dumps(list(position))
        return base64.urlsafe_b64encode(self._seal(body) + body).decode()

    def position(self, token: str) -> list[Any] | None:
        """What `token` was made of; None when it is none of this question's."""
        try:
            raw = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        seal, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
        as_written = base64.urlsafe_b64encode(raw).decode() == token  # base64 has several spellings; ours is one
        if not as_written or not compare_digest(seal, self._seal(body)):
            return None
        position: list[Any] = orjson.loads(body)
        return position

    def _seal(self, body: bytes) -> bytes:
        return blake2b(body, key=self._key, digest_size=_SEAL_BYTES).digest()
