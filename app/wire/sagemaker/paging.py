"""Page tokens: opaque, bound to the caller and the question, and refused when they were not made by us (HP-W7)."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, TypeVar

import orjson

from app.core.errors import Invalid
from app.core.scope import Scope

T = TypeVar("T")
DEFAULT_PAGE = 100
_SEAL_BYTES = 12
_NOT_THE_QUESTION = ("NextToken", "MaxResults")


class Pager:
    """The pages of one question: which position a token names, and the token of the next page."""

    def __init__(self, scope: Scope, operation: str, req: Mapping[str, Any]) -> None:
        question = {key: value for key, value in req.items() if key not in _NOT_THE_QUESTION}
        about = [scope.world, scope.account, scope.region, operation, question]
        self._key = blake2b(orjson.dumps(about, option=orjson.OPT_SORT_KEYS), digest_size=32).digest()
        self.size: int = req.get("MaxResults", DEFAULT_PAGE)
        self.position = self._open(req["NextToken"]) if req.get("NextToken") else None

    def cut(self, found: Sequence[T], position: Callable[[T], Sequence[Any]]) -> tuple[Sequence[T], str | None]:
        """The page, and the token of the next one if `found`, which was asked for one more, has any for it."""
        shown = found[: self.size]
        return shown, self.token(position(shown[-1])) if len(found) > self.size else None

    def token(self, position: Sequence[Any]) -> str:
        """The token of the page that begins behind `position`."""
        body = orjson.dumps(list(position))
        return base64.urlsafe_b64encode(self._seal(body) + body).decode()

    def _seal(self, body: bytes) -> bytes:
        return blake2b(body, key=self._key, digest_size=_SEAL_BYTES).digest()

    def _open(self, token: str) -> list[Any]:
        try:
            raw = base64.b64decode(token.encode(), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        seal, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
        as_written = base64.urlsafe_b64encode(raw).decode() == token  # base64 has several spellings; ours is one
        if not as_written or not compare_digest(seal, self._seal(body)):
            raise Invalid("Invalid NextToken. Pass the NextToken of the answer before, with the same parameters.")
        position: list[Any] = orjson.loads(body)
        return position
