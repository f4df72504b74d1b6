"""The control verbs against a running service: every one of them, as words and as JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.client import Refused
from app.host import certificate
from app.settings import Settings
from tests.commands.conftest import Line
from tests.kit import TestWorld, group, serving, slurm, workers
from tests.plans import buy

TYPE = "ml.g5.2xlarge"


def test_the_clock(line: Line) -> None:
    """CT-1: read, set the rate, resume, freeze, advance by, to and next."""
    assert line.ask("clock", "show")["frozen"] is True
    assert line.ask("clock", "rate", "60")["rate"] == 60
    assert line.ask("clock", "resume")["frozen"] is False
    assert line.ask("clock", "freeze")["frozen"] is True
    by = line.ask("clock", "advance", "1h30m")
    assert by["settled"] is True
    assert line.ask("clock", "advance", "--to", "2031-01-01T00:00:00Z")["after"].startswith("2031-01-01T00:00:00")
    assert line.ask("clock", "advance", "--next")["settled"] is True
    assert "2031-01-01" in line.say("clock", "show")


def test_time_never_goes_backward(line: Line) -> None:
    """CT-1; what the API refuses is one sentence."""
    with pytest.raises(Refused, match="never goes backward"):
        line.say("clock", "advance", "--to", "2020-01-01T00:00:00Z")


def test_capacity(line: Line) -> None:
    """CT-4: a number, none, and from an instant on."""
    line.say("capacity", "set", TYPE, "3")
    pools = line.ask("capacity", "show")["pools"]
    assert [(each["instance_type"], each["total"]) for each in pools] == [(TYPE, 3)]
    line.say("capacity", "set", TYPE, "9", "--at", "2040-01-01T00:00:00Z")
    assert line.ask("capacity", "show")["changes"][0]["total"] == 9
    assert "unlimited" in line.say("capacity", "set", TYPE, "unlimited")


def test_faults(line: Line) -> None:
    """CT-3: add with every matcher, list, hits, remove one, clear."""
    rule = line.ask(
        *("fault", "add", "boot-slow", "--type", TYPE, "--cluster", "demo", "--group", "workers", "--times", "2"),
        *("--probability", "0.5", "--every", "3", "--after", "2026-01-01T00:00:00Z", "--seconds", "5m"),
    )
    assert (rule["seconds"], rule["times"], rule["every"], rule["instance_type"]) == (300, 2, 3, TYPE)
    slow = line.ask(
        *("fault", "add", "api-latency", "--operation", "DescribeCluster", "--seconds", "200ms"),
        *("--account", "111122223333", "--region", "eu-west-1"),
    )
    assert (slow["seconds"], slow["operation"], slow["region"]) == (0.2, "DescribeCluster", "eu-west-1")
    line.say("fault", "add", "api-error", "--code", "InternalFailure", "--message", "No.", "--region", "eu-west-1")
    assert line.ask("fault", "add", "script-hang", "--attempt", "2")["attempt"] == 2
    assert "boot-slow" in line.say("fault", "list")
    line.say("fault", "hits")
    line.say("fault", "hits", rule["id"])
    line.say("fault", "rm", rule["id"])
    line.say("fault", "add", "script-failed")
    line.say("fault", "clear")
    assert line.ask("fault", "list")["rules"] == []


def test_faults_are_replaced_from_a_file(line: Line, tmp_path: Path) -> None:
    """CT-3: TOML with `rules`, JSON with the list itself; what was there before is gone."""
    line.say("fault", "add", "script-hang")
    toml, listed = tmp_path / "rules.toml", tmp_path / "rules.json"
    toml.write_text("[[rules]]\neffect = 'boot-slow'\nseconds = 5\n[[rules]]\neffect = 'script-failed'\n")
    effects = [rule["effect"] for rule in line.ask("fault", "replace", str(toml))["rules"]]
    assert effects == ["boot-slow", "script-failed"]
    listed.write_text(json.dumps([{"effect": "launch-capacity"}]))
    line.say("fault", "replace", str(listed))
    assert [rule["effect"] for rule in line.ask("fault", "list")["rules"]] == ["launch-capacity"]
    listed.write_text(json.dumps([{"effect": "script-failed"}, {"efect": "x"}]))
    with pytest.raises(Refused, match="efect"):
        line.say("fault", "replace", str(listed))
    assert [rule["effect"] for rule in line.ask("fault", "list")["rules"]] == ["launch-capacity"]


def test_quotas(line: Line) -> None:
    """CT-4: a number, none, of another account and region."""
    name = "ml.g5.8xlarge for cluster usage"
    elsewhere = ("--account", "444455556666", "--region", "us-east-1")

    def value(*where: str) -> Any:
        return {row["name"]: row["value"] for row in line.ask("quota", "show", *where)["quotas"]}.get(name)

    before = value(*elsewhere)
    assert line.ask("quota", "set", name, "4")["value"] == value() == 4
    assert value(*elsewhere) == before
    assert line.ask("quota", "set", name, "7", *elsewhere)["region"] == "us-east-1"
    assert value(*elsewhere) == 7
    assert name in line.say("quota", "show")
    assert "unlimited" in line.say("quota", "set", name, "unlimited")
    assert value() is None


def test_what_the_service_has_seen(line: Line) -> None:
    """CT-7, CT-8: requests, events, metrics."""
    line.world.sagemaker.create_cluster(**slurm(workers(1)))
    line.world.advance(hours=1)
    assert "CreateCluster" in line.say("requests")
    assert len(line.ask("requests", "--limit", "1")["requests"]) == 1
    assert "aws.sagemaker" in {each["source"] for each in line.ask("events")["events"]}
    assert len(line.ask("events", "--limit", "1")["events"]) == 1
    heading, _, *rows = line.say("events").splitlines()
    assert heading.split() == ["time", "detail", "type", "cluster", "group", "instance", "status", "what"]
    assert any("Cluster State Change" in row and "InService" in row for row in rows)
    assert any("Cluster Event" in row and "successfully provisioned" in row for row in rows)
    assert "# HELP" in line.say("metrics")
    assert {"name", "labels", "value"} == set(line.ask("metrics")["metrics"][0])


def test_a_terminal_is_in_a_world(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-0: after `env --world` every verb acts there; a world that is missing is refused at once."""
    told = json.loads(line.say("env", "--json"))
    assert told["WINDTUNNEL_ENDPOINT"] == told["AWS_ENDPOINT_URL"] == line.world.endpoint
    monkeypatch.setenv("WINDTUNNEL_ENDPOINT", told["WINDTUNNEL_ENDPOINT"])
    assert json.loads(line.run("clock", "--json").stdout)["world"] == line.world.name
    assert json.loads(line.run("clock", "--world", "main", "--json").stdout)["world"] == "main"
    assert line.world.name in line.run("world", "list").stdout
    with pytest.raises(Refused, match="windtunnel world create nowhere"):
        line.run("env", "--world", "nowhere")
    line.run("world", "drop", line.world.name)
    assert line.run("world", "list").exit_code == 0
    assert line.run("world", "create", line.world.name).exit_code == 0


