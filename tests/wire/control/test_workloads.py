"""Workloads by the control API and the command line: what is refused and why, and what is told (CT-10, CT-11)."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.client import Refused
from tests.fleets import gpu_group, gpus
from tests.fleets import submit as submit_job
from tests.kit import TestWorld, eks
from tests.workloads import HOUR, fleet, funded, refused, submit, told, why


def say(world: TestWorld, *words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--world", world.name, "--endpoint", world.base], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def ask(world: TestWorld, *words: str) -> Any:
    return json.loads(say(world, *words, "--json"))


@pytest.fixture(scope="module")
def shared(service: Any) -> TestWorld:
    """A node that `runs` holds, on which `second` of the budget `a` and a job wait; nothing moves any more."""
    made: TestWorld = service.world()
    fleet(made, 1)
    tree = [("research", None, 1), ("pretraining", "research", 2), ("alignment", "research", 1), ("product", None, 1)]
    for name, parent, weight in tree:
        made.control("POST", "budgets", json={"name": name, "parent": parent, "weight": weight})
    funded(made, "runs", "product", 2)
    funded(made, "second", "alignment", 1, model="H100")
    submit_job(made, gpus(1, 8), name="a-job", budget="pretraining", min_runtime="1h")
    return made


@pytest.mark.parametrize(
    ("facts", "status", "words"),
    [
        ({"name": "7"}, 400, "not digits alone"),
        ({"name": "Train"}, 400, "Use up to 63 of a-z"),
        ({"name": "-x"}, 400, "a letter or digit first"),
        ({"name": "runs"}, 409, "There is a workload runs on this cluster already"),
        ({"budget": "product2"}, 404, "Did you mean product"),
        ({"budget": "research"}, 400, "Name one of alignment, pretraining"),
        ({"min_runtime_seconds": 8 * HOUR + 1}, 400, "at most 8 h are protected"),
        ({"model": "H900"}, 400, "No accelerator is called 'H900'"),
        ({"cluster": "other"}, 404, "no cluster 'other'"),
        ({"gpus": 0}, 400, "gpus: too small"),
        ({"replicas": 10**6}, 400, "replicas: too large"),
        ({"runtime_seconds": 0}, 400, "runtime_seconds: too small"),
        ({"kind": "service"}, 400, "kind: must be"),
        ({"colour": "red"}, 400, "colour: is not known here"),
    ],
)
def test_what_can_never_run_is_refused_at_once(shared: TestWorld, facts: Any, status: int, words: str) -> None:
    """FS-4: in words that say what to do; nothing is written."""
    before = shared.export()
    code, message = refused(shared, "POST", "workloads", json={"name": "new", "gpus": 1} | facts)
    assert (code, words in message) == (status, True), message
    assert shared.export() == before


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "workloads/nobody", None, 404, "no workload 'nobody'"),
        ("GET", "workloads/nobody/why?cluster=demo", None, 404, "on 'demo'"),
        ("POST", "workloads/a-job/cancel", None, 400, "is a job of Vertex AI's. Cancel projects/"),
        ("PATCH", "workloads/nobody", {"priority": 1}, 404, "no workload"),
        ("PATCH", "workloads/runs", {"priority": 10**7}, 400, "priority: too large"),
        ("GET", "decisions?after=1", None, 400, "Name the cluster"),
        ("GET", "decisions?workload=nobody", None, 404, "no workload"),
        ("GET", "decisions?kind=guess", None, 400, "must be"),
        ("GET", "fleets/nobody", None, 404, "no cluster 'nobody'"),
        ("PATCH", "fleets/demo", {"window_seconds": 60}, 400, "window is 60 s; it may be 3600 to 7.776e+06 s"),
        ("PATCH", "fleets/demo", {"longest_minimum_seconds": 9 * HOUR}, 400, "it may be 0 to 28800 s"),
        ("PATCH", "fleets/demo", {"tick": 60}, 400, "is not known here"),
        ("GET", "queue?limit=0", None, 400, "limit: too small"),
    ],
)
def test_other_refusals(shared: TestWorld, method: str, path: str, body: Any, status: int, words: str) -> None:
    code, message = refused(shared, method, path, json=body)
    assert (code, words in message) == (status, True), message


def test_a_name_is_a_workloads_for_ever(world: TestWorld) -> None:
    """CT-10: the ledger names it, also when it has ended."""
    fleet(world)
    submit(world, "once")
    world.control("POST", "workloads/once/cancel")
    world.advance(0)
    code, message = refused(world, "POST", "workloads", json={"name": "once", "gpus": 1})
    assert (code, "such as once-2" in message) == (409, True)
    for method, path, body in (("POST", "workloads/once/cancel", None), ("PATCH", "workloads/once", {"priority": 1})):
        code, message = refused(world, method, path, json=body)
        assert (code, "has ended (cancelled)" in message) == (409, True)


def test_cancelled_before_any_pass_it_never_starts(world: TestWorld) -> None:
    """FS-15: both are news of one pass."""
    fleet(world)
    world.control("POST", "workloads", json={"name": "brief", "gpus": 8})
    assert told(world, "brief")["status"] == "new"
    assert (why(world, "brief")["reason"], why(world, "brief")["as_of"]) == ("not-seen-yet", None)
    assert world.control("GET", "queue")["queue"][0]["reason"] == "not-seen-yet"
    world.control("POST", "workloads/brief/cancel")
    world.advance(0)
    assert told(world, "brief")["first_started"] is None
    assert told(world, "brief")["reason"] == "cancelled"


def test_a_cluster_is_named_when_there_are_several(world: TestWorld) -> None:
    fleet(world)
    world.sagemaker.create_cluster(**eks(gpu_group(1), name="other"))
    code, message = refused(world, "POST", "workloads", json={"name": "w", "gpus": 1})
    assert (code, "Name one by its ARN" in message) == (400, True)
    arn = world.describe("other")["ClusterArn"]
    for cluster in ("demo", arn):
        submit(world, "same", 1, cluster=cluster)
    assert "fits several workloads" in refused(world, "GET", "workloads/same")[1]
    assert told(world, "same", cluster=arn)["cluster_name"] == "other"
    assert why_of(world, "same", arn)["reason"] == "no-node"
    world.sagemaker.delete_cluster(ClusterName="other")
    assert "is Deleting" in refused(world, "POST", "workloads", json={"name": "x", "gpus": 1, "cluster": arn})[1]
    world.advance(hours=1)
    assert told(world, "same")["cluster_name"] == "demo"
    [gone] = world.control("GET", "workloads", params={"cluster": arn})["workloads"]
    assert (gone["status"], gone["reason"]) == ("ended", "fleet-gone")


def why_of(world: TestWorld, name: str, cluster: str) -> dict[str, Any]:
    found: dict[str, Any] = world.control("GET", f"workloads/{name}/why", params={"cluster": cluster})
    return found


def test_a_zone_or_a_model_that_no_node_has_is_told(world: TestWorld) -> None:
    """FS-10, FS-13."""
    fleet(world)
    zones = [node["Placement"]["AvailabilityZone"] for node in details(world)]
    submit(world, "here", 1, zone=zones[0])
    submit(world, "elsewhere", 1, zone="eu-north-1c")
    submit(world, "older", 1, model="A100-40GB")
    submit(world, "wide", 9)
    submit(world, "many", 8, replicas=2)
    reasons = {name: why(world, name)["reason"] for name in ("here", "elsewhere", "older", "wide", "many")}
    assert reasons == {
        "here": "runs",
        "elsewhere": "no-such-node",
        "older": "no-such-node",
        "wide": "replica-too-large",
        "many": "fleet-too-small",
    }
    assert why(world, "many")["earliest"] is None


def details(world: TestWorld) -> list[dict[str, Any]]:
    names = [node["InstanceId"] for node in world.nodes()]
    describe = world.sagemaker.describe_cluster_node
    return [describe(ClusterName="demo", NodeId=name)["NodeDetails"] for name in names]


def test_jobs_are_told_of_by_id_and_by_display_name(shared: TestWorld) -> None:
    """FS-13, VX-24."""
    [row] = shared.control("GET", "workloads", params={"budget": "pretraining"})["workloads"]
    assert (row["job_name"], row["status"], row["replicas"], row["gpus"]) == ("a-job", "waiting", 1, 8)
    for name in (row["workload"], "a-job"):
        found = why(shared, name)
        assert (found["workload"], found["reason"]) == (row["workload"], "gpus-protected")
        assert [one["budget"] for one in found["ratios"]] == ["research", "pretraining"]
    assert shared.control("GET", "queue", params={"budget": "research"})["queue"][0]["ahead"] == []


def test_lists_are_filtered(shared: TestWorld) -> None:
    def names(**params: Any) -> list[str]:
        rows = shared.control("GET", "workloads", params=params)["workloads"]
        return sorted(row["job_name"] or row["workload"] for row in rows)

    assert names() == ["a-job", "runs", "second"]
    assert names(status=["waiting", "held"]) == ["a-job", "second"]
    assert names(budget="product") == names(status="running") == ["runs"]
    assert names(status="ended") == names(cluster="other") == []
    assert len(names(limit=1)) == 1


def test_decisions_are_read_on_from_a_number(world: TestWorld) -> None:
    """FS-13."""
    fleet(world)
    for number in range(5):
        submit(world, f"w{number}", 1)
    rows = world.control("GET", "decisions", params={"cluster": "demo", "after": 0, "limit": 3})["decisions"]
    assert [row["number"] for row in rows] == [1, 2, 3]
    more = world.control("GET", "decisions", params={"cluster": "demo", "after": 3})["decisions"]
    assert [row["workload"] for row in more] == ["w3", "w4"]
    newest = world.control("GET", "decisions", params={"limit": 2})["decisions"]
    assert newest == more
    assert newest[0]["places"]
    assert newest[0]["facts"] == {"funded": False}


def test_the_command_line(world: TestWorld) -> None:
    """CT-11: every verb, as a table and as JSON."""
    fleet(world, 1, a=1, b=1)
    say(world, "workload", "submit", "first", "--gpus", "8", "--budget", "a", "--min-runtime", "2h")
    world.advance(0)
    ask(world, "workload", "submit", "second", "--gpus", "8", "--budget", "b", "--min-runtime", "30m")
    world.advance(0)
    table = say(world, "workload", "list")
    assert all(word in table for word in ("first", "second", "running", "waiting", "1 x 8"))
    assert [row["workload"] for row in ask(world, "workload", "list", "--status", "waiting")["workloads"]] == ["second"]
    assert "gpus-protected" in say(world, "why", "second")
    assert "ratio of b" in say(world, "why", "second", "--cluster", "demo")
    assert ask(world, "why", "second")["earliest"] == "2026-01-01T02:10:00.000Z"
    assert "places" in say(world, "workload", "show", "first")
    assert "decisions" in say(world, "workload", "show", "first")
    say(world, "workload", "priority", "second", "7")
    world.advance(0)
    assert ask(world, "workload", "show", "second")["priority"] == 7
    line = say(world, "queue", "--budget", "b")
    assert all(word in line for word in ("second", "gpus-protected", "demo", "2026-01-01T02:10"))
    world.advance(hours=2)
    text = say(world, "decisions", "--workload", "first")
    assert all(word in text for word in ("preempt", "fair-share", "victims first", "against a"))
    assert ask(world, "decisions", "--kind", "admit")["decisions"][0]["workload"] == "first"
    shown = say(world, "events", "--limit", "1")
    assert "Workload first leaves for second: fair-share." in shown
    say(world, "workload", "cancel", "second")
    with pytest.raises(Refused, match="no workload"):
        say(world, "workload", "cancel", "third")


def test_settings_of_a_fleet_by_command(world: TestWorld) -> None:
    """CT-10, CT-11."""
    fleet(world)
    assert ask(world, "fleet", "show", "demo")["as_of"] is None
    words = ("window=3d", "margin=0.02", "max_reservations=1", "sessions_only=yes", "tick=default")
    answer = ask(world, "fleet", "set", "demo", *words)
    assert answer["changed"] == ["window_seconds", "margin_millionths", "max_reservations", "sessions_only"]
    assert answer["policy"]["window_seconds"] == 3 * 24 * HOUR
    assert answer["policy"]["margin_millionths"] == 20_000
    assert "changed" in say(world, "fleet", "show", world.describe()["ClusterArn"])
    assert ask(world, "fleet", "set", "demo", "window=default")["changed"][0] == "margin_millionths"
    for wrong in ("window", "margin=much", "max_reservations=x"):
        done = CliRunner().invoke(app, ["fleet", "set", "demo", wrong, "--world", world.name, "--endpoint", world.base])
        assert done.exit_code == 2
