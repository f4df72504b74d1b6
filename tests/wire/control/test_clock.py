"""The clock through the control API (CT-1)."""

import httpx
import pytest

from tests.kit import Running, TestWorld, eks, group, slurm, workers


def test_a_new_world_stands_at_its_start(world: TestWorld) -> None:
    """CT-1: a world starts at `start`."""
    clock = world.control("GET", "clock")
    assert clock == {
        "world": world.name,
        "now": "2026-01-01T00:00:00.000Z",
        "frozen": True,
        "rate": 1.0,
        "profile": "fast",
        "started_at": "2026-01-01T00:00:00.000Z",
        "advancing": False,
        "next_due": None,
    }


def test_advance_by_to_and_next(world: TestWorld) -> None:
    """CT-1: by a duration, to an instant, to the next event; with virtual time before and after."""
    assert world.advance(hours=1)["after"] == "2026-01-01T01:00:00.000Z"
    told = world.control("POST", "clock/advance", json={"to": "2026-01-01T03:00:00+01:00"})
    assert (told["before"], told["after"]) == ("2026-01-01T01:00:00.000Z", "2026-01-01T02:00:00.000Z")
    world.sagemaker.create_cluster(**slurm(workers(1)))
    due = world.control("GET", "clock")["next_due"]
    told = world.control("POST", "clock/advance", json={"next": True})
    assert (told["after"], told["settled"]) == (due, True)
    assert told["counts"]["passes"] >= 1


def test_a_limit_stops_early_says_so_and_is_continued(world: TestWorld) -> None:
    """CT-1: `settled: false`, and it can be continued."""
    world.sagemaker.create_cluster(**slurm(workers(2)))
    told = world.control("POST", "clock/advance", json={"by": 3600, "max_events": 1})
    assert not told["settled"]
    assert "advance again" in told["reason"]
    assert world.control("POST", "clock/advance", json={"by": 3600})["settled"]


def test_freeze_resume_and_rate(service: Running) -> None:
    """CT-1."""
    world = service.world(frozen=False)
    assert not world.control("GET", "clock")["frozen"]
    assert world.control("POST", "clock", json={"frozen": True})["frozen"]
    changed = world.control("POST", "clock", json={"rate": 60})
    assert (changed["rate"], changed["frozen"]) == (60.0, True)


def test_ten_idle_years_are_one_step(world: TestWorld) -> None:
    """CT-1."""
    assert world.advance(10 * 365 * 86_400)["after"].startswith("2035-12")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "exactly one of 'by', 'to' and 'next'"),
        ({"by": 1, "next": True}, "exactly one of 'by', 'to' and 'next'"),
        ({"by": -1}, "by: too small; give at least 0 "),
        ({"by": "1"}, "by: must be a number"),
        ({"by": 1e300}, "by: too large; give at most 300,000,000,000 (virtual seconds"),
        ({"to": "2026-01-01T00:00:00"}, "offset from UTC"),
        ({"to": "tomorrow"}, "an instant such as"),
        ({"to": "2025-01-01T00:00:00Z"}, "is at 2026-01-01T00:00:00.000Z already. Advance to a later"),
        ({"to": "9500-01-01T00:00:00Z"}, "to: must be between"),
        ({"by": 2.9e11}, "The clock ends"),
        ({"by": 1, "max_events": 0}, "max_events: "),
        ({"by": 1, "speed": 2}, "speed: is not known here"),
    ],
)
def test_what_no_clock_can_do_is_refused(world: TestWorld, body: dict[str, object], told: str) -> None:
    """Each refusal names the field and what to do; the clock has not moved."""
    answer = world.http.post(f"{world.endpoint}/_windtunnel/clock/advance", json=body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
    assert world.now() == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize("rate", [0, -1, 1e7])
def test_no_clock_runs_at_such_a_rate(world: TestWorld, rate: float) -> None:
    """CT-1: the refusal says what a rate is and how large it may be."""
    answer = world.http.post(f"{world.endpoint}/_windtunnel/clock", json={"rate": rate})
    assert answer.status_code == 400
    bound = "at most 1,000,000" if rate > 0 else "more than 0"
    assert answer.json()["error"]["message"].endswith(f"give {bound} (virtual seconds in a second of the wall)")


def test_a_client_that_hangs_up_ends_its_advance(world: TestWorld) -> None:
    """CT-1: ten years with a node that waits for a machine take long; the clock stays where it has got to."""
    world.capacity("ml.p5.48xlarge", 0)
    world.sagemaker.create_cluster(**eks(group("w", 1, InstanceType="ml.p5.48xlarge")))
    with pytest.raises(httpx.ReadTimeout):
        world.http.post(f"{world.endpoint}/_windtunnel/clock/advance", json={"by": 10 * 365 * 86_400}, timeout=0.3)
    # The next one waits for its turn, so it begins when the other has given up.
    assert world.advance(1)["after"] < "2035"
    assert not world.control("GET", "clock")["advancing"]
