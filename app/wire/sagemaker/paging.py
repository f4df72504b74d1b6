"""Pages of AWS's lists: `MaxResults` and `NextToken` (HP-W7)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from app.core.errors import Invalid
from app.core.scope import Scope
from app.wire.page_tokens import Tokens

T = TypeVar("T")
DEFAULT_PAGE = 100
_NOT_THE_QUESTION = ("NextToken", "MaxResults")


class Pager:
    """The pages of one question: which position a token names, and the token of the next page."""

    def __init__(self, scope: Scope, operation: str, req: Mapping[str, Any]) -> None:
        question = {key: value for key, value in req.items() if key not in _NOT_THE_QUESTION}
        self._tokens = Tokens([scope.world, scope.account, scope.region, operation, question])
        self.size: int = req.get("MaxResults", DEFAULT_PAGE)
        self.position = self._open(req["NextToken"]) if req.get("NextToken") else None

    def cut(self, found: Sequence[T], position: Callable[[T], Sequence[Any]]) -> tuple[Sequence[T], str | None]:
        """The page, and the token of the next one if `found`, which was asked for one more, has any for it."""
        shown = found[: self.size]
        return shown, self.token(position(shown[-1])) if len(found) > self.size else None

    def token(self, position: Sequence[Any]) -> str:
        """The token of the page that begins behind `position`."""
        return self._tokens.token(position)

    def _open(self, token: str) -> list[Any]:
        position = self._tokens.position(token)
        if position is None:
            raise Invalid("Invalid NextToken. Pass the NextToken of the answer before, with the same parameters.")
        return position
