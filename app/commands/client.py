"""A thin client of the control API: one function, the world in the path, refusals as one sentence."""

from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from app.core.scope import DEFAULT_WORLD
from app.host.exports import world_endpoint
from app.settings import Settings, load

TIMEOUT_SECONDS = 30.0


class Refused(Exception):
    """The API said no; its message, and the HTTP status. Exit code 1."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(Exception):
    """Nobody answers at the endpoint. Exit code 3."""


def told(endpoint: str | None, config: Path | None = None) -> tuple[Settings, str]:
    """The settings, and the address of the service. Raises SettingsError for an endpoint that is no address."""
    settings = load({"endpoint": endpoint}, config=config)
    return settings, settings.endpoint or settings.base_url


def call(
    method: str,
    path: str,
    *,
    world: str | None = None,
    endpoint: str | None = None,
    body: dict[str, Any] | None = None,
    nullable: dict[str, Any] | None = None,
    params: dict[str, Any] | None = None,
    timeout: float | None = TIMEOUT_SECONDS,
) -> Any:
    """The JSON answer of `/_windtunnel/PATH` in `world`.

    What is None in `body` and `params` is left out; what is None in `nullable` is sent as null.

    Raises Refused, Unreachable, SettingsError.
    """
    content = None if body is None else {**(_given(body) or {}), **(nullable or {})}
    settings, base = told(endpoint)
    return request(
        settings, world_endpoint(base, world), method, path, content=content, params=_given(params), timeout=timeout
    )


def upload(path: str, file: IO[bytes], *, endpoint: str | None, params: dict[str, Any], timeout: float) -> Any:
    """The JSON answer to a file of JSON that is sent as it is, outside any world. Raises as `call` does."""
    settings, base = told(endpoint)
    outside = world_endpoint(base, DEFAULT_WORLD)
    return request(settings, outside, "POST", path, file=file, params=params, timeout=timeout)


def request(
    settings: Settings,
    base: str,
    method: str,
    path: str,
    *,
    content: dict[str, Any] | None = None,
    file: IO[bytes] | None = None,
    params: dict[str, Any] | None = None,
    timeout: float | None = TIMEOUT_SECONDS,
    text: bool = False,
) -> Any:
    """The answer of `/_windtunnel/PATH` at `base`, as JSON or as text, with the settings' control token."""
    import httpx

    url = f"{base}/_windtunnel/{path}"
    token = settings.control_token
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"Content-Type": "application/json"} if file else {}
    try:
        # The environment's proxies are not for a service on this machine.
        with httpx.Client(trust_env=False, verify=base.startswith("https:"), timeout=timeout) as client:
            answer = client.request(method, url, json=content, content=file, params=params, headers=headers)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise Unreachable(
            f"no answer from {base} ({error}): start the service with `windtunnel up`, "
            "or name it with --endpoint or WINDTUNNEL_ENDPOINT"
        ) from None
    return answer.text if text and answer.is_success else _answer(answer, url)


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe="")


def _given(values: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else {name: value for name, value in values.items() if value is not None}


def _answer(answer: Any, url: str) -> Any:
    status = answer.status_code
    try:
        content: Any = answer.json() if answer.content else None
    except ValueError:
        raise Refused(f"{url} answered {status} without JSON: is it a windtunnel?", 0) from None
    if answer.is_success:
        return content
    try:
        message = str(content["error"]["message"])
    except (KeyError, TypeError):
        raise Refused(f"{url} answered {status}", 0) from None
    if status in (401, 403):
        message += " (the token comes from WINDTUNNEL_CONTROL_TOKEN)"
    raise Refused(message, status)
