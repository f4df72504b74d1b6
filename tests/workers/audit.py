"""What must hold in a world whatever was killed: recomputed from events and nodes, compared with ledger and counts."""

import json
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from tests.kit import TestWorld

_CLOSING = ("script-failed", "terminating")
_FREEING = ("provision-failed", "script-failed")
Span = tuple[str, str, str, str | None]


def tables(world: TestWorld) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(world.export())["tables"]
    return found


def audit(world: TestWorld, totals: dict[str, int]) -> dict[str, int]:
    """Check everything; how much there was to check. `totals`: machines by type, which never changed."""
    rows = tables(world)
    checked = {
        "intervals": _ledger_is_the_integral(rows),
        "nodes": _no_node_is_lost_or_doubled(rows),
        "grants": _no_machine_is_granted_twice(rows, totals),
    }
    _bill_is_its_intervals(world, rows)
    return checked


def billable(rows: dict[str, list[dict[str, Any]]]) -> list[Span]:
    """(logical id, instance, start, end) as the events tell it: script start to termination or failure (HP-22)."""
    spans: list[Span] = []
    running: dict[tuple[str, str], tuple[str, str]] = {}
    for event in sorted(rows["cluster_event"], key=lambda e: (e["cluster_id"], e["seq"])):
        node = (event["cluster_id"], event["logical_id"])
        if event["kind"] == "script-started":
            assert node not in running, f"{node} is billed twice at once"
            running[node] = (event["instance_id"], event["at"])
        elif event["kind"] in _CLOSING and node in running:
            instance, start = running.pop(node)
            spans.append((node[1], instance, start, event["at"]))
    return spans + [(node[1], instance, start, None) for node, (instance, start) in running.items()]


def _ledger_is_the_integral(rows: dict[str, list[dict[str, Any]]]) -> int:
    entries = [(e["logical_id"], e["instance_id"], e["started_at"], e["ended_at"]) for e in rows["ledger"]]
    assert sorted(entries, key=str) == sorted(billable(rows), key=str)
    by_node: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for logical, _, start, end in entries:
        by_node[logical].append((start, end or "9999"))
    for spans in by_node.values():
        spans.sort()
        assert all(early[1] <= late[0] for early, late in pairwise(spans)), "intervals overlap"
    return len(entries)


def _no_node_is_lost_or_doubled(rows: dict[str, list[dict[str, Any]]]) -> int:
    nodes = rows["instance"]
    for identity in ("logical_id", "instance_id"):
        known = [node[identity] for node in nodes if node[identity] is not None]
        assert len(known) == len(set(known)), f"{identity} is not unique"
    launches = [e["instance_id"] for e in rows["cluster_event"] if e["kind"] == "no-reservation"]
    assert len(launches) == len(set(launches)), "an instance was launched twice"
    for group in rows["instance_group"]:
        mine = [n for n in nodes if (n["cluster_id"], n["group_name"]) == (group["cluster_id"], group["name"])]
        assert group["rows"] == len(mine)
        assert group["slots"] == sum(n["terminate_at"] is None for n in mine) == group["target"]
        assert group["current"] == sum(n["status"] == "Running" for n in mine)
    return len(nodes)


def _no_machine_is_granted_twice(rows: dict[str, list[dict[str, Any]]], totals: dict[str, int]) -> int:
    types = {(g["cluster_id"], g["name"]): g["instance_types"][0] for g in rows["instance_group"]}
    changes: dict[str, list[tuple[str, int]]] = defaultdict(list)
    held: set[str] = set()
    for event in sorted(rows["cluster_event"], key=lambda e: (e["cluster_id"], e["seq"])):
        kind, instance = event["kind"], event["instance_id"]
        machine = types.get((event["cluster_id"], event["group_name"]), "")
        if kind == "no-reservation":
            held.add(instance)
            changes[machine].append((event["at"], 1))
        elif instance in held and (
            kind in _FREEING or (kind == "instance-completed" and event["params"]["operation"] == "deletion")
        ):
            held.remove(instance)
            changes[machine].append((event["at"], -1))
    for machine, total in totals.items():
        level = 0
        for _, change in sorted(changes[machine]):  # what is freed at an instant may be granted at it
            level += change
            assert level <= total, f"{level} of {total} {machine} were granted"
    used = Counter(node["instance_type"] for node in rows["instance"] if node["zone"] is not None)
    for pool in rows["capacity_pool"]:
        assert pool["used"] == used[pool["instance_type"]] <= pool["total"]
    return sum(len(each) for each in changes.values())


def _bill_is_its_intervals(world: TestWorld, rows: dict[str, list[dict[str, Any]]]) -> None:
    """To the micro-dollar: each line is its milliseconds at its price, rounded half up once."""
    bill = world.bill(intervals=True)
    for line in bill["lines"]:
        weighted = sum(one["milliseconds"] * one["micro_usd_per_hour"] for one in line["intervals"])
        assert line["micro_usd"] == (weighted + 1_800_000) // 3_600_000
    assert sum(len(line["intervals"]) for line in bill["lines"]) == len(rows["ledger"])
    assert bill["total_micro_usd"] == sum(line["micro_usd"] for line in bill["lines"])
