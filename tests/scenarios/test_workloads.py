"""Workloads on a cluster that two budgets share, by the control API in frozen worlds (CT-10, FS-3 to FS-13)."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.kit import TestWorld
from tests.workloads import HOUR, MINUTE, decided, fleet, funded, statuses, submit, told, why


def gpus(world: TestWorld) -> dict[str, int]:
    counts: dict[str, int] = world.control("GET", "fleets/demo")["gpus"]
    return counts


def test_protected_work_stays_and_yields_after_its_window(world: TestWorld) -> None:
    """FS-4, FS-5, FS-8: not before its minimum runtime, then for the budget that had less, with a minute's grace."""
    fleet(world, 1, a=1, b=1)
    funded(world, "first", "a", 2)
    assert told(world, "first")["protected_until"] == "2026-01-01T02:10:00.000Z"
    world.advance(hours=1)
    funded(world, "second", "b", 1)
    waits = why(world, "second")
    assert (waits["reason"], waits["wanted"], waits["free"]) == ("gpus-protected", 8, 0)
    assert waits["earliest"] == "2026-01-01T02:10:00.000Z"
    world.advance(minutes=59)
    assert statuses(world) == {"first": "running", "second": "waiting"}
    world.advance(minutes=1)
    assert statuses(world) == {"first": "leaving", "second": "held"}
    assert why(world, "first")["leaves"] == why(world, "second")["starts"] == "2026-01-01T02:11:00.000Z"
    world.advance(minutes=1)
    assert statuses(world) == {"first": "waiting", "second": "running"}
    assert told(world, "first")["submitted"] == "2026-01-01T00:10:00.000Z"
    [preemption] = world.control("GET", "decisions", params={"kind": "preempt"})["decisions"]
    assert preemption["victims"] == [{"workload": "first", "until": "2026-01-01T02:11:00.000Z"}]
    assert [one["budget"] for one in preemption["ratios"]] == ["b", "a"]
    assert decided(world, workload="first")[0] == ("admit", "free", "first")
    assert ("preempt", "fair-share", "second") in decided(world, workload="first")
    world.advance(hours=7)
    assert (told(world, "first")["status"], told(world, "first")["attempt"]) == ("running", 2)


def test_unfunded_work_leaves_for_funded_at_once(world: TestWorld) -> None:
    """FS-3: it is never protected, and evicts nothing."""
    fleet(world, 1, a=1)
    submit(world, "free", 8)
    assert told(world, "free")["funded"] is False
    submit(world, "other", 4)
    assert why(world, "other")["reason"] == "no-free-gpus"
    funded(world, "paid", "a")
    assert statuses(world)["free"] == "leaving"
    world.advance(10)
    assert statuses(world) == {"free": "waiting", "other": "waiting", "paid": "running"}


def test_own_work_is_done_after_its_runtime_and_keeps_what_it_saved(world: TestWorld) -> None:
    """FS-5: an eviction costs what was done since the last checkpoint; without one, all."""
    fleet(world, 1, a=1)
    submit(world, "saves", 8, runtime_seconds=10 * HOUR, checkpoint_seconds=20 * MINUTE)
    world.advance(minutes=50)
    funded(world, "paid", "a", runtime_seconds=HOUR)
    world.advance(minutes=1)
    assert told(world, "saves")["done_seconds"] == 40 * MINUTE
    world.advance(hours=1)
    assert statuses(world) == {"saves": "running", "paid": "ended"}
    paid = told(world, "paid")
    assert (paid["reason"], paid["ended"], paid["done_seconds"]) == ("finished", "2026-01-01T02:00:10.000Z", HOUR)
    assert told(world, "saves")["ends"] == "2026-01-01T11:20:10.000Z"
    assert gpus(world)["allocated"] == 8
    [row] = world.control("GET", "fleets")["fleets"]
    assert row["taken"] == 8


def test_who_is_not_resumable_ends(world: TestWorld) -> None:
    """FS-5."""
    fleet(world, 1, a=1)
    submit(world, "once", 8, resumable=False)
    funded(world, "paid", "a")
    world.advance(10)
    assert (told(world, "once")["status"], told(world, "once")["reason"]) == ("ended", "preempted")