def test_env_trusts_the_certificate_of_the_service_that_is_meant(dsn: str, tmp_path: Path) -> None:
    """VX-20: whose data is elsewhere, as that of `up --ephemeral` is."""
    settings = Settings(database_url=dsn, frozen=True, data=tmp_path, supervised=True)
    roots = certificate.ensure(settings).roots
    with serving(settings) as running:
        ran = CliRunner().invoke(app, ["env", "--endpoint", running.base, "--json"], catch_exceptions=False)
    assert json.loads(ran.stdout)["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] == str(roots)


def test_counts_that_come_late_and_chaos(line: Line) -> None:
    """CT-3, CT-11: told, set, told; and trouble of every kind with one word."""
    assert line.ask("world", "lag")["seconds"] == 0
    assert line.ask("world", "lag", "60")["seconds"] == 60
    assert line.ask("world", "lag") == {"seconds": 60}
    rules = line.ask("fault", "chaos", "7")["rules"]
    assert {"launch-capacity", "node-hardware", "api-drop"} <= {rule["effect"] for rule in rules}
    line.say("fault", "clear")


def test_prices(line: Line) -> None:
    """CT-5."""
    line.say("price", "set", TYPE, "1.25")
    assert line.ask("price", "show", TYPE)["prices"][0]["micro_usd_per_hour"] == 1_250_000
    assert "1.250000" in line.say("price", "show", TYPE)


def test_the_bill_in_every_form(line: Line) -> None:
    """CT-6: to the micro-dollar, with when billing began; lines open into intervals."""
    line.say("price", "set", TYPE, "3.6")
    line.world.sagemaker.create_cluster(ClusterName="demo", InstanceGroups=[group("workers", 2, InstanceType=TYPE)])
    line.world.advance(hours=2)
    answer = line.ask("bill", "--cluster", "demo", "--by", "instance", "--intervals")
    lines = answer["lines"]
    assert len(lines) == 2
    assert answer["total_micro_usd"] == sum(line["micro_usd"] for line in lines)
    assert all(line["micro_usd"] == line["milliseconds"] for line in lines)
    text = line.say("bill")
    assert "running" in text
    assert f"total {answer['total_micro_usd'] // 1_000_000}." in text
    assert "intervals of demo workers" in line.say("bill", "--intervals")
    header, *rows = line.say("bill", "--csv").splitlines()
    assert header.startswith("cluster_arn,")
    assert len(rows) == 2
    for by in ("group", "type", "account", "cluster"):
        assert line.ask("bill", "--by", by)["total_micro_usd"] == answer["total_micro_usd"]


def test_the_bill_tells_what_plans_cost_upfront(line: Line) -> None:
    """CT-6: as words and as CSV, beside the total, and not on a cluster's bill."""
    buy(line.world.sagemaker)
    line.world.sagemaker.create_cluster(ClusterName="demo", InstanceGroups=[group("workers", 1)])
    line.world.advance(hours=1)
    text = line.say("bill")
    assert "plan-1" in text
    assert "upfront 2196.840000 USD" in text
    assert text.count("2196.840000") == 2
    header, *rows = line.say("bill", "--csv").splitlines()
    assert "training_plan_arn" in header.split(",")
    assert len(rows) == 2
    assert "plan-1" not in line.say("bill", "--cluster", "demo")


def test_worlds(line: Line) -> None:
    """CT-0, CT-2: create, fork, compare, export, list, drop."""
    at = ["--endpoint", line.world.base]
    name, copy = f"{line.world.name}-a", f"{line.world.name}-b"

    def ask(*words: str) -> Any:
        ran = line.run("world", *words, *at)
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)

    assert ask("create", name, "--seed", "5", "--frozen", "--profile", "instant", "--json")["seed"] == 5
    ask("fork", copy, "--from", name, "--json")
    assert ask("compare", name, copy, "--json")["equal"] is True
    assert ask("export", name)["format"] == 1
    assert ask("export", name, "--json") == ask("export", name)
    ask("drop", copy, "--json")
    ask("drop", name, "--json")
    assert name not in line.run("world", "list", *at).stdout


