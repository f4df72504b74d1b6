"""The world as it is seen: every cluster, group, node and event against what is believed of them."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.kit import TestWorld
from tests.model import looking
from tests.model.belief import GATES, OPEN, Cluster, reachable


@dataclass
class Watch:
    """What was last seen of a world, and what is believed of it.

    `troubled`: faults or repairs may have changed instances since the last calm. `fresh`: the clock was told to move
    since the last request, so what was asked has been taken up. `ceilings`: the most machines of a type that may be
    held; None: any number.
    """

    world: TestWorld
    saw: Counter[str]
    clusters: dict[str, Cluster] = field(default_factory=dict)
    identities: looking.Identities = field(default_factory=looking.Identities)
    nodes: dict[str, looking.Rows] = field(default_factory=dict)
    told: dict[str, looking.Rows] = field(default_factory=dict)
    ceilings: dict[str, int | None] = field(default_factory=dict)
    troubled: bool = False
    fresh: bool = True

    def now(self) -> datetime:
        return looking.instant(self.world.now())

    def look(self) -> None:
        """Every cluster against what is believed of it."""
        listed = self.world.sagemaker.list_clusters()["ClusterSummaries"]
        there = {one["ClusterName"]: one["ClusterStatus"] for one in listed}
        assert there.keys() <= self.clusters.keys()
        for name in self.clusters.keys() - there.keys():
            assert self.clusters[name].status == "Deleting", f"{name} is gone, and nobody deleted it"
            del self.clusters[name]
            self.nodes.pop(name, None)
            self.told.pop(name, None)
            self.identities.gone(name)
        for name, cluster in self.clusters.items():
            self.see(name, cluster)
            assert cluster.status == there[name]
        looking.look_at_capacity(self.world, self.held(), self.ceilings)

    def see(self, name: str, cluster: Cluster) -> None:
        described = self.world.describe(name)
        status = described["ClusterStatus"]
        ahead = reachable(cluster.continuous, cluster.status)
        assert status in ahead, f"{status} after {cluster.status}"
        was, cluster.status = cluster.status, status
        self.saw[f"cluster {status}"] += 1
        nodes = self.world.nodes(name, **({"IncludeNodeLogicalIds": True} if cluster.continuous else {}))
        self.nodes[name] = nodes
        shown = {one["InstanceGroupName"]: one for one in described["InstanceGroups"]}
        if cluster.continuous:
            self.identities.look(name, nodes, self.troubled)
            self.hear(name)
        self.see_groups(cluster, shown, was)
        for of, each in shown.items():
            if cluster.continuous:
                looking.look_at_group(each, [one for one in nodes if one["InstanceGroupName"] == of])

    def hear(self, name: str) -> None:
        """The cluster's events, which only a clock that moves makes many of."""
        if self.fresh or name not in self.told:
            told = self.world.events(name)
            looking.look_at_events(told, self.told.get(name, []))
            self.told[name] = told

    def see_groups(self, cluster: Cluster, shown: dict[str, Any], was: str) -> None:
        for of in cluster.groups.keys() - shown.keys():
            rolled_back = not cluster.continuous and of not in cluster.before
            assert cluster.groups[of].leaving or rolled_back, f"group {of} is gone, and nobody deleted it"
        assert shown.keys() <= cluster.groups.keys()
        for of in list(cluster.groups):
            if of not in shown:
                del cluster.groups[of]
        for of, each in shown.items():
            mine = cluster.groups[of]
            if mine.leaving or cluster.status in ("Deleting", "Failed"):
                assert each["Status"] == "Deleting" or cluster.status == "Failed" or not self.fresh
            elif cluster.continuous and self.fresh:
                gated = cluster.slurm and of in GATES and "Creating" in (was, cluster.status)
                is_open = cluster.status == "InService"
                mine.look(each, self.now(), gated=gated, is_open=is_open, may_dip=self.troubled)
            mine.status, mine.current = each["Status"], each["CurrentCount"]
            self.saw[f"group {mine.status}"] += 1
        if not cluster.continuous and cluster.status == "InService":
            self.all_or_nothing(cluster, shown)

    def all_or_nothing(self, cluster: Cluster, shown: dict[str, Any]) -> None:
        """HP-40: every group as it was asked, or every group as it was before."""
        staying = {of: each for of, each in cluster.groups.items() if not each.leaving}
        counts = {of: shown[of]["TargetCount"] for of in staying}
        asked = {of: each.target for of, each in staying.items()}
        assert counts in (asked, {of: cluster.before.get(of) for of in staying}), f"{counts}, not {asked}"
        for of, each in staying.items():
            each.target = counts[of]
        cluster.before = dict(counts)

    def held(self) -> Counter[str]:
        """Machines that nodes certainly have: a failed one may have given its own back."""
        nodes = [one for each in self.nodes.values() for one in each]
        return Counter(
            one["InstanceType"] for one in nodes if one["InstanceId"] and one["InstanceStatus"]["Status"] != "Failure"
        )

    def running(self) -> set[str]:
        nodes = [one for each in self.nodes.values() for one in each]
        return {one["InstanceId"] for one in nodes if one["InstanceStatus"]["Status"] == "Running"}

    def rest(self) -> None:
        """When nothing is in the way any more, what was wanted has come to be (HP-2, HP-6, HP-16)."""
        self.look()
        assert self.world.control("GET", "status")["failing"] == []
        for name, cluster in self.clusters.items():
            assert cluster.status in ("InService", "Failed"), cluster.status
            shown = self.world.describe(name)["InstanceGroups"]
            if cluster.status == "InService":
                self.has_come_to_rest(name, shown)
        looking.look_at_bill(self.world, self.running())
        self.troubled = any(cluster.status == "Failed" for cluster in self.clusters.values())

    def has_come_to_rest(self, name: str, shown: list[dict[str, Any]]) -> None:
        for each in shown:
            assert each["CurrentCount"] == each["TargetCount"], each
            assert each["Status"] in OPEN, each
        statuses = Counter(node["InstanceStatus"]["Status"] for node in self.nodes[name])
        assert set(statuses) <= {"Running", "Failure"}, statuses
        assert statuses.total() == sum(each["TargetCount"] for each in shown)
