"""Secrets are in nothing that the service says or keeps (RL-28): canaries are planted, and looked for everywhere."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from app.service import compose
from app.settings import Settings
from app.wire.control.application import application
from app.wire.control.document import document
from tests.kit import login, slurm, workers

CANARIES = {
    "the secret key of AWS": "canary-secret-key-4711",
    "the control token": "canary-control-token-4712",
    "the database's password": "canary-password-4713",
    "a webhook's secret": "canary-webhook-secret-4714",
    "a secret key that is wrong": "canary-wrong-key-4715",
    "a control token that is wrong": "canary-wrong-token-4716",
    "a session token": "canary-session-token-4717",
}
SECRET, TOKEN, PASSWORD, HOOK, WRONG_KEY, WRONG_TOKEN, SESSION = CANARIES.values()
BEARER = {"authorization": f"Bearer {TOKEN}"}


class Heard:
    """All that was heard from the service, by what was asked."""

    def __init__(self, base: str) -> None:
        self.base, self.texts = base, dict[str, str]()

    def ask(self, method: str, path: str, headers: dict[str, str] = BEARER, **kwargs: Any) -> None:
        with httpx.stream(method, self.base + path, headers=headers, timeout=60, **kwargs) as answer:
            begin = "" if "event-stream" in answer.headers.get("content-type", "") else answer.read().decode()
            self.texts[f"{method} {path} {len(self.texts)}"] = f"{answer.status_code} {answer.headers} {begin}"

    def aws(self, secret: str, session: str | None = None) -> Any:
        return boto3.session.Session().client(
            "sagemaker",
            endpoint_url=self.base,
            region_name="us-west-2",
            aws_access_key_id="AKIDCANARY",
            aws_secret_access_key=secret,
            aws_session_token=session,
            config=Config(retries={"total_max_attempts": 1}),
        )


@pytest.fixture
def heard(fresh: str, tmp_path: Path) -> Iterator[Heard]:
    """The whole service as `up` starts it, with every secret that it can have; its log is heard too, at the end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WINDTUNNEL_", "AWS_"))}
    environment |= {
        "WINDTUNNEL_DATABASE_URL": fresh.replace("@", f":{PASSWORD}@", 1),
        "WINDTUNNEL_CONTROL_TOKEN": TOKEN,
        "WINDTUNNEL_ACCESS_KEYS": f"AKIDCANARY:{SECRET}",
        "WINDTUNNEL_AUTH": "verify",
        "WINDTUNNEL_LOG_LEVEL": "debug",
        "WINDTUNNEL_LOG_FORMAT": "json",
    }
    log = tmp_path / "log"
    with log.open("w") as file:
        command = [sys.executable, "-m", "app.cli", "up", "--json", "--port", "0", "--frozen"]
        child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=file, text=True)
    try:
        assert child.stdout
        banner = child.stdout.readline()
        found = Heard(json.loads(banner)["endpoint"])
        found.texts["banner"] = banner
        tool = environment | {"WINDTUNNEL_ENDPOINT": found.base}
        for verb in (["status", "--json"], ["status"], ["doctor"], ["requests"], ["metrics"], ["world", "list"]):
            done = subprocess.run(
                [sys.executable, "-m", "app.cli", *verb], env=tool, capture_output=True, text=True, check=False
            )
            found.texts[" ".join(verb)] = done.stdout + done.stderr
        yield found
    finally:
        child.terminate()
        rest, _ = child.communicate(timeout=60)
    found.texts |= {"stdout": rest, "log": log.read_text()}
    assert found.texts["log"], "a log that is empty would say nothing"
    hits = [(what, where) for what, canary in CANARIES.items() for where in found.texts if canary in found.texts[where]]
    assert hits == []


def use_aws(heard: Heard) -> None:
    """Good and bad signatures."""
    client = heard.aws(SECRET)
    heard.texts["created"] = str(client.create_cluster(**slurm(login(), workers(2))))
    client.close()
    for secret, session in ((WRONG_KEY, None), (SECRET, SESSION)):
        client = heard.aws(secret, session)
        with pytest.raises(ClientError) as refused:
            client.describe_cluster(ClusterName="demo")
        heard.texts[f"refused {secret}"] = str(refused.value.response)
        client.close()


def use_control(heard: Heard) -> None:
    """Every route with the token and without; bodies that are refused; a snapshot and an import."""
    ask = heard.ask
    ask("POST", "/_windtunnel/clock/advance", json={"by": 3600})
    ask("POST", "/_windtunnel/snapshots", json={"name": "s"})
    ask("POST", "/_windtunnel/webhooks", json={"url": "http://127.0.0.1:9/", "secret": HOOK})
    ask("POST", "/_windtunnel/webhooks", json={"url": "http://192.0.2.1/", "secret": HOOK, "bogus": 1})
    for wrong in (f"Bearer {WRONG_TOKEN}", f"Basic {WRONG_TOKEN}", WRONG_TOKEN):
        ask("GET", "/_windtunnel/status", headers={"authorization": wrong, "x-windtunnel-token": WRONG_TOKEN})
    ask("POST", "/_windtunnel/faults", content=b"{", headers=BEARER | {"content-type": "application/json"})
    ask("POST", "/_windtunnel/faults", json={"effect": 7})
    routes = document(application(compose(Settings(), "secrets")).routes)["paths"]
    for path in (path for path, methods in routes.items() if "get" in methods):
        if not path.endswith("/stream"):  # it never ends, and says what `events` says
            ask("GET", re.sub("{[^}]*}", "main", path))
            ask("GET", re.sub("{[^}]*}", "wh-1" if "webhook" in path else "1", path))
    ask("POST", "/_windtunnel/snapshots/s/restore")
    exported = heard.texts[next(name for name in heard.texts if name.startswith("GET /_windtunnel/worlds/main/export"))]
    content = exported[exported.index('{"format"') :].encode()
    headers = BEARER | {"content-type": "application/json"}
    ask("POST", "/_windtunnel/worlds/import?name=again", content=content, headers=headers)
    ask("GET", "/_windtunnel/worlds/again/export")
    ask("GET", "/_windtunnel/requests")


@pytest.mark.timeout(120)
def test_canaries_are_found_nowhere(heard: Heard) -> None:
    """RL-28: 0 hits in logs, request log, errors, metrics, status, banner, snapshots and exports."""
    use_aws(heard)
    use_control(heard)
    statuses = {name: text[:3] for name, text in heard.texts.items() if "/worlds/" in name or "/snapshots" in name}
    assert "201" in statuses.values()
    assert [name for name in heard.texts if name.startswith("POST /_windtunnel/worlds/import")]
