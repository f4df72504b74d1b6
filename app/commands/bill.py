"""`windtunnel bill`: what ran, from when to when, and what it cost (CT-6)."""

import csv
import sys
from typing import Annotated, Any, Literal

import typer

from app.commands import options as o
from app.commands.client import call
from app.commands.output import dollars, show, table
from app.commands.watching import watched

COLUMNS = ("cluster_name", "job_name", "budget", "group", "instance_id", "instance_type", "began", "ended", "seconds")
PRICES = ("usd_per_hour", "usd", "price_evidence")
INTERVAL = ("began", "ended", "seconds", *PRICES)
FEE = ("training_plan", "extension", "instance_type", "instances", "charged", "usd", "price_evidence")
NESTED = ("intervals", "workloads")
By = Literal["instance", "group", "type", "account", "cluster", "job", "budget"]


@watched
def bill(
    cluster: o.Cluster = None,
    job: Annotated[str | None, typer.Option("--job", metavar="NAME|ID", help="Jobs of this name or id.")] = None,
    by: Annotated[By | None, typer.Option("--by", help="What a line is about.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="INSTANT", help="From then on; as 2026-01-31T12:00:00Z.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="INSTANT", help="Until then.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="One line as one row, amounts in micro-dollars.")] = False,
    intervals: Annotated[bool, typer.Option("--intervals", help="Open each line into its intervals.")] = False,
    world: o.World = None,
    endpoint: o.Endpoint = None,
    as_json: o.Json = False,
) -> None:
    """The bill so far. A node's begins with the lifecycle script and ends when termination begins; a job's worker's is
    from the start of its machine to its stop."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json exclude each other: keep one of them")
    params: dict[str, Any] = {"cluster": cluster, "job": job, "by": by, "from": start, "to": end}
    params["intervals"] = "true" if intervals else None
    answer = call("GET", "bills", world=world, endpoint=endpoint, params=params)
    if as_json:
        show(answer, as_json=True)
    elif as_csv:
        _write_csv(answer["lines"], answer.get("upfront", []))
    else:
        _print(answer)


def _print(answer: dict[str, Any]) -> None:
    lines = answer["lines"]
    rows = [_row(line) for line in lines]
    columns = [name for name in (*COLUMNS, *PRICES) if any(row.get(name) is not None for row in rows)]
    table(rows, columns, empty="nothing has been billed")
    for line in lines:
        if line.get("intervals"):
            table([_row(each) for each in line["intervals"]], INTERVAL, title=_about(line))
        if line.get("workloads"):
            table([_part(each) for each in line["workloads"]], title=f"of {line['cluster_name']}, by GPU-time")
    print(f"total {dollars(answer['total_micro_usd'])} {answer['currency']} as of {answer['as_of']}")
    if fees := answer.get("upfront", []):
        table([_fee(fee) for fee in fees], FEE, title="training plans, paid upfront and in no total")
        print(f"upfront {dollars(sum(fee['micro_usd'] for fee in fees))} {answer['currency']}")


def _fee(fee: dict[str, Any]) -> dict[str, Any]:
    return {**fee, "training_plan": fee["training_plan_arn"].rpartition("/")[2], "usd": dollars(fee["micro_usd"])}


def _part(part: dict[str, Any]) -> dict[str, Any]:
    """A job's or a budget's part of a line, or what was idle, with dollars for micro-dollars."""
    return {
        "workload": "idle" if part["idle"] else part["job_name"] or part["budget"] or "no budget",
        "budget": part["budget"] if part["job_name"] else None,
        "gpu_hours": f"{part['gpu_milliseconds'] / 3_600_000:.3f}",
        "usd": dollars(part["micro_usd"]),
    }


def _row(line: dict[str, Any]) -> dict[str, Any]:
    """The line with dollars for micro-dollars; no end yet shows as `running`."""
    row = {name: value for name, value in line.items() if name not in (*NESTED, "micro_usd")}
    rate, length = row.pop("micro_usd_per_hour", None), row.pop("milliseconds", None)
    if row.get("started"):
        row["began"] = row.pop("started")
        row["ended"] = row.get("ended") or "running"
    row["seconds"] = None if length is None else f"{length / 1000:.3f}".rstrip("0").rstrip(".")
    row["usd_per_hour"] = None if rate is None else dollars(rate)
    row["usd"] = dollars(line["micro_usd"])
    return row


def _about(line: dict[str, Any]) -> str:
    names = (line.get(name) for name in ("cluster_name", "job_name", "group", "instance_id"))
    return "intervals of " + " ".join(name for name in names if name)


def _write_csv(lines: list[dict[str, Any]], fees: list[dict[str, Any]]) -> None:
    """The lines, then the fees of training plans, which have `charged` instead of a time that ran."""
    rows = [*lines, *fees]
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in NESTED]
    writer = csv.DictWriter(sys.stdout, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
