"""Webhooks: what may be added, and what is refused (CT-8, CT-14, RL-26)."""

import pytest

from tests.kit import Running, TestWorld

ELSEWHERE = (
    "http://example.com/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1.nip.io/",
    "http://[::ffff:10.0.0.1]/",
    "http://2130706433.example/",
    "http://0x7f.1.example/",
    "http://[fe80::1]/",
    "http://0.0.0.0/",
)
MALFORMED = (
    "ftp://127.0.0.1/",
    "http:///x",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:99999/",
    "http://user:pass@127.0.0.1/",
    "http://127.0.0.1/#here",
    "http://127.0.0.1/ x",
    "http://127.0.0.1/\r\nX: y",
    "http://[::1/",
    "http://127.0.0.1/" + "x" * 3000,
    "nonsense",
    "",
)


def refused(world: TestWorld, method: str, path: str, **kwargs: object) -> tuple[int, str]:
    answer = world.http.request(method, f"{world.endpoint}/_windtunnel/{path}", **kwargs)  # type: ignore[arg-type]
    return answer.status_code, answer.json()["error"]["message"]


@pytest.mark.parametrize("url", [*ELSEWHERE, *MALFORMED])
def test_targets_that_are_refused(url: str, world: TestWorld) -> None:
    """CT-14, RL-26: nothing but loopback; no name is looked up to find that out."""
    status, message = refused(world, "POST", "webhooks", json={"url": url})
    assert status == 400
    assert "WINDTUNNEL_WEBHOOK_HOSTS" in message or "URL" in message
    assert world.control("GET", "webhooks")["webhooks"] == []


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "https://localhost/x?y=1", "http://[::1]:8080", "HTTP://127.9.9.9/"]
)
def test_targets_on_this_machine(url: str, world: TestWorld) -> None:
    """CT-8: a secret is drawn, told once, and listed never."""
    made = world.control("POST", "webhooks", json={"url": url})
    assert (made["id"], len(made["secret"])) == ("wh-1", 64)
    assert made["secret"] not in str(world.control("GET", "webhooks"))
    assert "secret" not in world.control("GET", "webhooks")["webhooks"][0]


def test_what_does_not_exist(world: TestWorld) -> None:
    """CT-8: each refusal names it."""
    for name in ("wh-1", "wh-", "wh-x", "1", "wh-" + "9" * 40, "wh-٣"):
        for method, path in (("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")):
            status, message = refused(world, method, f"webhooks/{name}{path}")
            assert status == 404
            assert "no webhook" in message


def test_other_refusals(world: TestWorld) -> None:
    """CT-8: filters, secrets and counts have bounds; a test that finds nobody says so."""
    url = "http://127.0.0.1:9/"
    for facts in (
        {"detail_type": "x"},
        {"cluster": "arn:x"},
        {"secret": "short"},
        {"secret": "with blank s"},
        {"x": 1},
    ):
        assert refused(world, "POST", "webhooks", json={"url": url, **facts})[0] == 400
    for _ in range(100):
        world.control("POST", "webhooks", json={"url": url})
    status, message = refused(world, "POST", "webhooks", json={"url": url})
    assert (status, "has 100 webhooks" in message) == (409, True)
    status, message = refused(world, "POST", "webhooks/wh-1/test", json={})
    assert status == 400
    assert "did not take the test" in message


def test_no_fork_and_no_export_has_them(service: Running, world: TestWorld) -> None:
    """CT-0, RL-28: they hold a secret, and would be told twice; a number never comes again."""
    made = world.control("POST", "webhooks", json={"url": "http://127.0.0.1:9/", "secret": "planted-canary"})
    assert b"planted-canary" not in world.export()
    twin = f"{world.name}-twin"
    world.http.post(f"{world.base}/_windtunnel/worlds", json={"name": twin, "fork_of": world.name}).raise_for_status()
    assert world.http.get(f"{world.base}/w/{twin}/_windtunnel/webhooks").json() == {"webhooks": []}
    world.control("DELETE", f"webhooks/{made['id']}")
    assert world.control("POST", "webhooks", json={"url": "http://127.0.0.1:9/"})["id"] == "wh-2"
