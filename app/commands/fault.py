"""`windtunnel fault`: rules by which things go wrong (CT-3)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands import completion as c
from app.commands import options as o
from app.commands.client import call, segment
from app.commands.durations import seconds as duration
from app.commands.files import read_object
from app.commands.output import show
from app.commands.watching import watched

app = typer.Typer(help="Rules by which things go wrong.", no_args_is_help=True)
Text = str | None
EFFECT = (
    "launch-capacity, launch-transient, launch-unhealthy, boot-slow, script-failed, script-hang; node-hardware, "
    "node-degraded, reboot-failed, terminate-failed; worker-exit, worker-oom, vm-maintenance, spot-preemption, "
    "stockout; internal-error; api-error, api-throttle, api-latency, api-drop"
)
OPERATION = (
    "Operation of the API, as CreateCluster: for internal-error and the api- effects; UpdateClusterSoftware for the "
    "scripts of software updates, StartClusterHealthCheck for faults that deep health checks find."
)
CODE = (
    "The error of api-error and api-throttle; before or after, of api-drop; the fault of node-hardware and "
    "node-degraded, as Xid-74; "
    "the reason of reboot-failed, terminate-failed and internal-error; the exit code of worker-exit, or transient: the "
    "worker is lost."
)
LENGTH = (
    "How much slower boot-slow is, 90 or 5m, else as the profile has it (60s; realistic 15m); how long a node runs "
    "until node-hardware or node-degraded, or a job's worker until what befalls it; how late the answer of "
    "api-latency is, in wall time, 200ms or 2s."
)


@app.command()
def add(
    effect: Annotated[str, typer.Argument(metavar="EFFECT", help=EFFECT, autocompletion=c.effects)],
    code: Annotated[Text, typer.Option("--code", help=CODE)] = None,
    message: Annotated[Text, typer.Option("--message", help="Text of api-error, api-throttle, internal-error.")] = None,
    operation: Annotated[Text, typer.Option("--operation", help=OPERATION)] = None,
    api: Annotated[Text, typer.Option("--api", help="sagemaker, ce, vertex, storage, logging: for api-.")] = None,
    account: Annotated[Text, typer.Option("--account", help="Twelve digits.")] = None,
    region: Annotated[Text, typer.Option("--region", help="As us-west-2.", autocompletion=c.regions)] = None,
    cluster: Annotated[Text, typer.Option("--cluster", help="Name or ARN.", autocompletion=c.clusters)] = None,
    group: Annotated[Text, typer.Option("--group", help="Instance group.")] = None,
    instance_type: Annotated[
        Text, typer.Option("--type", help="Instance type.", autocompletion=c.instance_types)
    ] = None,
    node: Annotated[Text, typer.Option("--node", help="Logical id; of a node that runs, also instance id.")] = None,
    attempt: Annotated[int | None, typer.Option("--attempt", min=1, help="A node's launch, or a job's try.")] = None,
    job: Annotated[Text, typer.Option("--job", help="A job's id or display name.")] = None,
    replica: Annotated[Text, typer.Option("--replica", help="A job's worker, as workerpool0-0.")] = None,
    times: Annotated[int | None, typer.Option("--times", min=1, help="At most so often.")] = None,
    probability: Annotated[
        float | None, typer.Option("--probability", min=0, max=1, help="Of each match; 1 if not given.")
    ] = None,
    every: Annotated[int | None, typer.Option("--every", min=1, help="Every n-th match.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="What chance is drawn from (the world's).")] = None,
    after: Annotated[Text, typer.Option("--after", metavar="INSTANT", help="Not before then.")] = None,
    before: Annotated[Text, typer.Option("--before", metavar="INSTANT", help="Not from then on.")] = None,
    seconds: Annotated[Text, typer.Option("--seconds", metavar="DURATION", help=LENGTH)] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Add a rule: EFFECT happens to what matches all that is given."""
    body: dict[str, Any] = {
        **{"effect": effect, "code": code, "message": message, "operation": operation, "api": api},
        **{"account": account, "region": region, "cluster": cluster, "group": group, "instance_type": instance_type},
        **{"node": node, "attempt": attempt, "job": job, "replica": replica},
        **{"times": times, "probability": probability, "every": every, "seed": seed},
        **{"after": after, "before": before, "seconds": duration(seconds) if seconds is not None else None},
    }
    show(call("POST", "faults", world=world, endpoint=endpoint, body=body), as_json=as_json)


@app.command()
def chaos(
    seed: Annotated[int, typer.Argument(metavar="SEED", min=0, help="The same one strikes the same things.")],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Let everyday trouble begin: rules of many kinds, drawn from SEED. `fault clear` ends it."""
    show(call("POST", "faults/chaos", world=world, endpoint=endpoint, body={"seed": seed}), as_json=as_json)


@app.command()
def replace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON or TOML: `rules`, a list; JSON may be the list.")],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Have the rules of FILE and no others: all of them, or nothing changes."""
    content = read_object(file, "list of rules")
    body = content if isinstance(content, dict) else {"rules": content}
    show(call("PUT", "faults", world=world, endpoint=endpoint, body={}, nullable=body), as_json=as_json)


@app.command("list")
@watched
def list_rules(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The rules, and how often each has hit."""
    show(call("GET", "faults", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def rm(
    rule: Annotated[str, typer.Argument(metavar="ID", help="As `fault list` has it.", autocompletion=c.rules)],
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """Remove one rule."""
    show(call("DELETE", f"faults/{segment(rule)}", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
def clear(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Remove every rule of the world."""
    show(call("DELETE", "faults", world=world, endpoint=endpoint), as_json=as_json)


@app.command()
@watched
def hits(
    rule: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Of one rule, as `fault list` has it.", autocompletion=c.rules)
    ] = None,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """What the rules have hit, of one rule or of all."""
    answer = call("GET", "faults/hits", world=world, endpoint=endpoint, params={"id": rule})
    show(answer, as_json=as_json)
