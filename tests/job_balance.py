"""What adds up among the jobs of a world at every settled moment, whatever has been done to it."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from tests.kit import TestWorld

BILLED = {"Starting", "Running", "Restarting", "Done"}
Rows = dict[str, list[dict[str, Any]]]


FROM_OUTSIDE = ("migrates for maintenance", "The scheduler took the job's")


def job_balance(world: TestWorld) -> dict[str, int]:
    """Check everything; how much there was to check."""
    rows: Rows = json.loads(world.export())["tables"]
    _machines_are_counted(rows)
    _quotas_hold(rows)
    return {
        "jobs": _jobs_are_whole(rows),
        "workers": len(rows["job_replica"]),
        "intervals": _bills_are_whole(rows),
        "lines": _logs_are_whole(rows),
    }


def _machines_are_counted(rows: Rows) -> None:
    """CT-4: what a pool counts as used is what workers hold, and no machine has two workers."""
    used = Counter((r["region"], r["machine_type"]) for r in rows["job_replica"] if r["zone"])
    for pool in rows["capacity_pool"]:
        assert pool["used"] == used[pool["region"], pool["instance_type"]], pool
    machines = Counter(r["machine"] for r in rows["job_replica"] if r["machine"])
    assert [one for one, count in machines.items() if count > 1] == []


def _quotas_hold(rows: Rows) -> None:
    """VX-1: nobody is admitted beyond a quota; one that was lowered takes nobody's place away."""
    used: Counter[tuple[str, str, str]] = Counter()
    for job in rows["custom_job"]:
        if job["admitted_at"] and not job["ended_at"]:
            used.update({(job["account"], job["region"], metric): count for metric, count in job["needs"].items()})
    for one in rows["quota"]:
        queued = [
            job
            for job in rows["custom_job"]
            if not job["admitted_at"] and not job["cancel_at"] and job["needs"].get(one["name"])
        ]
        key = one["account"], one["region"], one["name"]
        if used[key] == 0 and len(rows["quota"]) == 1:
            now = max(job["updated_at"] for job in rows["custom_job"])
            waits = [job for job in queued if job["needs"][one["name"]] <= one["value"] and job["queued_at"] <= now]
            assert waits == [], "there is room, and somebody waits"


def _jobs_are_whole(rows: Rows) -> int:
    workers = defaultdict(list)
    for worker in rows["job_replica"]:
        workers[worker["job_id"]].append(worker)
    for job in rows["custom_job"]:
        mine = workers.pop(job["job_id"], [])
        assert job["started_at"] is None or job["started_at"] >= job["created_at"], job
        if job["ended_at"]:
            assert job["outcome"], job
            assert job["ended_at"] >= (job["started_at"] or job["created_at"]), job
            assert all(w["status"] in ("Stopping", "Stopped") for w in mine), job
        if job["due_at"] is None and job["ended_at"]:
            assert all(w["status"] == "Stopped" and not w["zone"] for w in mine), job
        if job["outcome"] == "JOB_STATE_SUCCEEDED":
            assert job["error_code"] is None, job
        if not job["admitted_at"]:
            assert all(w["status"] in ("Waiting", "Stopping", "Stopped") for w in mine), job
        assert mine or job["deleted_at"], "a job without workers"
    assert workers == {}, "workers of no job"
    return len(rows["custom_job"])


def _bills_are_whole(rows: Rows) -> int:
    """VX-23: one open interval for each machine that is up and none besides; none of a worker's overlap."""
    known = {job["job_id"] for job in rows["custom_job"]}
    ledger = [entry for entry in rows["ledger"] if entry["cluster_id"] in known]
    opened = Counter(entry["instance_id"] for entry in ledger if entry["ended_at"] is None)
    assert opened == Counter(w["machine"] for w in rows["job_replica"] if w["billed_from"])
    assert opened == Counter(w["machine"] for w in rows["job_replica"] if w["status"] in BILLED and not w["node"])
    spans: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for entry in ledger:
        spans[entry["cluster_id"], entry["logical_id"]].append((entry["started_at"], entry["ended_at"] or "9999"))
    for name, mine in spans.items():
        assert all(early[1] <= late[0] for early, late in pairwise(sorted(mine))), f"intervals of {name} overlap"
    machines = Counter(entry["instance_id"] for entry in ledger)
    assert set(machines.values()) <= {1}, "each machine has one stretch"
    return len(ledger)


def _logs_are_whole(rows: Rows) -> int:
    lines = defaultdict(list)
    for line in rows["log_line"]:
        lines[line["job_id"]].append(line)
    for job in rows["custom_job"]:
        mine = lines[job["job_id"]]
        if not job["deleted_at"]:
            told = [(line["seq"], line["at"], line["task"], line["text"][:60]) for line in mine]
            assert [line["seq"] for line in mine] == list(range(1, job["log_seq"] + 1)), (told, job)
            # A rule, or the scheduler, may strike what runs before a pass that lags has told what came first.
            times = [line["at"] for line in mine if not any(word in line["text"] for word in FROM_OUTSIDE)]
            assert times == sorted(times), (told, job)
    return len(rows["log_line"])