def test_reset_and_status(line: Line) -> None:
    """CT-2, CT-7."""
    line.say("capacity", "set", TYPE, "3")
    line.say("reset")
    assert line.ask("capacity", "show")["pools"] == []
    status = line.ask("status")
    assert {"address", "auth", "profile", "versions"} <= set(status)


def test_an_unknown_world_says_how_to_make_it(line: Line) -> None:
    with pytest.raises(Refused, match="windtunnel world create nowhere"):
        line.run("clock", "show", "--world", "nowhere", "--endpoint", line.world.base)


def test_snapshots(line: Line) -> None:
    """CT-2."""
    assert line.ask("snapshot", "save", "early")["name"] == "early"
    line.say("clock", "advance", "1h")
    assert line.ask("snapshot", "restore", "early")["now"] == "2026-01-01T00:00:00.000Z"
    assert "early" in line.say("snapshot", "list")
    assert line.ask("snapshot", "rm", "early") == {"removed": "early"}
    assert line.ask("snapshot", "list") == {"snapshots": []}


def test_an_export_is_imported(line: Line, world: TestWorld, tmp_path: Path) -> None:
    """CT-2."""
    world.capacity("ml.p5.48xlarge", 3)
    file, name, there = tmp_path / "world.json", f"{world.name}-i", ("--endpoint", world.base)
    file.write_text(line.run("world", "export", world.name, *there).stdout)
    made = line.run("world", "import", name, str(file), *there, "--json")
    assert json.loads(made.stdout)["name"] == name
    assert "yes" in line.run("world", "compare", world.name, name, *there).stdout.splitlines()[0]
    assert line.run("world", "import", name, str(tmp_path / "missing"), *there).exit_code == 2
    with pytest.raises(Refused, match="already"):
        line.run("world", "import", name, str(file), *there)


def test_slurm(line: Line, world: TestWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-9: printed, replaced by a file, and edited."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=30)
    shown = line.ask("slurm", "show", "demo")
    assert line.say("slurm", "show", "demo") == shown["content"]
    file = tmp_path / "slurm.conf"
    file.write_text("# mine\n")
    with pytest.raises(Refused, match="Read it again"):
        line.say("slurm", "edit", "demo", "--file", str(file), "--version", "0")
    assert line.ask("slurm", "edit", "demo", "--file", str(file))["content"] == "# mine\n"
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "# more" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setenv("VISUAL", str(editor))
    line.say("slurm", "edit", "demo")
    assert line.say("slurm", "show", "demo") == "# mine\n# more\n"
