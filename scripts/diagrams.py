"""Draw docs/state-machines.md from the code: the tables that move nodes and workers, and the statuses computed from
facts.

`python -m scripts.diagrams` writes it, `--check` fails when it is not current.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.core.cluster import Cluster, Group, cluster_status, group_status
from app.core.job import FINAL, Job, JobState, state
from app.core.lifecycle import Stage
from app.core.node import STAGES, Node, vendor_status
from app.core.replica import STAGES as WORKER_STAGES
from app.core.replica import Worker
from app.core.times import EPOCH
from scripts import settle

TARGET = Path(__file__).parent.parent / "docs" / "state-machines.md"
Facts = Mapping[str, Any]
Rule = tuple[str, Callable[[Facts], bool], str]
"""What is asked of the facts, the answer, and the status if it is yes. The first yes decides."""

JOB_MARKS = ("told", "cancel_at", "admitted_at", "running_at")
JOB_RULES: Sequence[Rule] = (
    ("its outcome is told", lambda f: f["told"], "SUCCEEDED, FAILED or CANCELLED"),
    ("its end was asked for", lambda f: f["cancel_at"], "CANCELLING"),
    ("it has no place in its fleet", lambda f: not f["admitted_at"], "QUEUED"),
    ("not all workers of this attempt have been up", lambda f: not f["running_at"], "PENDING"),
    ("otherwise", lambda _: True, "RUNNING"),
)
MARKS = ("delete_requested_at", "failed_at", "rolling_back_at", "in_service_at", "min_since")
CLUSTER_RULES: Sequence[Rule] = (
    ("deletion was requested", lambda f: f["delete_requested_at"], "Deleting"),
    ("it has failed", lambda f: f["failed_at"], "Failed"),
    ("it rolls back", lambda f: f["rolling_back_at"], "RollingBack"),
    ("it has never been in service", lambda f: not f["in_service_at"], "Creating"),
    ("it is classic and an update is under way", lambda f: not f["continuous"] and f["update"], "Updating"),
    ("otherwise", lambda _: True, "InService"),
)
GROUP_RULES: Sequence[Rule] = (
    ("deletion of it or of its cluster was requested", lambda f: f["delete_requested_at"], "Deleting"),
    (
        "it has never been in service, and its cluster has failed",
        lambda f: not f["in_service_at"] and f["failed_at"],
        "Failed",
    ),
    ("it has never been in service", lambda f: not f["in_service_at"], "Creating"),
    ("MinCount is waited for", lambda f: f["min_since"], "Updating"),
    (
        "its cluster is classic, and an update of it is under way",
        lambda f: not f["continuous"] and f["update"],
        "Updating",
    ),
    ("some of its nodes are marked unhealthy", lambda f: f["ill"], "Degraded"),
    ("otherwise", lambda _: True, "InService"),
)


FACTS = (*MARKS, "continuous", "update", "ill")


def combinations(names: Sequence[str]) -> Iterable[Facts]:
    """Every combination of the facts that a status may depend on."""
    for values in itertools.product((False, True), repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def owner(facts: Facts, marks: Sequence[str]) -> Cluster:
    """A cluster of which these facts hold."""
    return Cluster(
        account="1",
        region="r",
        cluster_id="c",
        name="n",
        continuous=facts["continuous"],
        orchestrator="slurm",
        created_at=EPOCH,
        opens_at=EPOCH,
        operation="update" if facts["update"] else None,
        **timestamps(facts, marks),
    )


def timestamps(facts: Facts, marks: Sequence[str]) -> dict[str, Any]:
    """A fact that holds is a timestamp."""
    return {name: EPOCH if facts[name] else None for name in marks}


def computed_cluster(facts: Facts) -> str:
    """What the core says of a cluster with these facts."""
    return cluster_status(owner(facts, MARKS[:4]))


def computed_group(facts: Facts) -> str:
    """What the core says of a group with these facts, of which `failed_at` is its cluster's."""
    group = Group(
        name="g",
        position=0,
        instance_types=("t",),
        node_type=None,
        target=1,
        minimum=0,
        created_at=EPOCH,
        has_script=False,
        deep_check=False,
        zones=("z",),
        own_network=False,
        ill=int(facts["ill"]),
        operation="update" if facts["update"] else None,
        **timestamps(facts, ("delete_requested_at", "in_service_at", "min_since")),
    )
    return group_status(owner(facts, ("failed_at",)), group)


def computed_job(facts: Facts) -> str:
    """What the core says of a job with these facts; a failure that is not told yet changes nothing."""
    job = Job(
        account="1",
        region="r",
        job_id="1",
        number=1,
        display_name="n",
        spec={},
        labels={},
        created_at=EPOCH,
        queued_at=EPOCH,
        updated_at=EPOCH,
        outcome=JobState.FAILED.value if facts["told"] else None,
        shown_at=EPOCH if facts["told"] else None,
        **timestamps(facts, JOB_MARKS[1:]),
    )
    told = state(job, EPOCH)
    return "SUCCEEDED, FAILED or CANCELLED" if told in FINAL else told.removeprefix("JOB_STATE_")


