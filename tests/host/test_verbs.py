"""The control verbs against a running service: every one of them, as words and as JSON."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from app.cli import app
from app.commands.client import Refused
from app.host import certificate
from app.settings import Settings
from tests.kit import Running, TestWorld, group, serving, slurm, workers
from tests.plans import buy

TYPE = "ml.g5.2xlarge"


class Windtunnel:
    """The command line in this process, pointed at one world of a real service."""

    def __init__(self, world: TestWorld) -> None:
        self.world = world
        self.where = ["--world", world.name, "--endpoint", world.base]

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(app, [*words], catch_exceptions=False)

    def say(self, *words: str) -> str:
        ran = self.run(*words, *self.where)
        assert ran.exit_code == 0, ran.output
        return ran.stdout

    def ask(self, *words: str) -> Any:
        return json.loads(self.say(*words, "--json"))


@pytest.fixture(scope="module")
def service(dsn: str) -> Iterator[Running]:
    """A service whose log does not mix with what the verbs print in the same process."""
    with serving(Settings(database_url=dsn, frozen=True)) as running:
        yield running


@pytest.fixture
def windtunnel(world: TestWorld) -> Windtunnel:
    return Windtunnel(world)


def test_the_clock(windtunnel: Windtunnel) -> None:
    """CT-1: read, set the rate, resume, freeze, advance by, to and next."""
    assert windtunnel.ask("clock", "show")["frozen"] is True
    assert windtunnel.ask("clock", "rate", "60")["rate"] == 60
    assert windtunnel.ask("clock", "resume")["frozen"] is False
    assert windtunnel.ask("clock", "freeze")["frozen"] is True
    by = windtunnel.ask("clock", "advance", "1h30m")
    assert by["settled"] is True
    assert windtunnel.ask("clock", "advance", "--to", "2031-01-01T00:00:00Z")["after"].startswith("2031-01-01T00:00:00")
    assert windtunnel.ask("clock", "advance", "--next")["settled"] is True
    assert "2031-01-01" in windtunnel.say("clock", "show")


def test_time_never_goes_backward(windtunnel: Windtunnel) -> None:
    """CT-1; what the API refuses is one sentence."""
    with pytest.raises(Refused, match="never goes backward"):
        windtunnel.say("clock", "advance", "--to", "2020-01-01T00:00:00Z")


def test_capacity(windtunnel: Windtunnel) -> None:
    """CT-4: a number, none, and from an instant on."""
    windtunnel.say("capacity", "set", TYPE, "3")
    pools = windtunnel.ask("capacity", "show")["pools"]
    assert [(each["instance_type"], each["total"]) for each in pools] == [(TYPE, 3)]
    windtunnel.say("capacity", "set", TYPE, "9", "--at", "2040-01-01T00:00:00Z")
    assert windtunnel.ask("capacity", "show")["changes"][0]["total"] == 9
    assert "unlimited" in windtunnel.say("capacity", "set", TYPE, "unlimited")


def test_faults(windtunnel: Windtunnel) -> None:
    """CT-3: add with every matcher, list, hits, remove one, clear."""
    rule = windtunnel.ask(
        *("fault", "add", "boot-slow", "--type", TYPE, "--cluster", "demo", "--group", "workers", "--times", "2"),
        *("--probability", "0.5", "--every", "3", "--after", "2026-01-01T00:00:00Z", "--seconds", "5m"),
    )
    assert (rule["seconds"], rule["times"], rule["every"], rule["instance_type"]) == (300, 2, 3, TYPE)
    slow = windtunnel.ask(
        *("fault", "add", "api-latency", "--operation", "DescribeCluster", "--seconds", "200ms"),
        *("--account", "111122223333", "--region", "eu-west-1"),
    )
    assert (slow["seconds"], slow["operation"], slow["region"]) == (0.2, "DescribeCluster", "eu-west-1")
    windtunnel.say(
        "fault", "add", "api-error", "--code", "InternalFailure", "--message", "No.", "--region", "eu-west-1"
    )
    assert windtunnel.ask("fault", "add", "script-hang", "--attempt", "2")["attempt"] == 2
    assert "boot-slow" in windtunnel.say("fault", "list")
    windtunnel.say("fault", "hits")
    windtunnel.say("fault", "hits", rule["id"])
    windtunnel.say("fault", "rm", rule["id"])
    windtunnel.say("fault", "add", "script-failed")
    windtunnel.say("fault", "clear")
    assert windtunnel.ask("fault", "list")["rules"] == []


def test_faults_are_replaced_from_a_file(windtunnel: Windtunnel, tmp_path: Path) -> None:
    """CT-3: TOML with `rules`, JSON with the list itself; what was there before is gone."""
    windtunnel.say("fault", "add", "script-hang")
    toml, listed = tmp_path / "rules.toml", tmp_path / "rules.json"
    toml.write_text("[[rules]]\neffect = 'boot-slow'\nseconds = 5\n[[rules]]\neffect = 'script-failed'\n")
    effects = [rule["effect"] for rule in windtunnel.ask("fault", "replace", str(toml))["rules"]]
    assert effects == ["boot-slow", "script-failed"]
    listed.write_text(json.dumps([{"effect": "launch-capacity"}]))
    windtunnel.say("fault", "replace", str(listed))
    assert [rule["effect"] for rule in windtunnel.ask("fault", "list")["rules"]] == ["launch-capacity"]
    listed.write_text(json.dumps([{"effect": "script-failed"}, {"efect": "x"}]))
    with pytest.raises(Refused, match="efect"):
        windtunnel.say("fault", "replace", str(listed))
    assert [rule["effect"] for rule in windtunnel.ask("fault", "list")["rules"]] == ["launch-capacity"]


def test_quotas(windtunnel: Windtunnel) -> None:
    """CT-4: a number, none, of another account and region."""
    name = "ml.g5.8xlarge for cluster usage"
    elsewhere = ("--account", "444455556666", "--region", "us-east-1")

    def value(*where: str) -> Any:
        return {row["name"]: row["value"] for row in windtunnel.ask("quota", "show", *where)["quotas"]}.get(name)

    before = value(*elsewhere)
    assert windtunnel.ask("quota", "set", name, "4")["value"] == value() == 4
    assert value(*elsewhere) == before
    assert windtunnel.ask("quota", "set", name, "7", *elsewhere)["region"] == "us-east-1"
    assert value(*elsewhere) == 7
    assert name in windtunnel.say("quota", "show")
    assert "unlimited" in windtunnel.say("quota", "set", name, "unlimited")
    assert value() is None


def test_what_the_service_has_seen(windtunnel: Windtunnel) -> None:
    """CT-7, CT-8: requests, events, metrics."""
    windtunnel.world.sagemaker.create_cluster(**slurm(workers(1)))
    windtunnel.world.advance(hours=1)
    assert "CreateCluster" in windtunnel.say("requests")
    assert len(windtunnel.ask("requests", "--limit", "1")["requests"]) == 1
    assert "aws.sagemaker" in {each["source"] for each in windtunnel.ask("events")["events"]}
    assert len(windtunnel.ask("events", "--limit", "1")["events"]) == 1
    heading, _, *rows = windtunnel.say("events").splitlines()
    assert heading.split() == ["time", "detail", "type", "cluster", "group", "instance", "status", "what"]
    assert any("Cluster State Change" in row and "InService" in row for row in rows)
    assert any("Cluster Event" in row and "successfully provisioned" in row for row in rows)
    assert "# HELP" in windtunnel.say("metrics")
    assert {"name", "labels", "value"} == set(windtunnel.ask("metrics")["metrics"][0])


def test_a_terminal_is_in_a_world(windtunnel: Windtunnel, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-0: after `env --world` every verb acts there; a world that is missing is refused at once."""
    told = json.loads(windtunnel.say("env", "--json"))
    assert told["WINDTUNNEL_ENDPOINT"] == told["AWS_ENDPOINT_URL"] == windtunnel.world.endpoint
    monkeypatch.setenv("WINDTUNNEL_ENDPOINT", told["WINDTUNNEL_ENDPOINT"])
    assert json.loads(windtunnel.run("clock", "--json").stdout)["world"] == windtunnel.world.name
    assert json.loads(windtunnel.run("clock", "--world", "main", "--json").stdout)["world"] == "main"
    assert windtunnel.world.name in windtunnel.run("world", "list").stdout
    with pytest.raises(Refused, match="windtunnel world create nowhere"):
        windtunnel.run("env", "--world", "nowhere")
    windtunnel.run("world", "drop", windtunnel.world.name)
    assert windtunnel.run("world", "list").exit_code == 0
    assert windtunnel.run("world", "create", windtunnel.world.name).exit_code == 0


