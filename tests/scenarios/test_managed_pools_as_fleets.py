"""Managed pools beside clusters: listed, shown, set, and with the shares of budgets (CT-10, FS-20)."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.client import Refused
from app.core.projects import number_of
from tests.kit import TestWorld
from tests.scenarios.test_managed_pools import POOL, demo, quota, work

WHOLE = f"projects/{number_of('p1')}/locations/us-central1/{POOL}"
__all__ = ["demo"]


def ask(world: TestWorld, *words: str) -> Any:
    where = ("--world", world.name, "--endpoint", world.base, "--json")
    ran = CliRunner().invoke(app, [*words, *where], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def say(world: TestWorld, *words: str) -> str:
    ran = CliRunner().invoke(app, [*words, "--world", world.name, "--endpoint", world.base], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_a_pool_is_shown_and_set_as_a_fleet(demo: TestWorld) -> None:
    """CT-10, FS-20: by its short name while that means one, and by its whole name."""
    assert ask(demo, "fleet", "list")["pools"] == []
    with pytest.raises(Refused, match="No work has come"):
        ask(demo, "fleet", "show", POOL)
    work(demo, "team-a", 2)
    work(demo, "team-b")
    [pool] = ask(demo, "fleet", "list")["pools"]
    assert (pool["name"], pool["gpus"], pool["taken"], pool["waiting"]) == (WHOLE, 16, 16, 1)
    shown = ask(demo, "fleet", "show", POOL)
    assert (shown["pool"], shown["cluster_arn"], shown["gpus"]["total"], shown["waiting"]) == (WHOLE, None, 16, 1)
    assert ask(demo, "fleet", "show", WHOLE) == shown
    assert ask(demo, "fleet", "set", WHOLE, "window=1d")["policy"]["window_seconds"] == 86_400
    assert ask(demo, "fleet", "show", POOL)["changed"] == ["window_seconds"]
    assert WHOLE in say(demo, "fleet", "show", POOL)
    assert WHOLE in say(demo, "fleet", "list")


def test_budgets_have_shares_of_a_pool(demo: TestWorld) -> None:
    """FS-5, FS-20: half of sixteen GPUs each, of which team-a holds all."""
    work(demo, "team-a", 2)
    demo.advance(minutes=30)
    shares = {share["name"]: share for share in ask(demo, "budget", "list", "--cluster", POOL)["shares"]}
    assert shares["team-a"]["pool"] == WHOLE
    assert (shares["team-a"]["claimed_gpus"], shares["team-a"]["funded_gpus"]) == (8, 16)
    assert shares["team-b"]["funded_gpus"] == 0
    assert WHOLE in say(demo, "budget", "list", "--cluster", WHOLE)
    with pytest.raises(Refused, match="Neither a cluster nor a managed pool"):
        ask(demo, "budget", "list", "--cluster", "pool:none")


def test_a_pool_s_whole_name_names_its_queue_and_decisions(demo: TestWorld) -> None:
    """FS-13."""
    work(demo, "team-a", 2)
    work(demo, "team-b")
    assert quota(demo, 16).is_success
    assert [one["job_name"] for one in ask(demo, "queue", "--cluster", WHOLE)["queue"]] == ["team-b"]
    assert ask(demo, "queue", "--cluster", WHOLE.replace("us-central1", "europe-west4"))["queue"] == []
    assert {one["pool"] for one in ask(demo, "decisions", "--cluster", WHOLE)["decisions"]} == {POOL}
