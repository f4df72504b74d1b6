"""What has happened in a world, and what waits in it: told in lines, out of all that the service knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from windtunnel_testkit import times
from windtunnel_testkit.control import Address, segment
from windtunnel_testkit.errors import Refused

MOST_EVENTS, MOST_DECISIONS, MOST_LINES = 10_000, 1_000, 1_000
"""The newest that are read, of each fleet's decisions and each job's log likewise."""
_OVER = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED")
_STEADY = ("InService", "Failed", "Deleted")
Place = tuple[str, str]
"""An account or project, and a region or location."""


@dataclass(frozen=True)
class Moment:
    """One thing that happened. `source` is cluster, scheduler, fault or job; `level` is Info, Warn or Error."""

    at: datetime
    source: str
    subject: str
    level: str
    text: str

    def __str__(self) -> str:
        mark = {"Error": "E", "Warn": "W"}.get(self.level, " ")
        return f"{times.shown(self.at)} {mark} {self.source} {self.subject}: {self.text}"


@dataclass(frozen=True)
class Waiting:
    """Something that is not yet what it shall be. `reason` is the service's word, `text` says it in full."""

    subject: str
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}{f' ({self.text})' if self.text else ''}"


def timeline(address: Address) -> list[Moment]:
    """The oldest first; of one instant, as each source has them."""
    found = [*_announced(address), *_decided(address), *_struck(address), *_logged(address)]
    return sorted(found, key=lambda moment: moment.at)


def waiting(address: Address) -> list[Waiting]:
    """Clusters, then jobs, then what a scheduler lets wait, then what the service itself cannot move."""
    return [*_clusters(address), *_jobs(address), *_queued(address), *_failing(address)]


def _announced(address: Address) -> Iterator[Moment]:
    for envelope in address.control("GET", "events", None, {"limit": MOST_EVENTS})["events"]:
        detail = envelope["detail"]
        told = detail.get("EventDetails") or detail
        name = str(told.get("ClusterName") or told.get("WorkloadName") or envelope["resources"][:1] or "")
        if "InstanceGroups" in detail:
            text = f"{detail.get('ClusterStatus')}; {_counts(detail['InstanceGroups'])}"
        else:
            text = str(told.get("Description") or told.get("Message") or _health(told) or envelope["detail-type"])
        level = str(told.get("EventLevel") or ("Error" if detail.get("FailureMessage") else "Info"))
        yield Moment(times.read(envelope["time"]), "cluster", name, level, text)


def _health(told: dict[str, Any]) -> str:
    words = told.get("HealthSummary") or {}
    return " ".join(str(each) for each in (told.get("InstanceId", ""), *words.values()) if each) if words else ""


def _counts(groups: list[dict[str, Any]]) -> str:
    return ", ".join(
        f"{each['InstanceGroupName']} {each.get('CurrentCount')} of {each.get('TargetCount')} {each.get('Status', '')}"
        for each in groups
    )


def _decided(address: Address) -> Iterator[Moment]:
    for one in address.control("GET", "decisions", None, {"limit": MOST_DECISIONS})["decisions"]:
        victims = ", ".join(each["workload"] for each in one["victims"] or ())
        text = f"{one['kind']} ({one['code']})" + (f", so these leave: {victims}" if victims else "")
        subject = one["workload"] or one["cluster_name"] or one["pool"] or ""
        level = "Warn" if one["kind"] in ("preempt", "requeue", "warn", "lost") else "Info"
        yield Moment(times.read(one["at"]), "scheduler", subject, level, text)


def _struck(address: Address) -> Iterator[Moment]:
    for hit in address.control("GET", "faults/hits")["hits"]:
        where = " ".join(filter(None, (hit["cluster"], hit["group"], hit["logical_id"], hit["operation"])))
        text = f"struck {where} (hit {hit['number']})".replace("  ", " ")
        yield Moment(times.read(hit["at"]), "fault", f"{hit['rule_id']} {hit['effect']}", "Error", text)


