"""Every route of the console behind the gate, walked from its own table (RL-24, RL-25, RL-27)."""

import re
from collections.abc import Iterator
from itertools import cycle

import httpx
import pytest
from fastapi.routing import APIRoute

from app.console import assets, changes, entrance
from app.console.application import WORLD
from app.console.entrance import LOGIN
from app.console.pages import PAGES
from app.core.access import COOKIE
from app.settings import Settings
from tests.kit import PLAIN, Running, serving

TOKEN = "a-token-that-nobody-guesses"
FILE = "/console/-/static/-/console.css"


def routes() -> list[tuple[str, str]]:
    """Each method and path, places filled in."""
    inside = [(WORLD, each) for each in (changes.router, *(page.router for page in PAGES))]
    found = [("GET", "/console")]
    for prefix, router in (("", assets.router), ("", entrance.router), *inside):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            path = (prefix + route.path).replace("{world}", "main")
            path = path.replace("{asked}", "-").replace("{name:path}", "console.css")
            found += [(method, re.sub(r"{(\w+)(:\w+)?}", "1", path)) for method in sorted(route.methods)]
    return found


ROUTES = routes()
FORMS = [path for method, path in ROUTES if method == "POST"]
READS = [path for method, path in ROUTES if method == "GET" and not path.endswith("/changes")]


@pytest.fixture(scope="module")
def tab() -> Iterator[httpx.Client]:
    """It keeps no cookie between tests: none is set but where one logs in."""
    with httpx.Client(verify=PLAIN, timeout=60) as opened:
        yield opened


@pytest.fixture(scope="module")
def guarded(dsn: str) -> Iterator[Running]:
    with serving(Settings(database_url=dsn, frozen=True, control_token=TOKEN)) as running:
        yield running


def test_the_table_was_walked() -> None:
    assert len(FORMS) > 3
    assert len(READS) > 3


@pytest.mark.parametrize("path", READS)
def test_every_page_lets_nothing_foreign_in(service: Running, path: str, tab: httpx.Client) -> None:
    """RL-27: the headers are on each answer, whatever its status, and no page has a script or style of its own."""
    answer = tab.get(service.base + path)
    assert answer.status_code in (200, 303, 400, 404), answer.text
    assert_guarded(answer)
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", answer.text)
        assert not re.search(r"""(?:src|href|action)=["']?(?:https?:)?//""", answer.text)


def assert_guarded(answer: httpx.Response) -> None:
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"


def test_refusals_are_pages_too(service: Running, guarded: Running, tab: httpx.Client) -> None:
    """RL-27: 100 % of HTML, also what never reaches a page."""
    for answer in (
        tab.get(f"{service.base}/console/main", headers={"host": "evil.com"}),
        tab.get(f"{service.base}/console/no-such-world"),
        tab.get(f"{service.base}/console/main/no-such-page"),
        tab.get(f"{service.base}/console/main?cluster=%00"),
        tab.get(f"{service.base}/console/main/%00"),
        tab.put(f"{service.base}/console/main", headers={"origin": service.base}),
        tab.get(f"{guarded.base}/console/main"),
    ):
        assert answer.status_code >= 400
        assert answer.headers["content-type"].startswith("text/html")
        assert_guarded(answer)


@pytest.mark.parametrize("path", READS + FORMS)
def test_no_page_for_another_name(service: Running, path: str, tab: httpx.Client) -> None:
    """RL-24: a name that its owner points at 127.0.0.1 gets nothing."""
    for host in ("evil.com", "localhost.evil.com", "evil.com:4600", ""):
        assert tab.get(service.base + path, headers={"host": host}).status_code in (400, 403)


@pytest.mark.parametrize("path", FORMS)
def test_no_form_from_elsewhere(service: Running, path: str, tab: httpx.Client) -> None:
    """RL-25: another site's page, a page that hides where it is from, and what does not say."""
    senders = (
        {"origin": "http://evil.com"},
        {"origin": "null"},
        {"origin": service.base, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {},
    )
    kinds = ("application/x-www-form-urlencoded", "text/plain", "application/json", "multipart/form-data; boundary=x")
    for kind, sender in zip(cycle(kinds), senders, strict=False):
        answer = tab.post(service.base + path, headers=sender | {"content-type": kind}, content=b"seconds=60")
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_link_from_elsewhere_may_be_followed(service: Running, tab: httpx.Client) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert tab.get(f"{service.base}/console/main", headers=headers).status_code == 200
    framed = headers | {"sec-fetch-dest": "iframe"}
    assert tab.get(f"{service.base}/console/main", headers=framed).status_code == 403


@pytest.mark.parametrize("path", READS + FORMS)
def test_nothing_without_the_token(guarded: Running, path: str, tab: httpx.Client) -> None:
    """RL-23, RL-25: but the login, and what it looks good with."""
    method = "POST" if path in FORMS else "GET"
    headers = {"origin": guarded.base}
    bare = tab.request(method, guarded.base + path, headers=headers)
    wrong = tab.request(method, guarded.base + path, headers=headers | {"cookie": f"{COOKIE}=guess"})
    if path.startswith("/console/-/"):
        assert bare.status_code in (200, 403)
    else:
        assert (bare.status_code, wrong.status_code) == (401, 401)
        assert LOGIN in bare.text
    assert TOKEN not in bare.text + wrong.text


def test_the_token_is_shown_once(guarded: Running) -> None:
    """RL-25: what the browser keeps is no token, and no script and no other site can use it."""
    with httpx.Client(base_url=guarded.base, headers={"origin": guarded.base}, verify=PLAIN) as browser:
        wrong = browser.post(LOGIN, data={"token": "guess", "to": "/console/main"})
        assert (wrong.status_code, wrong.headers.get("set-cookie")) == (403, None)
        right = browser.post(LOGIN, data={"token": TOKEN, "to": "/console/main/bar"})
        assert (right.status_code, right.headers["location"]) == (303, "/console/main/bar")
        cookie = right.headers["set-cookie"]
        assert {"HttpOnly", "Path=/console", "SameSite=strict"} <= set(cookie.split("; "))
        assert TOKEN not in cookie
        assert browser.get("/console/main").status_code == 200
        sent = cookie.partition(";")[0]
        control = browser.get("/_windtunnel/clock", headers={"cookie": sent})
        assert control.status_code == 401, "the cookie opens the console alone"


@pytest.mark.parametrize("to", ["//evil.com", "https://evil.com", "/\\evil.com", "/console/../x", "/_windtunnel/clock"])
def test_the_login_leads_nowhere_else(guarded: Running, to: str, tab: httpx.Client) -> None:
    data = {"token": TOKEN, "to": to}
    answer = tab.post(guarded.base + LOGIN, data=data, headers={"origin": guarded.base})
    tab.cookies.clear()
    assert answer.headers["location"] == "/console"
