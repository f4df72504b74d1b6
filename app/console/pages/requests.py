"""The last requests in the world that this process has answered, and one of them (CT-7)."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import PageOf
from app.core.errors import NotFound
from app.request_log import SIZE, RequestRecord

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Filter:
    """What is asked for; empty: all. `status` is `ok` or `failed`."""

    api: str = ""
    operation: str = ""
    status: str = ""

    def takes(self, record: RequestRecord) -> bool:
        return (
            self.api in ("", record.api)
            and self.operation.lower() in record.operation.lower()
            and self.status in ("", "failed" if record.code else "ok")
        )


@dataclass(frozen=True, slots=True)
class View:
    """The records that the filter takes, the newest first, of `known` ones; and the APIs that were asked."""

    records: list[RequestRecord]
    known: int
    apis: list[str]
    filter: Filter
    size: int = SIZE


def view(records: Sequence[RequestRecord], wanted: Filter) -> View:
    return View(
        [one for one in records if wanted.takes(one)], len(records), sorted({one.api for one in records}), wanted
    )


@router.get("/requests")
async def show(page: PageOf) -> Response:
    """The newest requests; what the console itself asks for is left out unless it is asked for."""
    given = page.given
    wanted = Filter(given.get("api", ""), given.get("operation", "").strip(), given.get("status", ""))
    found = [one for one in _of_world(page) if wanted.api == "console" or one.api != "console"]
    return await page.answer("requests.html", view(found, wanted), title="Requests")


@router.get("/requests/{request_id}")
async def show_one(page: PageOf, request_id: str) -> Response:
    """One request. Neither its body nor its keys are kept."""
    found = next((one for one in _of_world(page) if one.request_id == request_id), None)
    if found is None:
        raise NotFound(f"This process does not know the request, or no longer: it keeps the last {SIZE}.")
    return await page.answer("request.html", found, title="Request")


def _of_world(page: PageOf) -> list[RequestRecord]:
    return [one for one in page.service.request_log.newest() if one.scope.world == page.world]