def test_env_trusts_the_certificate_of_the_service_that_is_meant(dsn: str, tmp_path: Path) -> None:
    """VX-20: whose data is elsewhere, as that of `up --ephemeral` is."""
    settings = Settings(database_url=dsn, frozen=True, data=tmp_path, supervised=True)
    roots = certificate.ensure(settings).roots
    with serving(settings) as running:
        ran = CliRunner().invoke(app, ["env", "--endpoint", running.base, "--json"], catch_exceptions=False)
    assert json.loads(ran.stdout)["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] == str(roots)


def test_counts_that_come_late_and_chaos(windtunnel: Windtunnel) -> None:
    """CT-3, CT-11: told, set, told; and trouble of every kind with one word."""
    assert windtunnel.ask("world", "lag")["seconds"] == 0
    assert windtunnel.ask("world", "lag", "60")["seconds"] == 60
    assert windtunnel.ask("world", "lag") == {"seconds": 60}
    rules = windtunnel.ask("fault", "chaos", "7")["rules"]
    assert {"launch-capacity", "node-hardware", "api-drop"} <= {rule["effect"] for rule in rules}
    windtunnel.say("fault", "clear")


def test_prices(windtunnel: Windtunnel) -> None:
    """CT-5."""
    windtunnel.say("price", "set", TYPE, "1.25")
    assert windtunnel.ask("price", "show", TYPE)["prices"][0]["micro_usd_per_hour"] == 1_250_000
    assert "1.250000" in windtunnel.say("price", "show", TYPE)


def test_the_bill_in_every_form(windtunnel: Windtunnel) -> None:
    """CT-6: to the micro-dollar, with when billing began; lines open into intervals."""
    windtunnel.say("price", "set", TYPE, "3.6")
    windtunnel.world.sagemaker.create_cluster(
        ClusterName="demo", InstanceGroups=[group("workers", 2, InstanceType=TYPE)]
    )
    windtunnel.world.advance(hours=2)
    answer = windtunnel.ask("bill", "--cluster", "demo", "--by", "instance", "--intervals")
    lines = answer["lines"]
    assert len(lines) == 2
    assert answer["total_micro_usd"] == sum(line["micro_usd"] for line in lines)
    assert all(line["micro_usd"] == line["milliseconds"] for line in lines)
    text = windtunnel.say("bill")
    assert "running" in text
    assert f"total {answer['total_micro_usd'] // 1_000_000}." in text
    assert "intervals of demo workers" in windtunnel.say("bill", "--intervals")
    header, *rows = windtunnel.say("bill", "--csv").splitlines()
    assert header.startswith("cluster_arn,")
    assert len(rows) == 2
    for by in ("group", "type", "account", "cluster"):
        assert windtunnel.ask("bill", "--by", by)["total_micro_usd"] == answer["total_micro_usd"]


def test_the_bill_tells_what_plans_cost_upfront(windtunnel: Windtunnel) -> None:
    """CT-6: as words and as CSV, beside the total, and not on a cluster's bill."""
    buy(windtunnel.world.sagemaker)
    windtunnel.world.sagemaker.create_cluster(ClusterName="demo", InstanceGroups=[group("workers", 1)])
    windtunnel.world.advance(hours=1)
    text = windtunnel.say("bill")
    assert "plan-1" in text
    assert "upfront 2196.840000 USD" in text
    assert text.count("2196.840000") == 2
    header, *rows = windtunnel.say("bill", "--csv").splitlines()
    assert "training_plan_arn" in header.split(",")
    assert len(rows) == 2
    assert "plan-1" not in windtunnel.say("bill", "--cluster", "demo")


def test_worlds(windtunnel: Windtunnel) -> None:
    """CT-0, CT-2: create, fork, compare, export, list, drop."""
    at = ["--endpoint", windtunnel.world.base]
    name, copy = f"{windtunnel.world.name}-a", f"{windtunnel.world.name}-b"

    def ask(*words: str) -> Any:
        ran = windtunnel.run("world", *words, *at)
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)

    assert ask("create", name, "--seed", "5", "--frozen", "--profile", "instant", "--json")["seed"] == 5
    ask("fork", copy, "--from", name, "--json")
    assert ask("compare", name, copy, "--json")["equal"] is True
    assert ask("export", name)["format"] == 1
    assert ask("export", name, "--json") == ask("export", name)
    ask("drop", copy, "--json")
    ask("drop", name, "--json")
    assert name not in windtunnel.run("world", "list", *at).stdout


