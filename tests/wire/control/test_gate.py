"""Every route of the control API behind the gate, walked from its own document (RL-23, RL-24, RL-25, CT-14)."""

import re
from collections.abc import Iterator

import httpx
import pytest

from app.service import compose
from app.settings import Settings
from app.wire.control.application import application
from app.wire.control.document import document
from tests.kit import PLAIN, Running, serving

TOKEN = "a-token-that-nobody-guesses"
NAMES = {"rule_id": "f-1", "webhook_id": "wh-1", "job": "1", "node": "n-1"}
ROUTES = [
    (method.upper(), re.sub(r"{(\w+)}", lambda found: NAMES.get(found[1], "main"), path))
    for path, methods in document(application(compose(Settings(), "gate")).routes)["paths"].items()
    for method in methods
]
WRITES = [route for route in ROUTES if route[0] != "GET"]


@pytest.fixture(scope="module")
def guarded(dsn: str) -> Iterator[Running]:
    with serving(Settings(database_url=dsn, frozen=True, control_token=TOKEN)) as running:
        yield running


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_without_the_token(guarded: Running, method: str, path: str) -> None:
    """RL-23: 100 % of the routes give 401 without it and 403 with another, and never repeat it."""
    url = guarded.base + path
    bare = httpx.request(method, url, verify=PLAIN)
    wrong = httpx.request(method, url, headers={"authorization": "Bearer guess"}, verify=PLAIN)
    assert (bare.status_code, wrong.status_code) == (401, 403)
    assert bare.json()["error"]["code"] == "TokenRequired"
    assert TOKEN not in bare.text + wrong.text


def test_the_token_opens_what_it_should(guarded: Running) -> None:
    """RL-23; RL-28: and it is in nothing that the service tells."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    for method, path in ROUTES:
        if method == "GET":
            with httpx.stream("GET", guarded.base + path, headers=headers) as answer:
                assert answer.status_code in (200, 404, 503), "404: no cluster has that name"
                begin = next(answer.iter_text())  # of events there is no end
            assert TOKEN not in begin


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_route_for_another_name(service: Running, method: str, path: str) -> None:
    """RL-24: a name that its owner points at 127.0.0.1 gets nothing."""
    for host in ("evil.com", "localhost.evil.com", "evil.com:4600", ""):
        assert httpx.request(method, service.base + path, headers={"host": host}, verify=PLAIN).status_code in (
            400,
            403,
        )


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_no_change_from_a_page_of_another_site(service: Running, method: str, path: str) -> None:
    """RL-25: whatever the content type, and with no CORS header in any answer."""
    url = service.base + path
    for headers in (
        {"origin": "http://evil.com", "content-type": "application/json"},
        {"origin": "null", "content-type": "text/plain"},
        {"sec-fetch-site": "cross-site", "content-type": "application/json"},
    ):
        answer = httpx.request(method, url, headers=headers, content=b"{}", verify=PLAIN)
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert (
        httpx.request(method, url, headers={"content-type": "text/plain"}, content=b"{}", verify=PLAIN).status_code
        == 415
    )
