"""The walk: what a user does to a world, each answer foretold, and the world looked at after every step (RL-12)."""

import time
from collections import Counter
from collections.abc import Callable, Sequence, Set
from datetime import datetime
from typing import Any, ClassVar

from botocore.exceptions import ClientError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.kit import Running, TestWorld, classic, eks, group, login, slurm, workers
from tests.model.belief import CONFLICT, GATES, INVALID, NOT_FOUND, OK, Cluster, Group
from tests.model.choices import C5, EFFECTS, KINDS, P5, RESTLESS, WAYS, counts, minimums, names, picks, scalable
from tests.model.watching import Watch
from tests.workers.forked import Forked


class Walk(RuleBasedStateMachine):
    """One world with a frozen clock and two names of clusters."""

    service: Running
    reconcilers: Sequence[Forked] = ()
    steps = 0
    kills = 0
    saw: ClassVar[Counter[str]] = Counter()
    """Statuses of clusters and groups, and answers, by how often they were seen."""

    @initialize(
        seed=st.integers(0, 2**31),
        kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
        count=counts,
        heal=st.booleans(),
        machines=st.sampled_from((None, None, 2, 4)),
        effect=st.sampled_from((None, None, "script-failed", "launch-transient", "launch-unhealthy")),
        seconds=st.sampled_from((0, 3, 30, 30)),
    )
    def begin(
        self,
        seed: int,
        kinds: tuple[str, str],
        count: int,
        heal: bool,
        machines: int | None,
        effect: str | None,
        seconds: int,
    ) -> None:
        self.world: TestWorld = self.service.world(seed=seed)
        self.seen = Watch(self.world, self.saw)
        self.clusters = self.seen.clusters
        self.releases = self.asked = 0
        self.touched: set[str] = set()
        """Nodes that were asked something of since the clock last moved."""
        self.capacity(machines)
        if effect is not None:
            self.trouble(effect, 1.0, 1)
        for name, kind in zip(("one", "two"), kinds, strict=True):
            self.create(name, kind, count, None, False, heal)
        self.advance(seconds)

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
        now = self.seen.now()
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
        now = self.seen.now()
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
        self.seen.troubled = True
        self.ask("update_cluster", cluster.may() if cluster else NOT_FOUND, ClusterName=name, NodeRecovery=mode)

    @rule(name=names)
    def delete(self, name: str) -> None:
        cluster = self.clusters.get(name)
        wanted = (OK if cluster.is_deletable else CONFLICT) if cluster else NOT_FOUND
        if self.ask("delete_cluster", wanted, ClusterName=name) and cluster:
            self.seen.see(name, cluster)

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
        code = None if mine and mine.is_scalable else "InvalidInstanceGroupStatus" if mine else "InstanceGroupNotFound"
        assert [one["ErrorCode"] for one in answer["Failed"]] == ([code] if code else [])
        if code is None and mine is not None:
            assert len(answer["Successful"]) == count
            mine.target += count

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
        self.seen.troubled = True
        self.touch(chosen)

    def fate(
        self, name: str, node: dict[str, Any], of_controller: str | None, busy: set[str], *, any_status: bool
    ) -> set[str | None]:
        """The codes that an item may get; None: none."""
        cluster = self.clusters[name]
        mine = cluster.groups[node["InstanceGroupName"]]
        if of_controller and cluster.slurm and node["InstanceGroupName"] == "controller":
            return {of_controller}
        if not (mine.is_scalable if any_status else mine.is_open):
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
        nodes = [one for one in self.seen.nodes.get(name, []) if one[self.id_of(key)]]
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
        mine = [one for one in self.seen.nodes.get(name, []) if one["InstanceGroupName"] == of]
        ready = [one for one in mine if one["InstanceStatus"]["Status"] == "Running"]
        if cluster and wanted == OK:
            if of not in cluster.groups or not cluster.groups[of].is_open or not ready:
                wanted = INVALID
            elif self.touched & {self.key(one) for one in ready}:
                wanted = OK | INVALID
        asked = [{"InstanceGroupName": of, "DeepHealthChecks": ["InstanceStress"]}]
        if self.ask("start_cluster_health_check", wanted, ClusterName=name, DeepHealthCheckConfigurations=asked):
            self.touch(mine)

    @rule(name=names, newer=st.booleans())
    def patch(self, name: str, newer: bool) -> None:
        """UpdateClusterSoftware of the whole cluster, perhaps to a release that is new."""
        if newer:
            self.releases += 1
            self.world.control("POST", "images", json={"version": f"2.{self.releases}.0"})
        cluster = self.clusters.get(name)
        wanted = cluster.may_patch() if cluster else NOT_FOUND
        if self.ask("update_cluster_software", wanted, ClusterName=name) and cluster:
            self.seen.see(name, cluster)

    # What befalls the world.

    @rule(total=st.one_of(st.none(), st.integers(0, 6)))
    def capacity(self, total: int | None) -> None:
        pools = self.world.control("GET", "capacity")["pools"]
        used = sum(pool["used"] for pool in pools if pool["instance_type"] == P5)
        self.seen.ceilings[P5] = None if total is None else max(total, used)
        self.world.capacity(P5, total)

    @rule(
        effect=st.sampled_from(EFFECTS), probability=st.sampled_from((0.3, 1.0)), times=st.sampled_from((1, 2, 5, None))
    )
    def trouble(self, effect: str, probability: float, times: int | None) -> None:
        self.seen.troubled = True
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
        self.seen.fresh = True

    @precondition(lambda self: self.reconcilers)
    @rule(waits=st.lists(st.integers(0, 150), min_size=1, max_size=4), rate=st.sampled_from((60.0, 1000.0)))
    def run(self, waits: list[int], rate: float) -> None:
        """The clock runs, and after each wait, in milliseconds, a reconciler is killed wherever it is."""
        self.world.control("POST", "clock", json={"frozen": False, "rate": rate})
        for place, wait in enumerate(waits):
            time.sleep(wait / 1000)
            one = self.reconcilers[place % len(self.reconcilers)]
            one.kill()
            one.start()
            type(self).kills += 1
        self.world.control("POST", "clock", json={"frozen": True})
        self.advance(0)

    @rule()
    def calm(self) -> None:
        """When nothing is in the way any more, what was wanted comes to be (HP-2, HP-6, HP-16)."""
        self.world.control("DELETE", "faults")
        self.seen.ceilings[P5] = None
        self.world.capacity(P5, None)
        self.world.advance(hours=4)
        self.moved()
        self.seen.rest()

    # How it is looked at.

    def ask(self, operation: str, wanted: Set[str], **request: Any) -> dict[str, Any] | None:
        """Call it; the answer, or None when it was refused. Whether it is refused is foretold."""
        type(self).steps += 1
        self.asked += 1
        call: Callable[..., dict[str, Any]] = getattr(self.world.sagemaker, operation)
        try:
            answer = call(**request)
        except ClientError as refused:
            code, http = refused.response["Error"]["Code"], refused.response["ResponseMetadata"]["HTTPStatusCode"]
            assert http < 500, refused
            self.saw[code] += 1
            assert code in wanted, f"{operation}: {refused}, not {sorted(wanted)}"
            return None
        assert "ok" in wanted, f"{operation} was not refused: {sorted(wanted)}"
        self.seen.fresh = self.seen.fresh and operation.startswith("list")
        return answer

    @invariant()
    def look(self) -> None:
        if not hasattr(self, "world"):
            return
        self.seen.look()
        if self.asked >= RESTLESS:  # Hypothesis leaves rules out of whole walks, and without time nothing happens
            self.asked = 0
            self.advance(WAYS[len(self.seen.told) + self.steps % 5])
            self.seen.look()

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        self.calm()
        self.world.close()
        self.service.worlds.remove(self.world)
