"""What must hold of a world's answers at any instant: identities, capacity, bills and events."""

import json
from collections import Counter, defaultdict
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.kit import TestWorld

UP = ("Running", "DeepHealthCheckInProgress")
_CLOSING = ("script-failed", "terminating", "provision-failed")
Rows = list[dict[str, Any]]


class Identities:
    """Every id that was ever seen (HP-29, HP-31)."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}
        self.alive: dict[str, dict[str, str]] = {}
        self.buried: set[str] = set()

    def look(self, cluster: str, nodes: Rows, may_change: bool) -> None:
        """An instance belongs to one node for ever; a node that has gone does not come again."""
        now = {node["NodeLogicalId"]: node["InstanceId"] for node in nodes}
        assert len(now) == len(nodes), "a logical id twice"
        assert not now.keys() & self.buried, "a logical id has a second life"
        held = [one for one in now.values() if one]
        assert len(held) == len(set(held)), "an instance is two nodes"
        was = self.alive.get(cluster, {})
        for logical, instance in now.items():
            if not instance:
                continue
            assert self.owner.setdefault(instance, logical) == logical, "an instance has changed its node"
            if was.get(logical) not in (None, "", instance):
                assert may_change, f"{logical} has another instance, and nothing befell it"
        self.buried |= was.keys() - now.keys()
        self.alive[cluster] = now

    def gone(self, cluster: str) -> None:
        self.buried |= self.alive.pop(cluster, {}).keys()


def look_at_group(shown: dict[str, Any], nodes: Rows) -> None:
    """HP-6: CurrentCount counts the nodes that run, in whatever health; never more than there are."""
    statuses = Counter(node["InstanceStatus"]["Status"] for node in nodes)
    assert statuses["Running"] <= shown["CurrentCount"] <= len(nodes), f"{shown['CurrentCount']} of {statuses}"
    assert 0 <= shown["MinCount"] <= shown["TargetCount"]


def look_at_capacity(world: TestWorld, held: Counter[str], ceilings: dict[str, int | None]) -> None:
    """HP-6: no more machines are held than there are, or were when the total was lowered below them."""
    pools = {pool["instance_type"]: pool for pool in world.control("GET", "capacity")["pools"]}
    for machine, count in held.items():
        assert count <= pools[machine]["used"], f"{count} {machine} are held, {pools[machine]['used']} are told"
    for machine, ceiling in ceilings.items():
        used = pools[machine]["used"] if machine in pools else 0
        assert ceiling is None or used <= ceiling, f"{used} of {ceiling} {machine}"


def look_at_events(told: Rows, before: Rows) -> None:
    """HP-26, HP-27: written once, in order, never changed; a script begins before it ends, and ends once."""
    assert [one["EventId"] for one in told[: len(before)]] == [one["EventId"] for one in before]
    assert len({one["EventId"] for one in told}) == len(told)
    assert all(early["EventTime"] <= late["EventTime"] for early, late in pairwise(told)), "events out of order"
    scripts: dict[str, list[bool]] = defaultdict(list)
    for one in told:
        if "lifecycle script execution" in one["Description"]:
            scripts[one["InstanceId"]].append(one["Description"].endswith(" has Started"))
    for instance, started in scripts.items():
        assert started == [place % 2 == 0 for place in range(len(started))], f"{instance}: {started}"


def look_at_bill(world: TestWorld, running: set[str]) -> None:
    """HP-22 to HP-25, RL-1: the ledger of a continuous cluster is the integral of its events, every running instance is
    billed, and the bill is its intervals to the micro-dollar."""
    rows: dict[str, Rows] = json.loads(world.export())["tables"]
    living = {one["cluster_id"] for one in rows["cluster"] if one["continuous"]}
    wanted = _integral([one for one in rows["cluster_event"] if one["cluster_id"] in living])
    ledger = rows["ledger"]
    found = [
        (one["cluster_id"], one["logical_id"], one["instance_id"], one["started_at"], one["ended_at"])
        for one in ledger
        if one["cluster_id"] in living
    ]
    assert sorted(found, key=str) == sorted(wanted, key=str), set(found) ^ set(wanted)
    clusters = {one["cluster_id"] for one in rows["cluster"]}
    still = [one["instance_id"] for one in ledger if one["ended_at"] is None]
    assert len(still) == len(set(still))
    assert running <= set(still), "a running instance is not billed"
    assert {one["cluster_id"] for one in ledger if one["ended_at"] is None} <= clusters, "what is gone is billed"
    bill = world.bill(intervals=True)
    for line in bill["lines"]:
        weighted = sum(one["milliseconds"] * one["micro_usd_per_hour"] for one in line["intervals"])
        assert line["micro_usd"] == (weighted + 1_800_000) // 3_600_000
    assert bill["total_micro_usd"] == sum(line["micro_usd"] for line in bill["lines"])
    whole = [one for one in ledger if one["ended_at"] != one["started_at"] and one["started_at"] != bill["as_of"]]
    assert sum(len(line["intervals"]) for line in bill["lines"]) >= len(whole)


def _integral(told: Rows) -> list[tuple[str, str, str, str, str | None]]:
    spans: list[tuple[str, str, str, str, str | None]] = []
    open_ones: dict[tuple[str, str], tuple[str, str]] = {}
    patched: set[str] = set()
    for event in sorted(told, key=lambda one: (one["cluster_id"], one["seq"])):
        node, kind, instance = (event["cluster_id"], event["logical_id"]), event["kind"], event["instance_id"]
        if kind == "root-volume-started":
            patched.add(instance)  # its scripts run again, and the bill runs on whatever comes of them (HP-30)
        elif kind.startswith("script") and instance in patched:
            continue
        elif kind == "script-started":
            assert node not in open_ones, f"{node} is billed twice at once"
            open_ones[node] = (instance, event["at"])
        elif kind in _CLOSING and node in open_ones:
            billed, start = open_ones.pop(node)
            spans.append((*node, billed, start, event["at"]))
    return spans + [(*node, instance, start, None) for node, (instance, start) in open_ones.items()]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
