"""Every verb: its examples run, it asks the routes that are told, its JSON is as its schema says, and it fails with the
right code (CT-11)."""

import json
import re
import shlex
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
import typer
from typer.testing import CliRunner, Result

from app.cli import app
from app.commands.exits import reporting
from scripts.commands import TOLD, Verb, routes, routes_without_verbs, tomllib, unknown_verbs, verbs
from tests.commands.conftest import COMMAND
from tests.kit import Running, TestWorld, eks, group, slurm, workers
from tests.scenarios.test_managed_pools import POOL, quota, work

ROOT = Path(__file__).parents[2]
SCHEMAS = json.loads((ROOT / "openapi" / "cli.json").read_text())
COMMANDS = tomllib.loads(TOLD.read_text())
VERBS = list(verbs(COMMANDS))
ANSWERING = [verb for verb in VERBS if "none" not in verb.told]
ASKING = [verb for verb in VERBS if verb.routes and verb.words != "env"]  # `env` needs no service
ELSEWHERE = {"demo", "migrate", "simulate"}  # no world's: run below
NOT_SHOWN = {"GET /events/stream"}  # tests/commands/test_watching.py follows it


class Answering(BaseHTTPRequestHandler):
    """Somebody who answers everything in one way: (status, type, body)."""

    answer: tuple[int, str, bytes] = (200, "text/html", b"")

    def _say(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        status, kind, body = self.answer
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _say  # noqa: N815

    def log_message(self, *said: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def stranger() -> Iterator[str]:
    """The address of somebody who is no Windtunnel, or one whose database is away."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@dataclass
class Stage:
    """A world in which something of every kind is there, and the words that name it in examples."""

    world: TestWorld
    names: dict[str, str]


@pytest.fixture(scope="module")
def stage(service: Running, stranger: str) -> Stage:
    world = service.world()
    world.sagemaker.create_cluster(**eks(group("gpu", 2, InstanceType="ml.p5.48xlarge")))
    world.sagemaker.create_cluster(**slurm(workers(1), name="batch"))
    world.advance(hours=1)
    tree = [{"name": name, "weight": 2} for name in ("team-a", "team-b", "spare", "lab")]
    world.control("PUT", "budgets", json={"budgets": tree})
    for name in ("first", "second"):
        wanted = {"name": name, "gpus": 8, "replicas": 2, "budget": "team-a", "cluster": "demo"}
        world.control("POST", "workloads", json={**wanted, "min_runtime_seconds": 3600})
    quota(world, 16)
    job = work(world, "team-b", 1, name="train")
    world.advance(minutes=30)
    webhook = world.control("POST", "webhooks", json={"url": f"{stranger}/hook"})["id"]
    world.control("POST", "snapshots", json={"name": "early"})
    world.control("POST", "images", json={"version": "8.0.0", "security": False})
    hosts = [host["node"] for host in world.control("GET", "hosts", params={"cluster": "demo"})["hosts"]]
    names = {"NODE": hosts[0], "JOB": job.rpartition("/")[2], "RULE": world.fault("boot-slow"), "WEBHOOK": webhook}
    return Stage(world, {**names, "POOL": POOL})


@pytest.fixture
def fork(verb: Verb, stage: Stage, service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The stage, or a copy for a verb that changes it, in a folder with the files that examples name."""
    monkeypatch.chdir(tmp_path)
    if all(route.startswith("GET ") for route in verb.routes):
        return Stage(stage.world, {**stage.names, "MAIN": stage.world.name})
    name = f"{stage.world.name}-{verb.words.replace(' ', '-')}"
    world = TestWorld(service.base, name)
    service.worlds.append(world)
    made = {"name": name, "fork_of": stage.world.name}
    assert httpx.post(f"{service.base}/_windtunnel/worlds", json=made, timeout=60).is_success
    world.control("POST", "snapshots", json={"name": "early"})
    if verb.words.startswith("webhook"):  # they are not copied
        url = stage.world.control("GET", "webhooks")["webhooks"][0]["url"]
        world.control("POST", "webhooks", json={"url": url})
    (tmp_path / "world.json").write_bytes(stage.world.export())
    (tmp_path / "seed.toml").write_text("[[capacity]]\ninstance_type = 'ml.p5.48xlarge'\ntotal = 4\n")
    (tmp_path / "rules.toml").write_text("[[rules]]\neffect = 'boot-slow'\nseconds = 5\n")
    (tmp_path / "budgets.toml").write_text(
        "".join(f"[[budgets]]\nname = '{name}'\nweight = 1\n" for name in ("team-a", "team-b"))
    )
    (tmp_path / "slurm.conf").write_text("# mine\n")
    return Stage(world, {**stage.names, "MAIN": name})


def words_of(example: str, stage: Stage, *, new: str) -> list[str]:
    names = {**stage.names, "NEW": new}
    return [names.get(word, word) for word in shlex.split(example)]


def where(verb: Verb, words: list[str], stage: Stage) -> list[str]:
    """The options that lead to the stage, as far as the verb takes them and they are not given."""
    taken = {parameter.name for parameter in verb.command.params}
    found = ["--endpoint", stage.world.base] if "endpoint" in taken else []
    return found + (["--world", stage.world.name] if "world" in taken and "--world" not in words else [])


@dataclass
class Wire:
    """Every request that a verb has made, as method and path, and its answer; what was answered can be said again."""

    asked: list[tuple[str, str]]
    answers: list[httpx.Response]
    again: bool = False


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    found = Wire([], [])
    request = httpx.Client.request

    def noted(client: httpx.Client, method: str, url: Any, **given: Any) -> httpx.Response:
        if found.again:
            return found.answers.pop(0)
        answer = request(client, method, url, **given)
        if client.trust_env is False:  # a verb's client, not a test's
            path = re.sub(r"^http://[^/]+(/w/[^/]+)?/_windtunnel", "", str(url)).partition("?")[0]
            found.asked.append((method, path))
            found.answers.append(answer)
        return answer

    monkeypatch.setattr(httpx.Client, "request", noted)
    return found


def route_of(method: str, path: str) -> str:
    """The route that a request means: the one with the most words of its own."""
    fitting = [
        route
        for route in routes()
        if re.fullmatch(re.sub(r"\{[^}]+\}", "[^ ]+", route).replace(".", r"\."), f"{method} {path}")
    ]
    return max(fitting, key=lambda route: len(re.sub(r"\{[^}]+\}", "", route)))


def validate(verb: Verb, document: Any) -> None:
    schema = {**SCHEMAS["verbs"][verb.words], "$defs": SCHEMAS["$defs"]}
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize(
    "verb", [verb for verb in ANSWERING if verb.words not in ELSEWHERE], ids=lambda verb: verb.words
)
def test_each_verb_does_as_its_examples_say(verb: Verb, fork: Stage, wire: Wire) -> None:
    """CT-11: as JSON, which is what the schema says, and in words for the same answers; and it asks no other route than
    is told."""
    if verb.words == "host resume":
        fork.world.control("POST", f"hosts/{fork.names['NODE']}/drain", json={})
    for number, example in enumerate(verb.told["examples"]):
        words = words_of(example, fork, new=f"{fork.world.name}-{number}")
        line = [*words, *where(verb, words, fork)]
        if "--python" not in words:
            ended(verb, ran := CliRunner().invoke(app, [*line, "--json"]))
            validate(verb, json.loads(ran.stdout))
        wire.again = verb.words not in ("doctor", "ready") and "--python" not in words
        ended(verb, CliRunner().invoke(app, line))
        assert wire.answers == [] or not wire.again
        wire.again = False
    assert {route_of(*each) for each in wire.asked} == set(verb.routes) - NOT_SHOWN


def ended(verb: Verb, ran: Result) -> None:
    """It ended as it should: no worker runs here, and the machine may have leftovers."""
    told = f"{ran.output} {ran.exception!r}"
    if verb.words == "ready":
        assert type(ran.exception).__name__ == "NotReady", told
    elif verb.words != "doctor":
        assert ran.exit_code == 0, told
    assert ran.stdout.strip(), told


def test_the_schema_is_current() -> None:
    """CT-11: every verb that answers has one; every other has a reason."""
    assert set(SCHEMAS["verbs"]) == {verb.words for verb in ANSWERING}
    assert set(SCHEMAS["without"]) == {verb.words for verb in VERBS} - set(SCHEMAS["verbs"])
    takes_json = {
        verb.words for verb in VERBS if any(p.name == "as_json" and not p.hidden for p in verb.command.params)
    }
    assert takes_json == set(SCHEMAS["verbs"])


def test_a_route_without_a_verb_is_noticed() -> None:
    """CT-11: by the check that `make check` runs."""
    lacking = [verb for verb in VERBS if verb.words != "clock advance"]
    assert routes_without_verbs(VERBS, COMMANDS) == []
    assert routes_without_verbs(lacking, COMMANDS) == [
        "no verb asks POST /clock/advance, and commands.toml has no reason why"
    ]
    fewer = {name: told for name, told in COMMANDS["verbs"].items() if name != "why"}
    assert unknown_verbs(list(verbs({"verbs": fewer})), {"verbs": fewer}) == [
        "commands.toml does not tell of `windtunnel why`"
    ]


def test_every_option_and_every_verb_has_a_help() -> None:
    """CT-11."""
    assert [verb.words for verb in VERBS if not verb.command.help] == []
    silent = [
        f"{verb.words} {parameter.name}"
        for verb in VERBS
        for parameter in verb.command.params
        if not parameter.hidden and not parameter.help
    ]
    assert silent == []
    root: Any = typer.main.get_command(app)
    assert [name for name, command in root.commands.items() if not command.rich_help_panel] == []


AWAY = {"error": {"code": "ServiceUnavailable", "message": "The database did not answer in time."}}
ENDS: dict[str, tuple[int, str, tuple[int, str, bytes] | None]] = {
    "nobody": (3, "windtunnel up", None),
    "a page": (1, "no Windtunnel", (404, "text/html", b"<html>not here</html>")),
    "another API": (1, "no Windtunnel", (200, "application/json", b"[]")),
    "no database": (5, "windtunnel doctor", (503, "application/json", json.dumps(AWAY).encode())),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("verb", ASKING, ids=lambda verb: verb.words)
def test_each_verb_fails_with_the_right_code(
    verb: Verb,
    end: str,
    stranger: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """CT-11: one sentence with the next step, and never a trace."""
    code, said, answer = ENDS[end]
    if verb.words == "metrics" and end == "another API":
        pytest.skip("the answer is text, whoever gives it")
    if verb.words == "ready" and end == "no database":
        code, said = 3, "not ready"
    for name in ("world.json", "seed.toml", "rules.toml", "budgets.toml", "slurm.conf"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    if answer is not None:
        monkeypatch.setattr(Answering, "answer", answer)
    names = dict.fromkeys(("NODE", "JOB", "RULE", "WEBHOOK", "POOL", "MAIN"), "x")
    words = [{**names, "NEW": "x"}.get(word, word) for word in shlex.split(verb.told["examples"][0])]
    endpoint = "http://127.0.0.1:1" if answer is None else stranger
    with pytest.raises(SystemExit) as ended:
        reporting(lambda: COMMAND([*words, "--endpoint", endpoint], prog_name="windtunnel"))
    told = capsys.readouterr()
    assert (ended.value.code, "Traceback" in told.err) == (code, False), told.err
    assert said in told.err
    assert len(told.err.strip().splitlines()) == 1, told.err


def test_simulate_and_migrate_answer_as_told(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-11."""
    monkeypatch.setenv("WINDTUNNEL_DATABASE_URL", dsn)
    for verb in VERBS:
        if verb.words in ("simulate", "migrate"):
            ran = CliRunner().invoke(app, [*shlex.split(verb.told["examples"][0]), "--json"], catch_exceptions=False)
            assert ran.exit_code == 0, ran.output
            validate(verb, json.loads(ran.stdout))


@pytest.mark.parametrize("shell", ["completion bash", "completion zsh", "completion fish"])
def test_the_scripts_of_shells_are_examples(shell: str) -> None:
    assert shell in COMMANDS["verbs"]["completion"]["examples"]