def decided(rules: Sequence[Rule], facts: Facts) -> str:
    """The status of the first rule that holds."""
    return next(status for _, holds, status in rules if holds(facts))


def check_rules(rules: Sequence[Rule], computed: Callable[[Facts], str], names: Sequence[str] = FACTS) -> None:
    """The drawing must say what the function says, for every combination of facts."""
    for facts in combinations(names):
        if decided(rules, facts) != computed(facts):
            raise SystemExit(
                f"scripts/diagrams.py draws {decided(rules, facts)} where the core says {computed(facts)}: {facts}"
            )


def flowchart(rules: Sequence[Rule]) -> str:
    """The questions in their order, each with the status that a yes gives."""
    lines = ["```mermaid", "flowchart TD"]
    *asked, (_, _, rest) = rules
    lines += [f'    q{place}{{"{question}?"}}' for place, (question, _, _) in enumerate(asked)]
    for place, (_, _, status) in enumerate(asked):
        lines.append(f"    q{place} -- yes --> yes{place}([{status}])")
        lines.append(f"    q{place} -- no --> " + (f"q{place + 1}" if place + 1 < len(asked) else f"no([{rest}])"))
    return "\n".join([*lines, "```"])


def guard(stage: Stage) -> str:
    """The stage's name, and the marks and the delay that it waits for."""
    marks = [mark for mark in stage.marks if mark != "since"]
    parts = ([f"[{', '.join(marks)}]"] if marks else []) + ([f"after {stage.delay}"] if stage.delay != "none" else [])
    return " ".join([stage.name, *parts])


def machine(stages: Sequence[Stage], first: StrEnum, last: StrEnum, decisions: Sequence[str]) -> str:
    """A state diagram; decisions, which are no stages, are drawn too."""
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {first}", *(f"    {one}" for one in decisions)]
    lines += [f"    {stage.source} --> {stage.target}: {guard(stage)}" for stage in stages]
    return "\n".join([*lines, f"    {last} --> [*]", "```"])


NODE_DECISIONS = (
    *(f"{source} --> {Node.LAUNCHING}: grant of capacity" for source in (Node.REQUESTED, Node.FAILED)),
    f"{Node.REQUESTED} --> {Node.FAILED}: no capacity",
)
WORKER_DECISIONS = (
    f"{Worker.WAITING} --> {Worker.PROVISIONING}: grant of a machine of the region's pool",
    f"{Worker.WAITING} --> {Worker.STARTING}: a node of a cluster is its",
    f"{Worker.STOPPED} --> {Worker.WAITING}: the job is retried",
)


def table(stages: Sequence[Stage]) -> str:
    """The same as rows, in the order that decides between stages due at one moment."""
    rows = ["| | stage | from | to | when all of these are set | then after |", "|---|---|---|---|---|---|"]
    rows += [
        f"| {place} | {stage.name} | {stage.source} | {stage.target} | {', '.join(stage.marks)} | {stage.delay} |"
        for place, stage in enumerate(stages, 1)
    ]
    return "\n".join(rows)


def document() -> str:
    """The whole page."""
    check_rules(CLUSTER_RULES, computed_cluster)
    check_rules(GROUP_RULES, computed_group)
    check_rules(JOB_RULES, computed_job, JOB_MARKS)
    words = "\n".join(f"| {node} | `{vendor_status(node)}` |" for node in Node)
    return f"""# State machines

Generated by `python -m scripts.diagrams` from `node.py`, `cluster.py`, `replica.py` and `job.py` of `app/core`; do not
edit.

## A node

A stage fires its delay after the latest of its marks, which are timestamps of the node. The earliest due stage wins,
and at equal moments the one that stands higher in the table. It is stamped with the moment when it was due, so how
often anybody looks changes nothing. Delays are keys of the world's timing profile (`app/core/timings.py`).

{machine(STAGES, Node.REQUESTED, Node.GONE, NODE_DECISIONS)}

{table(STAGES)}

What AWS calls these states (`ClusterInstanceStatus`):

| state | AWS |
|---|---|
{words}

## A cluster

Its status is computed from facts, never set. The first question with the answer yes decides.

{flowchart(CLUSTER_RULES)}

## An instance group

{flowchart(GROUP_RULES)}

## A worker of a job

It moves as a node does, by a table of its own.

{machine(WORKER_STAGES, Worker.WAITING, Worker.STOPPED, WORKER_DECISIONS)}

{table(WORKER_STAGES)}

## A job

What Google calls `JOB_STATE_…`. A failure is told together with its error, some time after the job's end.

{flowchart(JOB_RULES)}
"""


def main() -> int:
    """Write the page, or with `--check` say whether it is current."""
    return settle({TARGET: document()}, "diagrams")


if __name__ == "__main__":
    raise SystemExit(main())
