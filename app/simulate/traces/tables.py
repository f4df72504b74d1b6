"""The public traces that are CSV files with a header."""

from collections.abc import Iterable, Iterator

from app.simulate.traces.rows import Cell, Row, Table
from app.simulate.workloads import Node

PHILLY_CSV = ("timestamp", "duration", "num_gpus", "gpu_time", "cluster")
HELIOS = ("job_id", "user", "vc", "gpu_num", "state", "submit_time", "duration")
ACME = ("job_id", "user", "gpu_num", "type", "state", "submit_time", "duration")
OPENB = ("name", "num_gpu", "gpu_milli", "qos", "creation_time", "deletion_time", "scheduled_time")
OPENB_NODES = ("sn", "gpu")
GAVEL = ("vc", "arrival_s", "num_gpus", "duration_s_v100")


def philly_csv(lines: Iterable[str]) -> Iterator[Row]:
    """Jobs of Microsoft's Philly as a table: timestamp,duration,num_gpus,gpu_time,cluster; `cluster` is the VC."""
    for record in Table(lines, PHILLY_CSV):
        yield Row(
            record.line,
            f"job-{record.line}",
            record["timestamp"].seconds(),
            record["duration"].whole(),
            record["num_gpus"].whole(),
            (("vc", record["cluster"].text.strip() or "unknown"),),
        )


def helios(lines: Iterable[str]) -> Iterator[Row]:
    """`cluster_log.csv` of SenseTime's Helios."""
    return _slurm_log(lines, HELIOS, "vc", "user")


def acme(lines: Iterable[str]) -> Iterator[Row]:
    """`trace_seren.csv` and `trace_kalos.csv` of Shanghai AI Lab's Acme."""
    return _slurm_log(lines, ACME, "user", "type")


def _slurm_log(lines: Iterable[str], columns: tuple[str, ...], *owners: str) -> Iterator[Row]:
    """What both laboratories took from Slurm, in the same words."""
    for record in Table(lines, columns):
        yield Row(
            record.line,
            record["job_id"].text,
            record["submit_time"].seconds(),
            _ran(record["duration"]),
            record["gpu_num"].whole(),
            record.owners(*owners),
        )


def gavel(lines: Iterable[str]) -> Iterator[Row]:
    """A trace of Gavel with the durations that its throughputs give on a V100: vc,arrival_s,num_gpus,..."""
    for record in Table(lines, GAVEL):
        yield Row(
            record.line,
            f"job-{record.line}",
            record["arrival_s"].whole(),
            record["duration_s_v100"].whole(),
            record["num_gpus"].whole(),
            record.owners("vc"),
        )


def openb(lines: Iterable[str]) -> Iterator[Row]:
    """Alibaba's `openb_pod_list_*.csv` (2023) with times; a pod with a part of a GPU has one; BE is best effort."""
    for record in Table(lines, OPENB):
        started, ended = record["scheduled_time"], record["deletion_time"]
        yield Row(
            record.line,
            record["name"].text,
            record["creation_time"].whole(),
            max(0, ended.whole() - started.whole()) if started and ended else None,
            record["num_gpu"].whole(),
            record.owners("qos"),
            free=record["qos"].text.strip() == "BE",
        )


def openb_nodes(lines: Iterable[str]) -> Iterator[Node]:
    """Alibaba's `openb_node_list_*.csv`: the nodes with GPUs; their models are not told apart."""
    for record in Table(lines, OPENB_NODES):
        gpus = record["gpu"].whole()
        if gpus:
            yield Node(record["sn"].text, gpus)


def _ran(duration: Cell) -> int | None:
    """None: it did not end, or the clocks of the log contradict each other."""
    return duration.whole() if duration and not duration.text.startswith("-") else None
