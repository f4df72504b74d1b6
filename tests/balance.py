"""What adds up in a world at every settled moment, whatever has been done to it: counts, machines, plans, bills."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from app.catalog import instance_type
from tests.kit import TestWorld

UP = {"Running", "Ill", "Rebooting", "Examined", "Patching", "Reconfiguring", "Unpatched"}
ILL = {"Ill", "Unpatched"}
BILLED = UP | {"Configuring", "Checking", "Detaching", "Attaching"}
Rows = dict[str, list[dict[str, Any]]]


def balance(world: TestWorld) -> dict[str, int]:
    """Check everything; how much there was to check."""
    rows: Rows = json.loads(world.export())["tables"]
    _groups_count_their_nodes(rows)
    _machines_are_held_once(rows)
    _jobs_are_where_they_hold_gpus(rows)
    return {
        "nodes": len(rows["instance"]),
        "intervals": _bills_are_whole(rows),
        "spans": _bills_are_what_the_events_tell(rows),
    }


def quiet(world: TestWorld) -> None:
    """And what must hold besides when nothing is under way any more."""
    rows: Rows = json.loads(world.export())["tables"]
    busy = {(g["cluster_id"]) for g in rows["instance_group"] if g["current"] < g["target"] or g["update_status"]}
    for one in rows["cluster_operation"]:
        if one["cluster_id"] not in busy:
            assert one["done_at"] or one["superseded_at"], one
    assert rows["node_move"] == []
    for one in rows["instance_group"]:
        assert one["update_status"] not in ("Pending", "InProgress", "RollbackInProgress"), one
        if one["target"] == one["current"]:
            assert one["rows"] == one["slots"] == one["current"], one


def _groups_count_their_nodes(rows: Rows) -> None:
    nodes, arriving = defaultdict(list), Counter(_group(m, "group") for m in rows["node_move"])
    for node in rows["instance"]:
        nodes[_group(node, "group_name")].append(node)
    for each in rows["instance_group"]:
        key = _group(each, "name")
        mine, more = nodes.pop(key, []), arriving.pop(key, 0)
        counted = {
            "rows": len(mine) + more,
            "slots": sum(n["terminate_at"] is None for n in mine) + more,
            "current": sum(n["status"] in UP for n in mine),
            "ill": sum(n["status"] in ILL for n in mine),
        }
        assert {name: each[name] for name in counted} == counted, f"group {key}"
    assert (dict(nodes), +arriving) == ({}, Counter()), "nodes of no group"


def _machines_are_held_once(rows: Rows) -> None:
    for identity in ("logical_id", "instance_id"):
        known = [n[identity] for n in rows["instance"] if n[identity]]
        assert len(known) == len(set(known)), f"{identity} is not unique"
    leaving = {n["instance_id"] for n in rows["instance"] if n["status"] == "Detaching"}
    assert {m["instance_id"] for m in rows["node_move"]} == leaving
    holding = [n for n in rows["instance"] if n["zone"] is not None]
    used = Counter(n["instance_type"] for n in holding if n["reservation"] is None)
    for pool in rows["capacity_pool"]:
        assert pool["used"] == used[pool["instance_type"]], pool
    totals = {p["name"]: p["total"] for p in rows["training_plan"]}
    for reservation, count in Counter(n["reservation"] for n in holding if n["reservation"]).items():
        [plan] = {r["plan"] for r in rows["reserved_capacity"] if r["reservation_id"] == reservation}
        assert count <= totals[plan], f"{count} machines of {plan}"


def _jobs_are_where_they_hold_gpus(rows: Rows) -> None:
    """VX-24: no node's GPUs twice, each stay within one billed interval of a Running node, and each worker of a job
    that goes on either on its node or waiting for one."""
    status = {n["logical_id"]: n["status"] for n in rows["instance"]}
    types = {n["logical_id"]: n["instance_type"] for n in rows["instance"]}
    billed = {(e["logical_id"], e["number"]): e for e in rows["ledger"]}
    held: Counter[str] = Counter()
    places = {}
    for stay in rows["placement"]:
        bill, end = billed[stay["logical_id"], stay["billing"]], stay["ended_at"] or "9999"
        assert bill["started_at"] <= stay["started_at"] <= end <= (bill["ended_at"] or "9999"), (stay, bill)
        if stay["ended_at"] is None:
            held[stay["logical_id"]] += stay["gpus"]
            if stay["project"]:  # else it is a workload of our own
                places[stay["job_id"], stay["replica"]] = stay["logical_id"]
            assert status[stay["logical_id"]] == "Running", stay
    for node, gpus in held.items():
        assert gpus <= instance_type(types[node]).accelerators, f"{gpus} GPUs of {node}"
    going = {j["job_id"] for j in rows["custom_job"] if j["fleet"] and j["admitted_at"] and not j["ended_at"]}
    workers = {(r["job_id"], f"workerpool{r['pool']}-{r['ordinal']}"): r for r in rows["job_replica"]}
    on_nodes = {key: r["node"] for key, r in workers.items() if key[0] in going and r["node"]}
    assert places == on_nodes, [(key, workers[key]) for key, _ in sorted(places.items() ^ on_nodes.items())]
    for (job, name), worker in workers.items():
        if job in going and not worker["node"]:
            assert worker["status"] in ("Waiting", "Stopping", "Stopped", "Done"), f"{name} of {job}: {worker}"


def _bills_are_whole(rows: Rows) -> int:
    """One open interval for each node that is billed and none besides; none overlaps, over all clusters."""
    ledger = rows["ledger"]
    open_ = Counter(e["instance_id"] for e in ledger if e["ended_at"] is None)
    assert open_ == Counter(n["instance_id"] for n in rows["instance"] if n["status"] in BILLED)
    for key in ("instance_id", "logical_id"):
        for name, spans in _spans(ledger, key).items():
            assert all(early[1] <= late[0] for early, late in pairwise(spans)), f"intervals of {name} overlap"
    return len(ledger)


def _spans(ledger: list[dict[str, Any]], key: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry in ledger:
        found[entry[key]].append((entry["started_at"], entry["ended_at"] or "9999"))
    return {name: sorted(spans) for name, spans in found.items()}


def _bills_are_what_the_events_tell(rows: Rows) -> int:
    """HP-22: an instance is billed without a gap from its script's start to its termination, moves included, or to a
    failure of the script outside a software update."""
    told: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in rows["cluster_event"]:
        if event["instance_id"]:
            told[event["instance_id"]].append(event)
    known = {event["cluster_id"] for event in rows["cluster_event"]}
    foreign = {e["instance_id"] for e in rows["ledger"] if e["cluster_id"] not in known}
    checked = 0
    for instance, spans in _spans(rows["ledger"], "instance_id").items():
        if instance in foreign:
            continue  # of a cluster that is forgotten, its events with it
        assert all(early[1] == late[0] for early, late in pairwise(spans)), f"{instance} has a gap: {spans}"
        by_events = _told(told[instance], spans)
        assert (spans[0][0], spans[-1][1]) == by_events, f"{instance}: {spans}, by its events {by_events}"
        checked += 1
    return checked


def _told(events: list[dict[str, Any]], spans: list[tuple[str, str]]) -> tuple[str, str]:
    """When billing began and ended. A move begins a span, and what was patched before it is no update's script now."""
    starts = [e["at"] for e in events if e["kind"] == "script-started"]
    ends = [e["at"] for e in events if e["kind"] == "terminating"]
    patched = [e["at"] for e in events if e["kind"] == "root-volume-started"]
    for event in events:
        at = event["at"]
        if event["kind"] == "script-failed":
            stay = max((began for began, _ in spans if began < at), default=at)
            if not any(stay <= update <= at for update in patched):
                ends.append(at)
    return min(starts), min(ends, default="9999")


def _group(row: dict[str, Any], name: str) -> tuple[str, str]:
    return row["cluster_id"], row[name]
