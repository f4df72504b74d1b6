"""What a start asks of a world that exists already."""

import logging
from typing import Any

import httpx
import pytest

from app.settings import load
from tests.kit import aws_client, group, serving

SCRIPTS = {"SourceS3Uri": "s3://sagemaker-scripts", "OnCreate": "on_create.sh"}


def clock_after(dsn: str, flags: dict[str, Any], environ: dict[str, str] | None = None) -> tuple[Any, ...]:
    """Profile, rate and `frozen` of `main` in a service that was started with these flags and variables."""
    told = load(flags, {"WINDTUNNEL_DATABASE_URL": dsn, **(environ or {})})
    with serving(load(environ=told.environment())) as running:  # by way of a child's environment, as `up` does it
        clock = httpx.get(f"{running.base}/_windtunnel/clock").json()
    return clock["profile"], clock["rate"], clock["frozen"]


def test_what_is_given_is_applied_though_it_be_the_default(fresh: str) -> None:
    """CT-13: profile, rate and `frozen` of `main` change exactly when somebody asks for them."""
    assert clock_after(fresh, {"profile": "realistic", "rate": 60, "frozen": True}) == ("realistic", 60, True)
    assert clock_after(fresh, {}) == ("realistic", 60, True)
    assert clock_after(fresh, {"profile": "fast", "rate": 1}) == ("fast", 1, True)
    assert clock_after(fresh, {}, {"WINDTUNNEL_FROZEN": "false"}) == ("fast", 1, False)


def test_a_process_that_is_started_again_leaves_the_clock_as_it_is(fresh: str) -> None:
    """CT-11: `kill -9` of the API undoes no `clock resume`."""
    assert clock_after(fresh, {"frozen": True}) == ("fast", 1, True)
    assert clock_after(fresh, {"rate": 9}, {"WINDTUNNEL_RESTARTED": "true"}) == ("fast", 1, True)


def rules_after(dsn: str, environ: dict[str, str], method: str = "", path: str = "") -> list[Any]:
    """Effect, seed and matches of the rules of `main` in a service of these variables, after a call if one is given."""
    with serving(load(environ={"WINDTUNNEL_DATABASE_URL": dsn, **environ})) as running:
        if method:
            httpx.request(method, f"{running.base}/_windtunnel/{path}").raise_for_status()
        rules = httpx.get(f"{running.base}/_windtunnel/faults").json()["rules"]
    return [(rule["id"], rule["effect"], rule["seed"]) for rule in rules]


def test_chaos_begins_with_the_service(fresh: str) -> None:
    """CT-3: of one seed at a time; it outlives a start, goes with `fault clear`, and comes back with a reset."""
    chaos = {"WINDTUNNEL_CHAOS": "7"}
    first = rules_after(fresh, chaos)
    assert {seed for _, _, seed in first} == {7}
    assert rules_after(fresh, {}) == rules_after(fresh, chaos) == first
    other = rules_after(fresh, {"WINDTUNNEL_CHAOS": "8"})
    assert [(effect, seed) for _, effect, seed in other] == [(effect, 8) for _, effect, _ in first]
    assert rules_after(fresh, chaos, "DELETE", "faults") == []
    assert rules_after(fresh, chaos | {"WINDTUNNEL_RESTARTED": "true"}) == []
    assert rules_after(fresh, chaos, "POST", "reset") == first


def test_what_comes_too_late_is_said(fresh: str, caplog: pytest.LogCaptureFixture) -> None:
    """CT-2: start, seed and seed file are for making a world; one line says so."""
    late = {"start": "2026-01-01T00:00:00Z", "seed": 1, "seed_file": "/nonexistent.toml"}
    with caplog.at_level(logging.WARNING):
        clock_after(fresh, {})
        assert [each for each in caplog.messages if "reset" in each] == []
        clock_after(fresh, late)
    (line,) = (each for each in caplog.messages if "reset" in each)
    assert "start, seed, seed-file" in line
    assert "windtunnel reset --seed-file FILE" in line


def test_clusters_keep_their_world_from_moto(fresh: str, caplog: pytest.LogCaptureFixture) -> None:
    """CT-16: ids are names in worlds of the profile moto alone, so one with clusters keeps its way."""
    assert clock_after(fresh, {"frozen": True}) == ("fast", 1, True)
    assert clock_after(fresh, {"profile": "moto"}) == ("moto", 1, True)
    with serving(load({}, {"WINDTUNNEL_DATABASE_URL": fresh})) as running:
        client = aws_client(running.base)
        client.create_cluster(ClusterName="demo", InstanceGroups=[group("g", LifeCycleConfig=SCRIPTS)])
        client.close()
    with caplog.at_level(logging.WARNING):
        assert clock_after(fresh, {"profile": "fast", "rate": 9}) == ("moto", 9, True)
    (line,) = (each for each in caplog.messages if "profile" in each)
    assert "windtunnel world create NAME --profile fast" in line
