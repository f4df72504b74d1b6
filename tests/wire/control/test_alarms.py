"""CloudWatch alarms through the control API (HP-30)."""

from tests.kit import TestWorld


def test_since_when(world: TestWorld) -> None:
    """The same state again changes nothing; accounts have alarms of their own."""
    body = {"name": "loss", "state": "ALARM"}
    assert world.control("POST", "alarms", json=body)["since"] == "2026-01-01T00:00:00.000Z"
    world.advance(minutes=1)
    assert world.control("POST", "alarms", json=body)["since"] == "2026-01-01T00:00:00.000Z"
    assert world.control("POST", "alarms", json=body | {"state": "OK"})["since"] == "2026-01-01T00:01:00.000Z"
    assert [one["state"] for one in world.control("GET", "alarms")["alarms"]] == ["OK"]
    assert world.control("GET", "alarms", params={"account": "444455556666"})["alarms"] == []


def test_refusals(world: TestWorld) -> None:
    """Each says why."""
    for body, told in (
        ({"name": "loss", "state": "INSUFFICIENT_DATA"}, "state: "),
        ({"name": "", "state": "OK"}, "name: "),
        ({"name": "a\x00", "state": "OK"}, "name: "),
    ):
        answer = world.http.post(f"{world.endpoint}/_windtunnel/alarms", json=body)
        assert answer.status_code in (400, 422)
        assert told in answer.json()["error"]["message"]
