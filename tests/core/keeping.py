"""A keeper that takes what a state says has changed, in JSON, and builds the state again from that alone."""

import json
from typing import Any

from app.core.scheduling.history import TreeChange, apply_change
from app.core.scheduling.keeping import Kept, KeptHost, KeptWorkload, keep_flags, keep_workload, rebuild
from app.core.scheduling.packing import Host
from app.core.scheduling.state import State
from app.core.scheduling.usage import Segment
from app.core.scheduling.workload import Kind, Workload

ASKED = ("id", "leaf", "gpus", "replicas", "min_runtime", "priority", "submit", "resumable", "kind", "checkpoint")


def row(workload: Workload) -> dict[str, Any]:
    """All that is kept of a workload."""
    asked = {name: getattr(workload, name) for name in (*ASKED, "model", "zone")}
    return {**asked, "state": keep_workload(workload)}


def kept_workload(kept: dict[str, Any]) -> KeptWorkload:
    """What `row` gave, back from JSON."""
    asked = {name: value for name, value in kept.items() if name not in ("id", "state")}
    return KeptWorkload(Workload(kept["id"], **{**asked, "kind": Kind(asked["kind"])}), kept["state"])


def keep_host(host: Host) -> KeptHost:
    return KeptHost(host.id, host.number, host.gpus, host.model, host.zone, host.state)


class Keeper:
    """The rows of one fleet."""

    def __init__(self) -> None:
        self.workloads: dict[str, str] = {}
        self.hosts: dict[str, str] = {}
        self.segments: list[Segment] = []
        self.capacity: list[tuple[int, int]] = []
        self.changes: list[TreeChange] = []
        self.flags = "{}"

    def change(self, state: State, change: TreeChange) -> None:
        """Change the tree for good. Errors: the state's, and then it is kept nowhere."""
        apply_change(state, change)
        self.changes.append(change)

    def take(self, state: State) -> None:
        """Take what has changed."""
        for name in state.touched:
            self.workloads.pop(name, None)
            if name in state.workloads:
                self.workloads[name] = json.dumps(row(state.workloads[name]), sort_keys=True)
        for name in state.touched_hosts:
            self.hosts.pop(name, None)
            if name in state.hosts:
                host = keep_host(state.hosts[name])
                self.hosts[name] = json.dumps([host.id, host.number, host.gpus, host.model, host.zone, host.state])
        self.segments += state.ledger
        self.capacity += state.capacity_log
        for taken in (state.touched, state.touched_hosts, state.ledger, state.capacity_log):
            taken.clear()
        self.flags = json.dumps(keep_flags(state), sort_keys=True)

    def build(self, state: State) -> State:
        """The state again, from no more than it needs."""
        self.take(state)
        since = state.now - state.policy.window
        rows = [json.loads(text) for text in self.workloads.values()]
        older = [change for change in self.capacity if change[0] <= since]
        return rebuild(
            Kept(
                state.policy,
                json.loads(self.flags),
                self.changes,
                [*older[-1:], *(change for change in self.capacity if change[0] > since)],
                [segment for segment in self.segments if segment.end > since and segment.funded],
                [KeptHost(*json.loads(text)) for text in self.hosts.values()],
                [kept_workload(kept) for kept in rows],
            )
        )
