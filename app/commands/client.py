"""A thin client of the control API: one function, the world in the path, refusals as one sentence."""

import json
from collections.abc import Container, Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from app.core.scope import DEFAULT_WORLD
from app.host.exports import world_endpoint
from app.settings import Settings, load

TIMEOUT_SECONDS = 30.0
BEAT_SECONDS = 60.0  # a stream that says nothing for so long is broken: it has a beat every 15 s


class Refused(Exception):
    """The API said no; its message, and the HTTP status. Exit code 1."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Unreachable(Exception):
    """Nobody answers at the endpoint. Exit code 3."""


class DatabaseAway(Exception):
    """The service answers, and its database does not. Exit code 5."""


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

    Raises Refused, Unreachable, DatabaseAway, SettingsError.
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
    also: Container[int] = (),
) -> Any:
    """The answer of `/_windtunnel/PATH` at `base`, as JSON or as text, with the settings' control token.

    Statuses in `also` are answers, too. Raises as `call` does.
    """
    import httpx

    url = f"{base}/_windtunnel/{path}"
    headers = _authorization(settings) | ({"Content-Type": "application/json"} if file else {})
    try:
        # The environment's proxies are not for a service on this machine.
        with httpx.Client(trust_env=False, verify=base.startswith("https:"), timeout=timeout) as client:
            answer = client.request(method, url, json=content, content=file, params=params, headers=headers)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise _unreachable(base, error) from None
    if text and answer.is_success:
        return answer.text
    return _answer(answer, url, also)


def stream(path: str, *, world: str | None, endpoint: str | None, params: dict[str, Any]) -> Iterator[Any]:
    """The JSON of each server-sent event of `/_windtunnel/PATH`, until the service ends it. Raises as `call` does."""
    import httpx

    settings, base = told(endpoint)
    url = f"{world_endpoint(base, world)}/_windtunnel/{path}"
    try:
        with (
            httpx.Client(trust_env=False, timeout=BEAT_SECONDS) as client,
            client.stream("GET", url, params=_given(params), headers=_authorization(settings)) as answer,
        ):
            if not answer.is_success:
                answer.read()
                _answer(answer, url, ())
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise _unreachable(base, error) from None


def _authorization(settings: Settings) -> dict[str, str]:
    return {"Authorization": f"Bearer {settings.control_token}"} if settings.control_token else {}


def _unreachable(base: str, error: Exception) -> Unreachable:
    return Unreachable(
        f"no answer from {base} ({error}): start the service with `windtunnel up`, "
        "or name it with --endpoint or WINDTUNNEL_ENDPOINT"
    )


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe="")


def _given(values: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else {name: value for name, value in values.items() if value is not None}


def _answer(answer: Any, url: str, also: Container[int]) -> Any:
    status = answer.status_code
    foreign = (
        f"{url} answered {status} as no Windtunnel does: is it one? Name the service with --endpoint or "
        "WINDTUNNEL_ENDPOINT"
    )
    try:
        content: Any = answer.json() if answer.content else None
    except ValueError:
        raise Refused(foreign, 0) from None
    if answer.is_success or status in also:
        if not isinstance(content, dict):
            raise Refused(foreign, 0)
        return content
    try:
        message = str(content["error"]["message"])
    except (KeyError, TypeError):
        raise Refused(foreign, 0) from None
    if status == 503:
        raise DatabaseAway(f"{message} `windtunnel doctor` looks for the cause.")
    if status in (401, 403):
        message += " (the token comes from WINDTUNNEL_CONTROL_TOKEN)"
    raise Refused(message, status)
