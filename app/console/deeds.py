"""What was done from the console, told as the command line and the Python that do the same."""

import json
import shlex
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.core.scope import DEFAULT_WORLD

MOST = 500
_STEP = "    "
WIDTH = 110
"""Characters; what is longer is told on several lines."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action: its title, how else to do it, and what came of it (None: it is under way)."""

    title: str
    command: str
    python: str
    outcome: str | None = None
    failed: bool = False


class Deeds:
    """The newest actions of this process, by the number that a page's address names."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], Deed] = OrderedDict()
        self._last = 0

    def add(self, world: str, deed: Deed) -> int:
        """Keep it; its number."""
        self._last += 1
        self._kept[world, self._last] = deed
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return self._last

    def end(self, world: str, number: int, outcome: str, *, failed: bool) -> None:
        """Say what came of it."""
        if (deed := self._kept.get((world, number))) is not None:
            self._kept[world, number] = replace(deed, outcome=outcome, failed=failed)

    def of(self, world: str, number: str) -> Deed | None:
        """The action of that number, if it is still kept."""
        return self._kept.get((world, int(number))) if number.isascii() and number.isdecimal() else None


def command_line(world: str, *words: str) -> str:
    """`windtunnel WORDS…` for the world."""
    where = () if world == DEFAULT_WORLD else ("--world", world)
    return shlex.join(("windtunnel", *words, *where))


def aws_line(endpoint: str, region: str, operation: str, **members: Any) -> str:
    """The operation by aws-cli; `operation` is its name there, as `update-cluster`."""
    parts = [f"aws sagemaker {operation} --endpoint-url {endpoint} --region {region}"]
    parts += [f"--{_dashed(name)} {_argument(value)}" for name, value in members.items()]
    line = " ".join(parts)
    return line if len(line) <= WIDTH else " \\\n  ".join(parts)


def boto3_lines(endpoint: str, region: str, account: str, operation: str, **members: Any) -> str:
    """The operation by boto3; `operation` is its method's name. The access key is the account."""
    client = (
        f'sagemaker = boto3.client("sagemaker", endpoint_url={json.dumps(endpoint)}, region_name="{region}",\n'
        f'                         aws_access_key_id="{account}", aws_secret_access_key="test")'
    )
    given = [f"{name}={_python(value, _STEP)}" for name, value in members.items()]
    return f"import boto3\n\n{client}\nsagemaker.{operation}" + _enclosed("(", given, ")", "")


def httpx_lines(endpoint: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> str:
    """A request of the control API; `path` is what comes after `/_windtunnel/`."""
    given = "" if body is None else f", json={_python(body)}"
    return f'import httpx\n\nhttpx.{method.lower()}("{endpoint}/_windtunnel/{path}"{given}).raise_for_status()'


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).strip("-")


def _argument(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _python(value: Any, indent: str = "") -> str:
    """A literal, its texts in double quotes; on several lines if it is long."""
    if isinstance(value, Mapping):
        parts = [f"{_python(name)}: {_python(each, indent + _STEP)}" for name, each in value.items()]
        return _enclosed("{", parts, "}", indent)
    if isinstance(value, list | tuple):
        return _enclosed("[", [_python(each, indent + _STEP) for each in value], "]", indent)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _enclosed(first: str, parts: Sequence[str], last: str, indent: str) -> str:
    line = f"{first}{', '.join(parts)}{last}"
    if len(indent) + len(line) <= WIDTH - 20 and "\n" not in line:
        return line
    inside = "".join(f"{indent}{_STEP}{part},\n" for part in parts)
    return f"{first}\n{inside}{indent}{last}"
