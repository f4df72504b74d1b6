"""Cloud Logging, as far as jobs' logs need it: ListLogEntries (VX-17)."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app import clock
from app.core.errors import DomainError
from app.core.log_lines import SEVERITIES, Place
from app.core.mishaps import Mishap
from app.core.projects import number_of
from app.core.scope import Scope
from app.core.times import from_millis, to_millis
from app.service import Service
from app.usecases import logs
from app.usecases.logs import Question
from app.wire.exchange import DEADLINE_S
from app.wire.google.errors import Code, GoogleError, Violation, bad_request, of_domain
from app.wire.google.mishaps import error_of
from app.wire.google.proto import Message, Repeated
from app.wire.google.reading import read
from app.wire.google.scalars import Int32, String, Text
from app.wire.page_tokens import Tokens

API, OPERATION = "logging", "ListLogEntries"
"""How fault rules and the log of requests call it."""
DEFAULT_PAGE, LARGEST_PAGE, MOST_RESOURCES = 50, 1000, 100
"""As the protocol's documentation has them."""
_RESOURCE = re.compile(r"projects/([^/\x00]{1,128})(?:/locations/[^/]+/buckets/[^/]+(?:/views/[^/]+)?)?")


class ListLogEntriesRequest(Message):
    """google.logging.v2.ListLogEntriesRequest"""

    project_ids: Repeated[Text] = None
    resource_names: Repeated[Text] = None
    filter: String = None
    order_by: String = None
    page_size: Int32 = None
    page_token: String = None


@dataclass(slots=True)
class LogCall:
    """One call of ListLogEntries in a world, over REST or gRPC; what befalls its answer is in `mishap`."""

    service: Service
    world: str
    mishap: Mishap | None = None

    async def answer(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request in JSON, canonical. GoogleError says no."""
        request = read(ListLogEntriesRequest, value, package="google.logging.v2", version="v2")
        projects = _projects(request)
        scope = Scope(self.world, next(iter(projects)), "")
        self.mishap = await self.service.mishaps.befall(scope, API, OPERATION, "")
        if self.mishap is not None and self.mishap.instead is not None:
            raise error_of(self.mishap.instead, scope)
        descending = _is_descending(request.order_by)
        tokens = Tokens([self.world, sorted(projects), request.filter, descending])
        asked = Question(
            projects=projects,
            filter=request.filter or "",
            wall=clock.wall_now(),
            descending=descending,
            limit=_size(request.page_size),
            after=_opened(tokens, request.page_token),
        )
        try:
            async with asyncio.timeout(DEADLINE_S):
                page = await self.service.db.run(logs.entries, self.world, asked)
        except DomainError as error:
            raise of_domain(error) from error
        told: dict[str, Any] = {"entries": page.entries} if page.entries else {}
        if page.last is not None:
            told["nextPageToken"] = tokens.token([to_millis(page.last.at), *page.last[1:]])
        return told


def numbered(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with severities by number."""
    entries = [{**each, "severity": SEVERITIES[each["severity"]]} for each in answer.get("entries", ())]
    return {**answer, "entries": entries} if entries else dict(answer)


def _projects(request: ListLogEntriesRequest) -> dict[str, str]:
    """The projects by number, each called as the request first calls it."""
    names = [*(request.resource_names or ()), *(f"projects/{each}" for each in request.project_ids or ())]
    if not names:
        raise _wrong("resource_names", "Name at least one project, as projects/PROJECT.")
    if len(names) > MOST_RESOURCES:
        raise _wrong("resource_names", f"{len(names)} resources are named. Name at most {MOST_RESOURCES}.")
    projects: dict[str, str] = {}
    for name in names:
        found = _RESOURCE.fullmatch(name)
        if found is None:
            raise _wrong("resource_names", f"'{name[:120]}' is no project: only the logs of projects/PROJECT are here.")
        projects.setdefault(number_of(found[1]), found[1])
    return projects


def _is_descending(order: str | None) -> bool:
    words = (order or "").split() or ["timestamp"]
    if words not in (["timestamp"], ["timestamp", "asc"], ["timestamp", "desc"]):
        raise _wrong("order_by", f"'{(order or '')[:80]}' is no order. Use 'timestamp asc' or 'timestamp desc'.")
    return words[1:] == ["desc"]


def _size(asked: int | None) -> int:
    if asked is not None and not 0 <= asked <= LARGEST_PAGE:
        raise _wrong("page_size", f"page_size is {asked}. Give a number from 1 to {LARGEST_PAGE}, or leave it out.")
    return asked or DEFAULT_PAGE


def _opened(tokens: Tokens, token: str | None) -> Place | None:
    if not token:
        return None
    position = tokens.position(token)
    if position is None:
        told = "The page token is not one of this list. Pass the nextPageToken of the answer before."
        raise _wrong("page_token", told)
    at, job_id, seq = position
    return Place(from_millis(at), job_id, seq)


def _wrong(field: str, told: str) -> GoogleError:
    return GoogleError(Code.INVALID_ARGUMENT, told, [bad_request([Violation(field, told)])])
