"""The console, composed: its pages, its files, and the answers for what cannot be shown."""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from app.console import assets, changes, entrance, rendering
from app.console.deeds import Deed, Deeds
from app.console.gate import Gate
from app.console.journeys import Journeys
from app.console.page import page_of
from app.console.pages import PAGES
from app.console.questions import Questions
from app.console.simulations import Simulations
from app.core.errors import DomainError, NotFound
from app.core.scope import DEFAULT_WORLD
from app.service import Service
from app.usecases.fault_aims import Apis

_STATUSES: dict[type[DomainError], int] = {NotFound: 404}
WORLD = "/console/{world}"


def application(service: Service, apis: Apis) -> FastAPI:
    """Every page of the console. None is part of an API, so no document lists them."""
    app = FastAPI(openapi_url=None)
    app.state.service = service
    app.state.deeds = Deeds()
    app.state.journeys = Journeys(service, app.state.deeds)
    app.state.watches = changes.Watches(service)
    app.state.questions = Questions(service)
    app.state.simulations = Simulations()
    app.state.apis = apis
    app.include_router(assets.router)
    app.include_router(entrance.router)
    app.add_api_route("/console", _enter, include_in_schema=False)
    app.add_api_route("/console/", _enter, include_in_schema=False)
    for router in (changes.router, *(page.router for page in PAGES)):
        app.include_router(router, prefix=WORLD, include_in_schema=False)
    app.add_exception_handler(DomainError, _domain)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.router.redirect_slashes = False
    app.add_middleware(Gate, request_log=service.request_log)
    return app


async def _enter(request: Request) -> Response:
    """The world that the path's prefix names, else the default one."""
    return RedirectResponse(f"/console/{request.scope.get('windtunnel.world', DEFAULT_WORLD)}", 303)


async def _domain(request: Request, error: Exception) -> Response:
    assert isinstance(error, DomainError)
    if request.method == "POST" and "world" in request.path_params:
        deed = Deed("Nothing was changed", "", "", error.message, failed=True)
        return page_of(request).back(deed)
    return await _error(request, _STATUSES.get(type(error), 400), error.message)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    told = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()[:5])
    return await _error(request, 400, f"The address cannot be read: {told}.")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _error(request, 404, "There is no such page. The list on the left names those that there are.")
    if error.status_code == 405:
        return await _error(request, 405, f"This address does not take {request.method}.", error.headers)
    return await _error(request, error.status_code, str(error.detail), error.headers)


async def _error(request: Request, status: int, text: str, headers: Any = None) -> Response:
    """The error as a page of its world, or, if that is not there, as a page of its own."""
    title = HTTPStatus(status).phrase
    page = page_of(request)
    view = {"status": status, "text": text}
    try:
        if "world" not in request.path_params:
            raise NotFound(text)
        answer = await page.answer("error.html", view, title=title, status=status)
    except NotFound:
        answer = HTMLResponse(rendering.whole("bare.html", title=title, text=text, request_id=""), status)
    answer.headers.update(headers or {})
    return answer
