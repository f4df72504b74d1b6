"""Clients that are no boto3, each behind the same two verbs: call an operation, and walk its pages."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

from tests.kit import TestWorld

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
INSTALLED = ROOT / ".clients"
"""Where `make clients` puts what these tests need."""
PATIENCE = 120.0
"""Wall seconds for one step; only a failure waits so long."""


class Refused(Exception):
    """What the client made of an error answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Driver(Protocol):
    """One client, pointed at one world."""

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        """The answer of `CreateCluster` and its like. Raises Refused."""

    def pages(self, operation: str, size: int, **request: Any) -> list[Any]:
        """All that the client's own paginator finds, `size` a page."""

    def close(self) -> None:
        """Let go of what it holds."""


class JavaScript:
    """The AWS SDK for JavaScript v3 in a process of node."""

    def __init__(self, world: TestWorld) -> None:
        self._node = subprocess.Popen(
            ["node", "--no-deprecation", str(HERE / "sdk.mjs"), str(INSTALLED), world.endpoint],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(world),
            text=True,
        )

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self._ask(operation=operation, input=request)

    def pages(self, operation: str, size: int, **request: Any) -> list[Any]:
        return [one for page in self._ask(operation=operation, input=request, size=size) for one in page]

    def _ask(self, **told: Any) -> Any:
        assert self._node.stdin
        assert self._node.stdout
        self._node.stdin.write(json.dumps(told) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        if "error" in answer:
            assert 400 <= answer["error"]["status"] < 500, answer
            raise Refused(answer["error"]["code"], answer["error"]["message"])
        return answer["output"]

    def close(self) -> None:
        assert self._node.stdin
        assert self._node.stdout
        self._node.stdin.close()
        self._node.wait(PATIENCE)
        self._node.stdout.close()


class CommandLine:
    """`aws` version 1: a process for each call."""

    def __init__(self, world: TestWorld) -> None:
        self._environment = environment(world)
        self._aws = str(Path(sys.executable).parent / "aws")

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self._run(operation, request, "--no-paginate")

    def pages(self, operation: str, size: int, **request: Any) -> list[Any]:
        (found,) = (value for value in self._run(operation, request, "--page-size", str(size)).values())
        return list(found)

    def _run(self, operation: str, request: dict[str, Any], *options: str) -> dict[str, Any]:
        words = [self._aws, "sagemaker", dashed(operation), "--cli-input-json", json.dumps(request), *options]
        ran = subprocess.run(words, env=self._environment, capture_output=True, text=True, timeout=PATIENCE)
        refused = ran.stderr.partition("An error occurred (")[2]
        if ran.returncode == 255 and refused:
            code, _, message = refused.partition(")")
            raise Refused(code, message)
        assert ran.returncode == 0, ran.stderr
        answer: dict[str, Any] = json.loads(ran.stdout) if ran.stdout.strip() else {}
        return answer

    def close(self) -> None:
        """Nothing is held."""


def dashed(operation: str) -> str:
    """`CreateCluster` as the command line has it."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in operation).lstrip("-")


def environment(world: TestWorld) -> dict[str, str]:
    """What points any client of AWS at the world, and at nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "WINDTUNNEL_"))}
    return kept | {
        "AWS_ENDPOINT_URL": world.endpoint,
        "AWS_ACCESS_KEY_ID": "111122223333",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_REGION": "us-west-2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_PAGER": "",
    }
