"""`windtunnel requests`, `events`, `attachments`, `metrics`: what the service has seen and said (CT-7)."""

import json
from contextlib import suppress
from typing import Annotated, Any

import typer

from app.commands import options as o
from app.commands.client import call, request, stream, told
from app.commands.output import as_json_text, show, table
from app.commands.watching import watched

Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most so many of the newest (100).")]


@watched
def requests(limit: Limit = None, world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The last requests in the world, the newest first; without bodies and keys."""
    show(call("GET", "requests", world=world, endpoint=endpoint, params={"limit": limit}), as_json=as_json)


@watched
def events(
    limit: Limit = None,
    cluster: o.Cluster = None,
    detail_type: Annotated[str | None, typer.Option("--detail-type", help="Of this type alone.")] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="Behind the event of this id, the oldest first; 0: all.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print each as it happens, until Ctrl-C.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The newest EventBridge envelopes, the oldest of them first.

    With --follow from now on, or behind --after; --json then writes one envelope a line.
    """
    params = {"detail-type": detail_type, "cluster": cluster, "after": after}
    if follow:
        with suppress(KeyboardInterrupt):
            for envelope in stream("events/stream", world=world, endpoint=endpoint, params=params):
                print(json.dumps(envelope, ensure_ascii=False) if as_json else _in_a_line(envelope), flush=True)
        return
    answer = call("GET", "events", world=world, endpoint=endpoint, params={"limit": limit} | params)
    if as_json:
        show(answer, as_json=True)
        return
    table([_in_short(one) for one in answer["events"]], empty="no events")


def _in_a_line(envelope: dict[str, Any]) -> str:
    time, *others = _in_short(envelope).values()
    return f"{time}  {'  '.join(str(each) for each in others if each is not None)}"


def _in_short(envelope: dict[str, Any]) -> dict[str, Any]:
    """An envelope as one row; --json has all of it."""
    detail = envelope["detail"]
    event, health = detail.get("EventDetails", {}), detail.get("HealthSummary", {})
    texts = (event.get("Description"), detail.get("FailureMessage"), health.get("HealthStatusReason"))
    return {
        "time": envelope["time"],
        "detail_type": envelope["detail-type"].removeprefix("SageMaker HyperPod "),
        "cluster": event.get("ClusterName") or detail.get("ClusterName"),
        "group": event.get("InstanceGroupName"),
        "instance": event.get("InstanceId") or detail.get("InstanceId"),
        "status": event.get("EventLevel") or detail.get("ClusterStatus") or health.get("HealthStatus"),
        "what": next(filter(None, (*texts, detail.get("Message"))), None),
    }


@watched
def attachments(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """Volumes and network interfaces on nodes, with their present statuses."""
    answer = call("GET", "attachments", world=world, endpoint=endpoint)
    if as_json:
        show(answer, as_json=True)
        return
    rows = [{**row, "what": row.get("volume") or row["interface"]} for kind in answer.values() for row in kind]
    columns = ("what", "status", "cluster", "node", "device", "attached_at")
    table(rows, columns, empty="nothing is attached")


def metrics(world: o.World = None, endpoint: o.Endpoint = None, as_json: o.Json = False) -> None:
    """The service's Prometheus metrics; with --json as a list of samples."""
    from app.host.exports import world_endpoint

    settings, base = told(endpoint)
    text = request(settings, world_endpoint(base, world), "GET", "metrics", text=True)
    if as_json:
        print(as_json_text({"metrics": _samples(text)}))
    else:
        print(text, end="")


def _samples(text: str) -> list[dict[str, Any]]:
    from prometheus_client.parser import text_string_to_metric_families

    families = text_string_to_metric_families(text)
    return [
        {"name": sample.name, "labels": sample.labels, "value": sample.value}
        for family in families
        for sample in family.samples
    ]
