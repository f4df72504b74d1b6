"""What a shell proposes for a word: names of what the service has, and of what the catalogue knows (CT-11).

A completion never fails and never waits long: without a service there are no proposals.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

import typer

SECONDS = 1.0  # wall time that an answer may take
Proposals = list[tuple[str, str]]
"""Words, each with what it means."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script that completes words in a shell: eval "$(windtunnel completion bash)"."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    print(get_completion_script(prog_name="windtunnel", complete_var="_WINDTUNNEL_COMPLETE", shell=shell))


def _named(path: str, *kinds: str, names: tuple[str, ...] = ("name",), about: str = "") -> Callable[..., Proposals]:
    """Names of what GET `path` lists under `kinds`, in the world of the command line."""

    def propose(context: typer.Context) -> Proposals:
        answer = _asked(context, path)
        rows = (row for kind in kinds for row in answer.get(kind, ()))
        return _unique((str(row[name]), str(row.get(about, ""))) for row in rows for name in names if row.get(name))

    return propose


def _asked(context: typer.Context, path: str) -> dict[str, Any]:
    from app.commands.client import request, told
    from app.host.exports import world_endpoint

    given = context.params
    try:
        settings, base = told(given.get("endpoint"))
        there = world_endpoint(base, given.get("world") if path != "worlds" else "")
        answer: dict[str, Any] = request(settings, there, "GET", path, timeout=SECONDS)
    except Exception:  # no proposal is better than a trace in the middle of a line
        return {}
    return answer


def _unique(found: Iterable[tuple[str, str]]) -> Proposals:
    return list(dict(found).items())


def clusters(context: typer.Context) -> Proposals:
    """Those with GPUs, and those that have been billed."""
    fleets, bills = _asked(context, "fleets"), _asked(context, "bills?by=cluster")
    rows = [*fleets.get("fleets", ()), *bills.get("lines", ())]
    return _unique((row["cluster_name"], row.get("cluster_arn") or "") for row in rows if row.get("cluster_name"))


def fleets(context: typer.Context) -> Proposals:
    """Clusters with GPUs, and managed pools."""
    answer = _asked(context, "fleets")
    named = [(row["cluster_name"], row["gpu"]) for row in answer.get("fleets", ())]
    return _unique([*named, *((row["pool"], row["region"]) for row in answer.get("pools", ()))])


worlds = _named("worlds", "worlds", about="profile")
budgets = _named("budgets", "budgets", about="claim")
workloads = _named("workloads", "workloads", names=("workload",), about="status")
hosts = _named("hosts", "hosts", names=("node",), about="state")
rules = _named("faults", "rules", names=("id",), about="effect")
webhooks = _named("webhooks", "webhooks", names=("id",), about="url")
snapshots = _named("snapshots", "snapshots", about="at")
images = _named("images", "images", names=("version",))
alarms = _named("alarms", "alarms", about="state")
quotas = _named("quotas", "quotas")


def effects() -> Proposals:
    from app.core.effects import EFFECTS

    return [(name, effect.meaning.replace("`", "")) for name, effect in EFFECTS.items()]


def instance_types() -> Proposals:
    """Instance types of AWS, and machine types of Google."""
    from app import catalog

    return [(name, "") for name in (*catalog.instance_types(), *catalog.machine_types())]


def regions() -> Proposals:
    from app import catalog

    return [(name, "") for name in (*catalog.regions(), *catalog.vertex_regions())]


def gpu_models() -> Proposals:
    from app import catalog

    return [(name, "") for name in catalog.gpus()]


def policies() -> Proposals:
    from app.simulate.policies import POLICIES

    return [(name, "") for name in POLICIES]


def fleet_settings() -> Proposals:
    """Settings of a policy, with the sign that their value follows."""
    from dataclasses import asdict

    from app.core.scheduling.policy import Policy

    return [(f"{name}=", "") for name in asdict(Policy())]
