"""A thin client of the control API: one function, the world in the path, refusals as one sentence."""

from typing import Any
from urllib.parse import quote

from app.host.exports import world_endpoint
from app.settings import Settings, load

TIMEOUT_SECONDS = 30.0


class Refused(Exception):
    """The API said no; its message. Exit code 1."""


class Unreachable(Exception):
    """Nobody answers at the endpoint. Exit code 3."""


def endpoint_of(settings: Settings, given: str | None) -> str:
    return given or settings.endpoint or settings.base_url


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

    Raises Refused, Unreachable.
    """
    import httpx

    settings = load()
    base = endpoint_of(settings, endpoint)
    url = f"{world_endpoint(base, world)}/_windtunnel/{path}"
    token = settings.control_token
    content = None if body is None else {**(_given(body) or {}), **(nullable or {})}
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        # The environment's proxies are not for a service on this machine.
        with httpx.Client(trust_env=False, verify=base.startswith("https:"), timeout=timeout) as client:
            answer = client.request(method, url, json=content, params=_given(params), headers=headers)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise Unreachable(
            f"no answer from {base} ({error}): start the service with `windtunnel up`, "
            "or name it with --endpoint or WINDTUNNEL_ENDPOINT"
        ) from None
    return _answer(answer, url)


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe="")


def _given(values: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if values is None else {name: value for name, value in values.items() if value is not None}


def _answer(answer: Any, url: str) -> Any:
    try:
        content: Any = answer.json() if answer.content else None
    except ValueError:
        raise Refused(f"{url} answered {answer.status_code} without JSON: is it a windtunnel?") from None
    if answer.is_success:
        return content
    try:
        message = str(content["error"]["message"])
    except (KeyError, TypeError):
        message = f"{url} answered {answer.status_code}"
    if answer.status_code in (401, 403):
        message += " (the token comes from WINDTUNNEL_CONTROL_TOKEN)"
    raise Refused(message)
