"""Google's APIs as one application: the routers of Cloud Storage and Cloud Logging, and Vertex AI behind them."""

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.core.errors import DomainError
from app.service import Service
from app.wire.dialects import SURFACE, Surface
from app.wire.front import Account, unknown_path
from app.wire.google import logging, storage, storage_downloads, storage_errors, storage_mishaps, storage_uploads
from app.wire.google.errors import Code, GoogleError, Violation, bad_request, code_of_http, envelope, of_domain
from app.wire.safety import App, AsgiScope, Receive, Send
from app.wire.vertex import application as vertex

ROUTERS: tuple[APIRouter, ...] = (logging.router,)
"""What is served beside Vertex AI and Cloud Storage. Each answers paths of its own."""
STORAGE = (storage.router, storage_uploads.router, storage_downloads.router)


class Apis:
    """ASGI middleware: Vertex AI to `vertex`, past the framework; the rest to `app`."""

    def __init__(self, app: App, *, vertex: App) -> None:
        self._app, self._vertex = app, vertex

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a request of whichever API it is for."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        await (self._vertex if path.startswith(vertex.PREFIXES) else self._app)(scope, receive, send)


def application(service: Service) -> App:
    """Every Google API on one port; all that is refused is told in Google's envelope."""
    return Apis(framework(service), vertex=vertex.application(service))


def framework(service: Service) -> FastAPI:
    """The routers as an application."""
    app = FastAPI(openapi_url=None)
    app.state.service = service
    for kind in (DomainError, GoogleError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refused)
    for router in ROUTERS:
        app.include_router(router)
    for router in STORAGE:
        app.include_router(router, dependencies=[Depends(storage_mishaps.befall)])
    app.add_middleware(storage_mishaps.Suffering)
    app.router.redirect_slashes = False
    app.router.default = unknown_path
    app.add_middleware(Account, request_log=service.request_log)
    return app


def refused(request: Request, error: Exception) -> Response:
    """The answer that tells `error`."""
    if request.scope[SURFACE] is Surface.STORAGE:
        return storage_errors.refused(request.method, error)
    told = _told(request, error)
    return Response(envelope(told), told.http, media_type="application/json; charset=UTF-8")


def _told(request: Request, error: Exception) -> GoogleError:
    if isinstance(error, GoogleError):
        return error
    if isinstance(error, DomainError):
        return of_domain(error)
    if isinstance(error, RequestValidationError):
        broken = [Violation(".".join(map(str, each["loc"][1:])), each["msg"]) for each in error.errors()]
        text = "\n".join(f"Invalid value at '{field}': {why}" for field, why in broken)
        return GoogleError(Code.INVALID_ARGUMENT, text, [bad_request(broken)])
    assert isinstance(error, HTTPException)
    text = str(error.detail)
    if error.status_code == 405:
        text = f"This path does not take {request.method}."
    return GoogleError(code_of_http(error.status_code), text, http=error.status_code)