def _logged(address: Address) -> Iterator[Moment]:
    for job in _all_jobs(address):
        path = f"jobs/{segment(job['name'].rpartition('/')[2])}/logs"
        for line in address.control("GET", path, None, {"limit": MOST_LINES})["lines"]:
            level = {"INFO": "Info", "WARNING": "Warn"}.get(line["severity"], "Error")
            text = f"{line['task']}: {line['text'].strip()}"
            yield Moment(times.read(line["time"]), "job", job.get("displayName", ""), level, text)


def _clusters(address: Address) -> Iterator[Waiting]:
    for arn in _arns(address):
        _, _, _, region, account, _ = arn.split(":", 5)
        try:
            found = _aws(address, (account, region), "DescribeCluster", {"ClusterName": arn})
        except Refused:
            continue  # it is deleted, or signatures are verified
        late = [
            each
            for each in found["InstanceGroups"]
            if each.get("CurrentCount") != each.get("TargetCount") or each.get("Status") not in _STEADY
        ]
        if found["ClusterStatus"] in _STEADY and not late:
            continue
        said = _last_trouble(address, arn)
        text = "; ".join(filter(None, (_counts(late), found.get("FailureMessage"), said)))
        yield Waiting(f"cluster {found['ClusterName']}", found["ClusterStatus"], text)


def _last_trouble(address: Address, arn: str) -> str:
    query = {"limit": MOST_EVENTS, "cluster": arn}
    told = [
        each["detail"]["EventDetails"]
        for each in address.control("GET", "events", None, query)["events"]
        if "EventDetails" in each["detail"]
    ]
    return next((str(each["Description"]) for each in reversed(told) if each.get("EventLevel") != "Info"), "")


def _jobs(address: Address) -> Iterator[Waiting]:
    for job in _all_jobs(address):
        if job["state"] not in _OVER and job["state"] != "JOB_STATE_RUNNING":
            yield Waiting(f"job {job.get('displayName', '')}", job["state"], job.get("error", {}).get("message", ""))


def _queued(address: Address) -> Iterator[Waiting]:
    for one in address.control("GET", "queue")["queue"]:
        ahead = f"; ahead of it: {', '.join(one['ahead'])}" if one["ahead"] else ""
        earliest = f"; not before {one['earliest']}" if one["earliest"] else ""
        yield Waiting(f"workload {one['job_name']}", one["reason"], f"{one['message']}{ahead}{earliest}")


def _failing(address: Address) -> Iterator[Waiting]:
    for one in address.control("GET", "status")["failing"]:
        yield Waiting(
            "the service", "cannot move something", ", ".join(f"{name} {value}" for name, value in one.items())
        )


def _arns(address: Address) -> list[str]:
    """Of every cluster that there was, as far as events tell of it."""
    query = {"limit": MOST_EVENTS, "detail-type": "SageMaker HyperPod Cluster State Change"}
    events = address.control("GET", "events", None, query)["events"]
    return list(dict.fromkeys(arn for each in events for arn in each["resources"]))


def _all_jobs(address: Address) -> Iterator[dict[str, Any]]:
    """The custom jobs of every project and location that a request has named lately."""
    records = address.control("GET", "requests", None, {"limit": 500})["requests"]
    places = {(each["account"], each["region"]) for each in records if each["api"] == "vertex"}
    for project, location in sorted((project, location) for project, location in places if project and location):
        path = f"/v1/projects/{project}/locations/{location}/customJobs"
        try:
            yield from address.send("GET", path).get("customJobs", [])
        except Refused:
            continue


def _aws(address: Address, place: Place, operation: str, body: dict[str, Any]) -> Any:
    """The answer of a SageMaker operation; the key in the header names the account, and nothing is signed."""
    account, region = place
    scope = f"{account}/20260101/{region}/sagemaker/aws4_request"
    headers = {
        "X-Amz-Target": f"SageMaker.{operation}",
        "Content-Type": "application/x-amz-json-1.1",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature={'0' * 64}",
    }
    return address.send("POST", "/", body, headers)
