"""Where a demonstration plays: one world of one service, and the steps that it consists of."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.commands.client import Refused, Unreachable, request
from app.host.exports import world_endpoint
from app.settings import Settings

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PAGED = ("InstanceGroupName", "Status", "CurrentCount", "TargetCount", "MinCount")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done: why, the commands that do it, the rows that it showed, and what they mean."""

    act: str
    says: str
    commands: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    means: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


class Stage:
    """A world with a frozen clock, moved by the calls that the told commands make."""

    def __init__(self, settings: Settings, base: str, world: str) -> None:
        self._settings, self.base, self.world = settings, world_endpoint(base, ""), world
        self.endpoint = world_endpoint(base, world)

    def outside(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer of the control API outside any world. Raises Refused, Unreachable."""
        return request(self._settings, self.base, method, path, content=body)

    def control(
        self, method: str, path: str, body: dict[str, Any] | None = None, params: dict[str, Any] | None = None
    ) -> Any:
        """The answer of the control API in the world. Raises Refused, Unreachable."""
        return request(self._settings, self.endpoint, method, path, content=body, params=params, timeout=None)

    def advance(self, seconds: int) -> None:
        self.control("POST", "clock/advance", {"by": seconds})

    def sagemaker(self, operation: str, **members: Any) -> Any:
        """The answer of an operation of SageMaker's, sent unsigned. Raises Refused, Unreachable."""
        import httpx

        headers = {"X-Amz-Target": f"SageMaker.{operation}", "Content-Type": "application/x-amz-json-1.1"}
        try:
            with httpx.Client(trust_env=False, timeout=30.0) as client:
                answer = client.post(self.endpoint, content=json.dumps(members), headers=headers)
        except httpx.TransportError as error:
            raise Unreachable(f"no answer from {self.endpoint} ({error})") from None
        content = answer.json()
        if answer.is_error:
            why = content.get("message") or content.get("Message") or content
            raise Refused(f"{operation} was refused: {why}", answer.status_code)
        return content

    def groups(self, cluster: str) -> tuple[dict[str, Any], ...]:
        """The instance groups, as `aws_groups` shows them."""
        found = self.sagemaker("DescribeCluster", ClusterName=cluster)["InstanceGroups"]
        return tuple({name: one.get(name) for name in _PAGED} for one in found)


def aws(operation: str, **members: Any) -> str:
    """The command line of aws-cli that sends this request."""
    words = [_kebab(operation)]
    for name, value in members.items():
        written = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        words.append(f"--{_kebab(name)} {shlex.quote(written)}")
    return "aws sagemaker " + " ".join(words)


def aws_groups(cluster: str) -> str:
    """The command line that shows a cluster's groups."""
    query = f"InstanceGroups[].[{','.join(_PAGED)}]"
    return f"aws sagemaker describe-cluster --cluster-name {cluster} --query '{query}' --output table"


def _kebab(name: str) -> str:
    return _CAMEL.sub("-", name).lower()