@pytest.mark.parametrize("after", [0, 60])
def test_a_cancelled_one_holds_nothing(world: TestWorld, after: int) -> None:
    """CT-10: while GPUs are held for it, and while it runs; who left for it starts again."""
    fleet(world, 1, a=1)
    submit(world, "free", 8)
    funded(world, "paid", "a")
    world.advance(after)
    assert statuses(world)["paid"] == ("running" if after else "held")
    world.control("POST", "workloads/paid/cancel")
    world.advance(10)
    assert statuses(world) == {"free": "running", "paid": "ended"}
    assert told(world, "paid")["reason"] == "cancelled"
    [row] = world.control("GET", "fleets")["fleets"]
    assert row["taken"] == 8


def test_priority_orders_within_a_budget(world: TestWorld) -> None:
    """FS-2."""
    fleet(world, 1, a=1, b=1)
    funded(world, "runs", "a", 8)
    for name in ("early", "late"):
        funded(world, name, "a", 1)
    names = [row["job_name"] for row in world.control("GET", "queue")["queue"]]
    assert names == ["early", "late"]
    world.control("PATCH", "workloads/late", json={"priority": 5})
    world.advance(0)
    rows = world.control("GET", "queue")["queue"]
    assert [(row["job_name"], row["priority"], row["ahead"]) for row in rows] == [
        ("late", 5, []),
        ("early", 0, ["late"]),
    ]
    funded(world, "other", "b", 1)
    rows = world.control("GET", "queue")["queue"]
    assert [row["job_name"] for row in rows] == ["other", "late", "early"]
    assert why(world, "late")["ahead"] == ["b"]
    assert [row["job_name"] for row in world.control("GET", "queue", params={"budget": "b"})["queue"]] == ["other"]


def test_a_large_gang_reserves_the_nodes_whose_protected_work_ends_first(world: TestWorld) -> None:
    """FS-9: after a quarter of an hour; at T it evicts there what is over."""
    fleet(world, 2, a=1, b=1)
    for name, hours in (("one", 2), ("two", 3)):
        funded(world, name, "a", hours)
    funded(world, "large", "b", 1, replicas=2)
    world.advance(minutes=15)
    [kept] = world.control("GET", "fleets/demo")["reservations"]
    assert (kept["workload"], kept["budget"], len(kept["hosts"])) == ("large", "b", 2)
    assert kept["due"] == why(world, "large")["earliest"] == "2026-01-01T03:10:00.000Z"
    assert why(world, "large")["reason"] == "reserved-for-it"
    assert gpus(world)["reserved"] == 16
    world.advance(hours=3)
    assert statuses(world)["large"] == "running"


def test_a_lost_node_leaves_a_hole_that_is_filled_first(world: TestWorld) -> None:
    """FS-19: by unfunded work's GPUs, ahead of who waits."""
    fleet(world, 3, a=1)
    funded(world, "gang", "a", 8, replicas=2)
    submit(world, "free", 8)
    submit(world, "waits", 8)
    [lost, *_] = told(world, "gang")["places"]
    world.fault("node-hardware", node=lost, times=1)
    world.advance(minutes=2)
    assert lost not in told(world, "gang")["places"]
    assert sum(told(world, "gang")["places"].values()) == 2
    assert statuses(world)["free"] == "waiting"
    assert [kind for kind, _, name in decided(world) if name == "gang"] == ["admit", "lost", "preempt", "fill"]
    assert ("preempt", "hole", "gang") in decided(world)


