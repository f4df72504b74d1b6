"""The walk: what a user does to a world, each answer foretold, and the world looked at after every step (RL-12)."""

from collections import Counter
from collections.abc import Callable, Set
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.kit import Running, TestWorld, classic, eks, group, login, slurm, workers
from tests.model import looking
from tests.model.belief import CONFLICT, GATES, INVALID, NOT_FOUND, OK, OPEN, Cluster, Group, reachable

P5, C5 = "ml.p5.48xlarge", "ml.c5.xlarge"
KINDS = ("slurm", "slurm-login", "eks", "classic")
EFFECTS = (
    "launch-capacity",
    "launch-transient",
    "launch-unhealthy",
    "boot-slow",
    "script-failed",
    "script-hang",
    "node-hardware",
    "reboot-failed",
    "terminate-failed",
)
WAYS = (0, 1, 2, 3, 5, 30, 300, 3600, 3 * 3600)
names = st.sampled_from(("one", "one", "one", "two"))
scalable = st.sampled_from(("a", "b", "login"))
counts = st.integers(0, 5)
minimums = st.one_of(st.none(), st.integers(0, 5))
picks = st.lists(st.integers(0, 7), min_size=1, max_size=3)


class Walk(RuleBasedStateMachine):
    """One world with a frozen clock and two names of clusters."""

    service: Running
    steps = 0

    @initialize(seed=st.integers(0, 2**31), kind=st.sampled_from(KINDS), count=counts, heal=st.booleans())
    def begin(self, seed: int, kind: str, count: int, heal: bool) -> None:
        self.world: TestWorld = self.service.world(seed=seed)
        self.clusters: dict[str, Cluster] = {}
        self.identities = looking.Identities()
        self.nodes: dict[str, looking.Rows] = {}
        self.told: dict[str, looking.Rows] = {}
        self.ceilings: dict[str, int | None] = {}
        self.touched: set[str] = set()
        """Nodes that were asked something of since the clock last moved."""
        self.troubled = False
        """Faults or repairs may have changed instances since the last calm."""
        self.fresh = True
        """What was asked since has been taken up: the clock has been told to move."""
        self.create("one", kind, count, None, False, heal)
        self.advance(30)

    # What a user asks.

    @rule(
        name=names, kind=st.sampled_from(KINDS), count=counts, minimum=minimums, deep=st.booleans(), heal=st.booleans()
    )
    def create(self, name: str, kind: str, count: int, minimum: int | None, deep: bool, heal: bool) -> None:
        least = None if kind == "classic" else minimum
        facts: dict[str, Any] = {} if least is None else {"MinInstanceCount": least}
        facts |= {"OnStartDeepHealthChecks": ["InstanceStress"]} if deep and kind == "eks" else {}
        wide = {"NodeRecovery": "Automatic" if heal else "None", "name": name}
        match kind:
            case "eks":
                asked = eks(group("a", count, InstanceType=P5, **facts), group("b", 1), **wide)
            case "classic":
                asked = classic(group("a", count, InstanceType=P5), group("b", 1), **wide)
            case _:
                others = [login()] if kind == "slurm-login" else []
                asked = slurm(*others, workers(count, "a", **facts), **wide)
        now = self.now()
        wanted: Set[str] = {"ResourceInUse"} if name in self.clusters else OK
        if wanted == OK and least is not None and least > count:
            wanted = INVALID
        if name in self.clusters and least is not None and least > count:
            wanted = {"ResourceInUse", *INVALID}
        if self.ask("create_cluster", wanted, **asked) is None:
            return
        made = {one["InstanceGroupName"]: self.group_of(one, kind, now) for one in asked["InstanceGroups"]}
        self.clusters[name] = Cluster(kind != "classic", kind.startswith("slurm"), made, created=now)

    def group_of(self, asked: dict[str, Any], kind: str, now: datetime) -> Group:
        gates = kind.startswith("slurm") and asked["InstanceGroupName"] in GATES
        least = asked.get("MinInstanceCount", min(1, asked["InstanceCount"]) if gates else 0)
        return Group(asked["InstanceCount"], least, now if least else None)

    @rule(name=names, of=scalable, count=counts, minimum=minimums)
    def update(self, name: str, of: str, count: int, minimum: int | None) -> None:
        cluster = self.clusters.get(name)
        facts = {} if minimum is None else {"MinInstanceCount": minimum}
        asked = self.spec(cluster, of, count, facts)
        old = cluster.groups.get(of) if cluster else None
        wanted = cluster.may(of) if cluster else NOT_FOUND
        if cluster and self.is_invalid(cluster, old, count, minimum):
            wanted = wanted | INVALID if wanted != OK else INVALID
        if self.ask("update_cluster", wanted, ClusterName=name, InstanceGroups=[asked]) is None or cluster is None:
            return
        now = self.now()
        if not cluster.continuous:
            cluster.before = {one: each.target for one, each in cluster.groups.items()}
            cluster.status = self.world.describe(name)["ClusterStatus"]
        if old is None:
            gates = cluster.slurm and of in GATES and cluster.status == "Creating"
            least = (min(1, count) if gates else 0) if minimum is None else minimum
            cluster.groups[of] = Group(count, least, now if least else None)
        else:
            old.want(count, minimum, now)

    def spec(self, cluster: Cluster | None, of: str, count: int, facts: dict[str, Any]) -> dict[str, Any]:
        if cluster is None or not cluster.slurm:
            return group(of, count, InstanceType=P5 if of == "a" else C5, **facts)
        if of == "login":
            return login(count, **facts)
        return workers(count, of, InstanceType=P5 if of == "a" else C5, **facts)

    @staticmethod
    def is_invalid(cluster: Cluster, old: Group | None, count: int, minimum: int | None) -> bool:
        if minimum is not None and not cluster.continuous:
            return True
        least = (old.minimum if old else 0) if minimum is None else minimum
        return least > count

    @rule(name=names, of=scalable)
    def remove_group(self, name: str, of: str) -> None:
        cluster = self.clusters.get(name)
        wanted = cluster.may(of) if cluster else NOT_FOUND
        if cluster and of not in cluster.groups:
            wanted = INVALID if wanted == OK else wanted
        if self.ask("update_cluster", wanted, ClusterName=name, InstanceGroupsToDelete=[of]) and cluster:
            cluster.groups[of].leaving = True
            if not cluster.continuous:
                cluster.before = {one: each.target for one, each in cluster.groups.items()}

    @rule(name=names, mode=st.sampled_from(("Automatic", "None")))
    def recovery(self, name: str, mode: str) -> None:
        cluster = self.clusters.get(name)
        self.troubled = True
        self.ask("update_cluster", cluster.may() if cluster else NOT_FOUND, ClusterName=name, NodeRecovery=mode)

    @rule(name=names)
    def delete(self, name: str) -> None:
        cluster = self.clusters.get(name)
        wanted = (OK if cluster.is_deletable else CONFLICT) if cluster else NOT_FOUND
        if self.ask("delete_cluster", wanted, ClusterName=name) and cluster:
            self.see(name, cluster)

    @rule(name=names, of=scalable, count=st.integers(1, 3))
    def add(self, name: str, of: str, count: int) -> None:
        cluster = self.clusters.get(name)
        wanted = cluster.may_touch() if cluster else NOT_FOUND
        if cluster and not cluster.continuous:
            wanted = INVALID
        items = [{"InstanceGroupName": of, "IncrementTargetCountBy": count}]
        answer = self.ask("batch_add_cluster_nodes", wanted, ClusterName=name, NodesToAdd=items)
        if answer is None or cluster is None:
            return
        mine = cluster.groups.get(of)
        code = (
            None if mine and self.is_open(mine) else "InvalidInstanceGroupStatus" if mine else "InstanceGroupNotFound"
        )
        assert [one["ErrorCode"] for one in answer["Failed"]] == ([code] if code else [])
        if code is None and mine is not None:
            assert len(answer["Successful"]) == count
            mine.target += count

    @staticmethod
    def is_open(one: Group) -> bool:
        return one.status in OPEN and not one.leaving

    @rule(name=names, picked=picks, logical=st.booleans())
    def take(self, name: str, picked: list[int], logical: bool) -> None:
        """BatchDeleteClusterNodes."""
        chosen, key = self.choose(name, picked, logical)
        answer = self.batch("batch_delete_cluster_nodes", name, chosen, key, "Code")
        if answer is None:
            return
        lost = Counter(one["InstanceGroupName"] for one in chosen if one[self.id_of(key)] not in answer)
        for one in chosen:
            code = answer.get(one[self.id_of(key)])
            allowed = self.fate(name, one, "NodeIdInUse", {"InvalidNodeStatus"}, any_status=True)
            assert code in allowed, f"{code} for {one}, not {allowed}"
        cluster = self.clusters[name]
        if lost and not cluster.continuous:
            cluster.before = {of: each.target for of, each in cluster.groups.items()}
            cluster.status = self.world.describe(name)["ClusterStatus"]
        for of, count in lost.items():
            cluster.groups[of].lose(count)
        self.touch(chosen)

    @rule(name=names, picked=picks, logical=st.booleans(), verb=st.sampled_from(("reboot", "replace")))
    def repair(self, name: str, picked: list[int], logical: bool, verb: str) -> None:
        chosen, key = self.choose(name, picked, logical)
        answer = self.batch(f"batch_{verb}_cluster_nodes", name, chosen, key, "ErrorCode")
        if answer is None:
            return
        busy = {"InvalidInstanceStatus", "InstanceIdInUse"}
        for one in chosen:
            code = answer.get(one[self.id_of(key)])
            allowed = self.fate(name, one, "InstanceIdInUse" if verb == "replace" else None, busy, any_status=False)
            assert code in allowed, f"{code} for {one}, not {allowed}"
        self.troubled = True
        self.touch(chosen)

    def fate(
        self, name: str, node: dict[str, Any], of_controller: str | None, busy: set[str], *, any_status: bool
    ) -> set[str | None]:
        """The codes that an item may get; None: none."""
        cluster = self.clusters[name]
        mine = cluster.groups[node["InstanceGroupName"]]
        if of_controller and cluster.slurm and node["InstanceGroupName"] == "controller":
            return {of_controller}
        if not self.is_open(mine):
            return set(busy)
        status = node["InstanceStatus"]["Status"]
        if self.key(node) in self.touched or status in ("Failure", "ShuttingDown"):
            return {None, *busy}
        if status == "Running" or any_status:
            return {None}
        return set(busy)

    def choose(self, name: str, picked: list[int], logical: bool) -> tuple[list[dict[str, Any]], str]:
        cluster = self.clusters.get(name)
        key = "NodeLogicalIds" if logical and (cluster is None or cluster.continuous) else "NodeIds"
        nodes = [one for one in self.nodes.get(name, []) if one[self.id_of(key)]]
        return [nodes[place] for place in sorted({pick % len(nodes) for pick in picked})] if nodes else [], key

    @staticmethod
    def id_of(key: str) -> str:
        return {"NodeIds": "InstanceId", "NodeLogicalIds": "NodeLogicalId"}[key]

    def batch(
        self, operation: str, name: str, chosen: list[dict[str, Any]], key: str, code: str
    ) -> dict[str, str] | None:
        """The codes by id of the items that failed; None when the whole call was refused."""
        cluster = self.clusters.get(name)
        wanted = cluster.may_touch() if cluster else NOT_FOUND
        ids = [one[self.id_of(key)] for one in chosen]
        missing = "i-00000000000000000" if key == "NodeIds" else "no-such-node"
        answer = self.ask(operation, wanted, ClusterName=name, **{key: [*ids, missing]})
        if answer is None:
            return None
        suffix, item = ("", "NodeId") if key == "NodeIds" else ("NodeLogicalIds", "NodeLogicalId")
        failed = {one[item]: one[code] for one in answer[f"Failed{suffix}"]}
        assert failed.pop(missing) in ("NodeIdNotFound", "InstanceIdNotFound")
        assert sorted([*answer.get(f"Successful{suffix}", []), *failed]) == sorted(ids)
        return failed

    def touch(self, chosen: list[dict[str, Any]]) -> None:
        self.touched |= {self.key(one) for one in chosen}

    @staticmethod
    def key(node: dict[str, Any]) -> str:
        """Without continuous provisioning nodes have no logical ids."""
        return node.get("NodeLogicalId") or node["InstanceId"]

    @rule(name=names, of=scalable)
    def examine(self, name: str, of: str) -> None:
        """StartClusterHealthCheck."""
        cluster = self.clusters.get(name)
        wanted: Set[str] = cluster.may_touch() if cluster else NOT_FOUND
        mine = [one for one in self.nodes.get(name, []) if one["InstanceGroupName"] == of]
        ready = [one for one in mine if one["InstanceStatus"]["Status"] == "Running"]
        if cluster and wanted == OK:
            if of not in cluster.groups or not self.is_open(cluster.groups[of]) or not ready:
                wanted = INVALID
            elif self.touched & {self.key(one) for one in ready}:
                wanted = OK | INVALID
        asked = [{"InstanceGroupName": of, "DeepHealthChecks": ["InstanceStress"]}]
        if self.ask("start_cluster_health_check", wanted, ClusterName=name, DeepHealthCheckConfigurations=asked):
            self.touch(mine)

    # What befalls the world.

    @rule(total=st.one_of(st.none(), st.integers(0, 6)))
    def capacity(self, total: int | None) -> None:
        pools = self.world.control("GET", "capacity")["pools"]
        used = sum(pool["used"] for pool in pools if pool["instance_type"] == P5)
        self.ceilings[P5] = None if total is None else max(total, used)
        self.world.capacity(P5, total)

    @rule(
        effect=st.sampled_from(EFFECTS), probability=st.sampled_from((0.3, 1.0)), times=st.sampled_from((1, 2, 5, None))
    )
    def trouble(self, effect: str, probability: float, times: int | None) -> None:
        self.troubled = True
        self.world.fault(effect, probability=probability, **({} if times is None else {"times": times}))

    @rule()
    def no_more_trouble(self) -> None:
        self.world.control("DELETE", "faults")

    @rule(seconds=st.sampled_from(WAYS))
    def advance(self, seconds: int) -> None:
        self.world.advance(seconds)
        self.moved()

    def moved(self) -> None:
        self.touched.clear()
        self.fresh = True

    @rule()
    def calm(self) -> None:
        """When nothing is in the way any more, what was wanted comes to be (HP-2, HP-6, HP-16)."""
        self.world.control("DELETE", "faults")
        self.ceilings[P5] = None
        self.world.capacity(P5, None)
        self.world.advance(hours=4)
        self.moved()
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

    # How it is looked at.

    def now(self) -> datetime:
        return looking.instant(self.world.now())

    def ask(self, operation: str, wanted: Set[str], **request: Any) -> dict[str, Any] | None:
        """Call it; the answer, or None when it was refused. Whether it is refused is foretold."""
        type(self).steps += 1
        call: Callable[..., dict[str, Any]] = getattr(self.world.sagemaker, operation)
        try:
            answer = call(**request)
        except ClientError as refused:
            code, http = refused.response["Error"]["Code"], refused.response["ResponseMetadata"]["HTTPStatusCode"]
            assert http < 500, refused
            assert code in wanted, f"{operation}: {refused}, not {sorted(wanted)}"
            return None
        assert "ok" in wanted, f"{operation} was not refused: {sorted(wanted)}"
        self.fresh = self.fresh and operation.startswith("list")
        return answer

    @invariant()
    def look(self) -> None:
        """Every cluster against what is believed of it."""
        if not hasattr(self, "world"):
            return
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
        nodes = self.world.nodes(name, **({"IncludeNodeLogicalIds": True} if cluster.continuous else {}))
        self.nodes[name] = nodes
        shown = {one["InstanceGroupName"]: one for one in described["InstanceGroups"]}
        if cluster.continuous:
            self.identities.look(name, nodes, self.troubled)
            told = self.world.events(name)
            looking.look_at_events(told, self.told.get(name, []))
            self.told[name] = told
        self.see_groups(cluster, shown, was)
        for of, each in shown.items():
            if cluster.continuous:
                looking.look_at_group(each, [one for one in nodes if one["InstanceGroupName"] == of])

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
                mine.look(each, self.now(), gated=gated, is_open=cluster.status == "InService")
            mine.status, mine.current = each["Status"], each["CurrentCount"]
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

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.calm()
        self.world.close()
        self.service.worlds.remove(self.world)