def test_reset_and_status(windtunnel: Windtunnel) -> None:
    """CT-2, CT-7."""
    windtunnel.say("capacity", "set", TYPE, "3")
    windtunnel.say("reset")
    assert windtunnel.ask("capacity", "show")["pools"] == []
    status = windtunnel.ask("status")
    assert {"address", "auth", "profile", "versions"} <= set(status)


def test_an_unknown_world_says_how_to_make_it(windtunnel: Windtunnel) -> None:
    with pytest.raises(Refused, match="windtunnel world create nowhere"):
        windtunnel.run("clock", "show", "--world", "nowhere", "--endpoint", windtunnel.world.base)


def test_snapshots(windtunnel: Windtunnel) -> None:
    """CT-2."""
    assert windtunnel.ask("snapshot", "save", "early")["name"] == "early"
    windtunnel.say("clock", "advance", "1h")
    assert windtunnel.ask("snapshot", "restore", "early")["now"] == "2026-01-01T00:00:00.000Z"
    assert "early" in windtunnel.say("snapshot", "list")
    assert windtunnel.ask("snapshot", "rm", "early") == {"removed": "early"}
    assert windtunnel.ask("snapshot", "list") == {"snapshots": []}


def test_an_export_is_imported(windtunnel: Windtunnel, world: TestWorld, tmp_path: Path) -> None:
    """CT-2."""
    world.capacity("ml.p5.48xlarge", 3)
    file, name, there = tmp_path / "world.json", f"{world.name}-i", ("--endpoint", world.base)
    file.write_text(windtunnel.run("world", "export", world.name, *there).stdout)
    made = windtunnel.run("world", "import", name, str(file), *there, "--json")
    assert json.loads(made.stdout)["name"] == name
    assert "yes" in windtunnel.run("world", "compare", world.name, name, *there).stdout.splitlines()[0]
    assert windtunnel.run("world", "import", name, str(tmp_path / "missing"), *there).exit_code == 2
    with pytest.raises(Refused, match="already"):
        windtunnel.run("world", "import", name, str(file), *there)


def test_slurm(windtunnel: Windtunnel, world: TestWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-9: printed, replaced by a file, and edited."""
    world.sagemaker.create_cluster(**slurm(workers(1)))
    world.advance(minutes=30)
    shown = windtunnel.ask("slurm", "show", "demo")
    assert windtunnel.say("slurm", "show", "demo") == shown["content"]
    file = tmp_path / "slurm.conf"
    file.write_text("# mine\n")
    with pytest.raises(Refused, match="Read it again"):
        windtunnel.say("slurm", "edit", "demo", "--file", str(file), "--version", "0")
    assert windtunnel.ask("slurm", "edit", "demo", "--file", str(file))["content"] == "# mine\n"
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "# more" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setenv("VISUAL", str(editor))
    windtunnel.say("slurm", "edit", "demo")
    assert windtunnel.say("slurm", "show", "demo") == "# mine\n# more\n"
