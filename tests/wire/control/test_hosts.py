"""Hosts over HTTP and by command (CT-10, CT-11)."""

import json

from typer.testing import CliRunner

from app.cli import app
from tests.kit import TestWorld
from tests.workloads import fleet, funded, refused, told


def say(world: TestWorld, *words: str) -> str:
    asked = [*words, "--world", world.name, "--endpoint", world.base]
    done = CliRunner().invoke(app, ["host", *asked], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_host_is_listed_drained_shown_and_resumed_by_command(world: TestWorld) -> None:
    """CT-11: by the node's logical id or its instance's."""
    fleet(world, 2, a=1)
    assert say(world, "list").strip() == "no hosts", "the cluster has had no workload"
    funded(world, "paid", "a", 2, gpus=4)
    [node] = told(world, "paid")["places"]
    rows = json.loads(say(world, "list", "--cluster", "demo", "--json"))["hosts"]
    assert {row["node"]: (row["state"], row["gpus"], row["taken"]) for row in rows} == {
        one["node"]: ("healthy", 8, 4 if one["node"] == node else 0) for one in rows
    }
    [instance] = [row["instance_id"] for row in rows if row["node"] == node]
    printed = say(world, "drain", instance, "--reason", "a loose cable", "--then", "replace")
    assert "draining" in printed and "a loose cable" in printed
    world.advance(0)
    shown = json.loads(say(world, "show", node, "--json"))
    assert (shown["then"], shown["marked"], shown["status"]) == ("replace", "2026-01-01T00:10:00.000Z", "Running")
    [work] = shown["workloads"]
    assert (work["workload"], work["gpus"], work["funded"]) == ("paid", 4, True)
    assert work["protected_until"] == shown["protected_until"] == "2026-01-01T02:10:00.000Z"
    assert "paid" in say(world, "show", node) and "loose" in say(world, "list")
    again = json.loads(say(world, "drain", node, "--json"))
    assert (again["then"], again["reason"], again["marked"]) == ("nothing", None, shown["marked"])
    assert json.loads(say(world, "resume", node, "--json"))["state"] in ("healthy", "draining")
    world.advance(0)
    assert json.loads(say(world, "show", node, "--json"))["state"] == "healthy"


def test_what_is_wrong_is_told(world: TestWorld) -> None:
    """CT-10."""
    fleet(world, 1)
    assert refused(world, "GET", "hosts", params={"cluster": "none"})[0] == 404
    assert refused(world, "GET", "hosts/none")[0] == 404
    assert refused(world, "POST", "hosts/none/resume")[0] == 404
    assert refused(world, "POST", "hosts/none/drain", json={"then": "explode"})[0] == 400