def test_a_gang_works_while_it_is_whole(world: TestWorld) -> None:
    """FS-5, FS-19: a lost replica costs what no checkpoint holds, and the rest is done once the hole is filled."""
    fleet(world, 3, a=1)
    funded(world, "gang", "a", 8, replicas=2, runtime_seconds=9 * HOUR, checkpoint_seconds=30 * MINUTE)
    submit(world, "free", 8)
    world.advance(minutes=50)
    world.fault("node-hardware", node=next(iter(told(world, "gang")["places"])), times=1)
    world.advance(seconds=5)
    assert (told(world, "gang")["done_seconds"], told(world, "gang")["ends"]) == (30 * MINUTE, None)
    world.advance(minutes=2)
    [filled] = world.control("GET", "decisions", params={"kind": "fill"})["decisions"]
    ends = datetime.fromisoformat(told(world, "gang")["ends"])
    assert ends - datetime.fromisoformat(filled["at"]) == timedelta(hours=8, minutes=30)


def test_sessions_are_warned_before_their_protection_ends(world: TestWorld) -> None:
    """FS-12: half an hour before, as an event of the cluster's."""
    fleet(world, 1, a=1)
    funded(world, "notebook", "a", 2, gpus=1, kind="session")
    world.advance(minutes=89)
    params = {"detail-type": "Windtunnel Session Warning"}
    assert world.control("GET", "events", params=params)["events"] == []
    world.advance(minutes=1)
    [event] = world.control("GET", "events", params=params)["events"]
    assert (event["source"], event["time"]) == ("windtunnel.scheduler", "2026-01-01T01:40:00Z")
    assert event["detail"]["Workload"] == "notebook"
    assert event["detail"]["ProtectedUntil"] == 1767233400000
    assert ("warn", "protection-ends", "notebook") in decided(world)


def test_a_fleet_may_be_for_sessions_alone(world: TestWorld) -> None:
    """FS-12, CT-10."""
    fleet(world, 1, a=1)
    shown = world.control("PATCH", "fleets/demo", json={"sessions_only": True, "warning_seconds": 600})
    assert shown["changed"] == ["warning_seconds", "sessions_only"]
    answer = world.http.post(f"{world.endpoint}/_windtunnel/workloads", json={"name": "x", "gpus": 1})
    assert (answer.status_code, "sessions alone" in answer.text) == (400, True)
    submit(world, "s", 1, kind="session")
    assert statuses(world) == {"s": "running"}
    assert world.control("PATCH", "fleets/demo", json={"sessions_only": None})["changed"] == ["warning_seconds"]


def test_another_margin_lets_somebody_start_at_once(world: TestWorld) -> None:
    """FS-8, CT-10: the fleet is looked at again when its policy changes."""
    fleet(world, 1, a=1, b=1)
    world.control("PATCH", "fleets/demo", json={"margin_millionths": 9_000_000})
    funded(world, "first", "a", 1)
    funded(world, "second", "b", 1)
    world.advance(hours=2)
    assert why(world, "second")["reason"] == "not-its-turn"
    world.control("PATCH", "fleets/demo", json={"margin_millionths": None})
    world.advance(0)
    assert statuses(world) == {"first": "leaving", "second": "held"}


def script(world: TestWorld, between: Any) -> list[tuple[str, str, str | None]]:
    """A day of two budgets on two nodes; `between` happens before each step."""
    fleet(world, 2, a=2, b=1)
    for step in range(12):
        between(world)
        budget = "ab"[step % 2]
        hours = 1 + step % 3
        funded(world, f"w{step}", budget, hours, gpus=(8, 4, 2)[step % 3], replicas=1 + step % 2, runtime_seconds=7000)
        if step % 4 == 3:
            world.control("POST", f"workloads/w{step - 1}/cancel")
        world.advance(minutes=25)
    world.advance(hours=12)
    return decided(world)


def test_a_scheduler_that_forgot_decides_the_same(world: TestWorld, dsn: str, service: Any) -> None:
    """FS-16: from its memory and from rows."""

    def forget(which: TestWorld) -> None:
        async def run() -> None:
            import asyncpg

            connection = await asyncpg.connect(dsn)
            await connection.execute("UPDATE fleet SET version_wall = NULL WHERE world = $1", which.name)
            await connection.close()

        asyncio.run(run())

    kept = script(world, lambda _: None)
    assert len(kept) > 20
    assert script(service.world(), forget) == kept
