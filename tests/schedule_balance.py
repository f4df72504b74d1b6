"""What holds of every schedule, read from a world's export: the rules that no pass and no kill may break (FS-4, FS-7,
FS-14)."""

import json
from collections import Counter, defaultdict
from typing import Any

from tests.kit import TestWorld

Row = dict[str, Any]


def schedule_balance(world: TestWorld) -> Counter[str]:
    """How much was checked: workloads, segments, decisions, evictions."""
    tables = json.loads(world.export())["tables"]
    hosts = {(row["fleet"], row["host"]): row["gpus"] for row in tables["fleet_host"]}
    _nobody_is_over_allocated(hosts, tables["placement"])
    living = [row for row in tables["workload"] if row["ended_at"] is None]
    _gangs_are_whole(living, tables["placement"])
    _segments_do_not_overlap(tables["segment"])
    evictions = _protection_is_kept(tables["decision"])
    return Counter(
        workloads=len(tables["workload"]),
        segments=len(tables["segment"]),
        decisions=len(tables["decision"]),
        evictions=evictions,
    )


def _nobody_is_over_allocated(hosts: dict[tuple[str, str], int], placements: list[Row]) -> None:
    held: Counter[tuple[str, str]] = Counter()
    for row in placements:
        if row["ended_at"] is None and row["gpus"]:
            held[row["cluster_id"], row["logical_id"]] += row["gpus"]
    assert {key: gpus for key, gpus in held.items() if gpus > hosts.get(key, 0)} == {}, "more GPUs than there are"


def _gangs_are_whole(living: list[Row], placements: list[Row]) -> None:
    """Whoever runs has all its replicas on nodes, and whoever does not has none."""
    held: dict[str, Counter[str]] = defaultdict(Counter)
    for row in placements:
        if row["ended_at"] is None and row["gpus"]:
            held[row["job_id"]][row["logical_id"]] += 1
    for row in living:
        places = row["state"].get("places", {})
        assert held[row["name"]] == Counter(places), (row["name"], row["status"])
        if row["status"] in ("running", "leaving") and row["state"]["hole_since"] is None:
            assert sum(places.values()) == row["replicas"], row["name"]
    strangers = held.keys() - {row["name"] for row in living}
    assert [name for name in strangers if held[name]] == []


def _segments_do_not_overlap(segments: list[Row]) -> None:
    last: dict[tuple[str, str], int] = {}
    for row in sorted(segments, key=lambda row: (row["fleet"], row["workload"], row["started"])):
        key = row["fleet"], row["workload"]
        assert last.get(key, 0) <= row["started"] < row["ended"], row
        last[key] = row["ended"]


def _protection_is_kept(decisions: list[Row]) -> int:
    """No funded victim is told to leave before its protection is over; each attempt begins once."""
    bound: dict[tuple[str, str], Row] = {}
    evictions = 0
    for row in sorted(decisions, key=lambda row: (row["fleet"], row["seq"])):
        body = row["body"]
        if row["kind"] == "admit":
            bound[row["fleet"], row["workload"]] = body
        for victim, until in body.get("victims", ()):
            evictions += 1
            was = bound[row["fleet"], victim]
            assert not was["funded"] or was["protected_until"] <= row["at"], (victim, row)
            assert until >= row["at"]
    return evictions
