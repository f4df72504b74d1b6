"""Hosts that are drained, repaired, lost and taken away under work, in frozen worlds (FS-4, FS-11, FS-19)."""

from typing import Any

from tests.fleets import PARENT, gpu_group, gpus
from tests.kit import TestWorld, custom_job, eks
from tests.workloads import HOUR, decided, fleet, funded, refused, statuses, submit, told


def host(world: TestWorld, node: str) -> dict[str, Any]:
    found: dict[str, Any] = world.control("GET", f"hosts/{node}")
    return found


def hosts(world: TestWorld) -> dict[str, str]:
    """The state of each, by its node."""
    return {one["node"]: one["state"] for one in world.control("GET", "hosts")["hosts"]}


def place(world: TestWorld, workload: str) -> str:
    """The only node that the workload is on."""
    [node] = told(world, workload)["places"]
    return str(node)


def drain(world: TestWorld, node: str, then: str = "nothing") -> dict[str, Any]:
    """Marked, and seen by the scheduler's pass at this instant."""
    world.control("POST", f"hosts/{node}/drain", json={"then": then, "reason": "a loose cable"})
    world.advance(0)
    return host(world, node)


def instance(world: TestWorld, node: str) -> dict[str, Any]:
    [found] = [one for one in world.nodes(IncludeNodeLogicalIds=True) if one["NodeLogicalId"] == node]
    return found


def billed(world: TestWorld) -> int:
    """Milliseconds of all instances."""
    return sum(line["milliseconds"] for line in world.bill()["lines"])


def test_a_marked_host_is_emptied_as_protection_ends_rebooted_and_back(world: TestWorld) -> None:
    """FS-11, FS-4: no new work, unfunded work goes at once, protected work stays until its time; then it is repaired
    and returns with nobody's help."""
    fleet(world, 1, a=1)
    funded(world, "paid", "a", 1, gpus=4)
    submit(world, "free", 4)
    node = place(world, "paid")
    before = instance(world, node)["InstanceId"]
    marked = drain(world, node, "reboot")
    assert (marked["state"], marked["then"], marked["reason"]) == ("draining", "reboot", "a loose cable")
    assert marked["protected_until"] == told(world, "paid")["protected_until"] == "2026-01-01T01:10:00.000Z"
    assert statuses(world) == {"paid": "running", "free": "leaving"}
    world.advance(minutes=1)
    submit(world, "late", 1)
    assert statuses(world) == {"paid": "running", "free": "waiting", "late": "waiting"}
    world.advance(minutes=58)
    assert told(world, "paid")["status"] == "running"
    world.advance(minutes=1)
    assert told(world, "paid")["status"] == "leaving"
    assert ("preempt", "draining", None) in decided(world, workload="paid")
    world.advance(minutes=1)
    assert ("drained", "draining", None) in decided(world)
    assert (hosts(world), instance(world, node)["InstanceStatus"]["Status"]) == ({node: "away"}, "Pending")
    world.advance(10)
    assert (hosts(world), instance(world, node)["InstanceId"]) == ({node: "healthy"}, before)
    assert statuses(world) == {"paid": "running", "free": "running", "late": "waiting"}
    assert host(world, node)["marked"] is None


def test_an_empty_host_is_replaced_at_once_and_one_without_repair_waits_to_be_resumed(world: TestWorld) -> None:
    """FS-11."""
    fleet(world, 2, a=1)
    funded(world, "paid", "a", 1)
    busy = place(world, "paid")
    [idle] = hosts(world).keys() - {busy}
    before = instance(world, idle)["InstanceId"]
    drain(world, idle, "replace")
    world.advance(minutes=1)
    assert instance(world, idle)["InstanceId"] != before
    assert hosts(world) == {busy: "healthy", idle: "healthy"}
    assert drain(world, idle)["state"] == "drained"
    before_ms = billed(world)
    world.advance(hours=1)
    assert hosts(world)[idle] == "drained"
    assert billed(world) == before_ms + 2 * HOUR * 1000, "a drained host is billed as ever"
    submit(world, "late")
    assert told(world, "late")["status"] == "waiting"
    world.control("POST", f"hosts/{idle}/resume")
    world.advance(0)
    assert place(world, "late") == idle


def test_what_cannot_be_drained_or_resumed_is_told_in_words(world: TestWorld) -> None:
    """CT-10."""
    fleet(world, 1, a=1)
    [row] = world.nodes(IncludeNodeLogicalIds=True)
    node = row["NodeLogicalId"]
    status, text = refused(world, "POST", "hosts/i-0123/drain", json={})
    assert status == 404 and "windtunnel host list" in text
    status, text = refused(world, "POST", f"hosts/{node}/drain", json={})
    assert status == 400 and "has had no workload yet" in text
    submit(world, "free", 4)
    status, text = refused(world, "POST", f"hosts/{node}/resume")
    assert status == 409 and "not marked" in text
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="demo", NodeIds=[row["InstanceId"]])
    world.advance(0)
    status, text = refused(world, "POST", f"hosts/{row['InstanceId']}/drain", json={})
    assert status == 409 and "it is Pending" in text


def test_a_degraded_node_is_emptied_and_replaced_while_one_that_breaks_is_replaced_at_once(world: TestWorld) -> None:
    """FS-11, FS-19: the owner hears of both at once; protected work loses nothing but on the node that is gone."""
    fleet(world, 2, a=1)
    funded(world, "one", "a", 1)
    funded(world, "two", "a", 1)
    first, second = place(world, "one"), place(world, "two")
    before = instance(world, first)["InstanceId"]
    world.fault("node-degraded", node=first, code="Xid-74", times=1)
    world.advance(10)
    found = host(world, first)
    assert (found["state"], found["then"], found["status"]) == ("draining", "replace", "Running")
    assert "Xid-74" in found["reason"] == instance(world, first)["InstanceStatus"]["Message"]
    assert told(world, "one")["status"] == "running"
    world.fault("node-hardware", node=second, code="Xid-74", times=1)
    world.advance(4)
    assert (host(world, second)["state"], told(world, "two")["places"]) == ("away", {})
    assert decided(world, kind="lost") == [("lost", "node-failed", "two")]
    world.advance(minutes=1)
    assert (hosts(world)[second], place(world, "two")) == ("healthy", second)
    world.advance(hours=1)
    world.advance(minutes=1)
    assert hosts(world) == {first: "healthy", second: "healthy"}
    assert instance(world, first)["InstanceId"] != before


def test_a_degraded_node_of_a_cluster_without_workloads_is_rebooted_at_once(world: TestWorld) -> None:
    """FS-11: nothing need leave it."""
    fleet(world, 1)
    world.fault("node-degraded", code="Xid-73", times=1)
    world.advance(2)
    [row] = world.nodes()
    assert row["InstanceStatus"]["Status"] == "Pending"
    world.advance(10)
    [row] = world.nodes()
    assert (row["InstanceStatus"]["Status"], row["InstanceStatus"].get("Message")) == ("Running", None)


def resize(world: TestWorld, count: int) -> list[tuple[str, str, str | None]]:
    """The group has so many nodes; what was lost by that."""
    before = len(decided(world, kind="lost"))
    world.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[gpu_group(count)])
    world.advance(4)
    return decided(world, kind="lost")[before:]


def used(world: TestWorld, budget: str) -> int:
    """GPU-milliseconds that were charged."""
    days = world.control("GET", f"budgets/{budget}")["days"]
    return sum(day["gpu_milliseconds"] for day in days)


def test_a_smaller_group_gives_up_idle_then_unfunded_then_expired_then_protected_work(world: TestWorld) -> None:
    """FS-4, FS-19: the owner's stop, with its reason; then a hole that nobody fills is given up after ten minutes, and
    what is lost is charged no longer."""
    fleet(world, 4, a=1)
    funded(world, "expired", "a", 0.1)
    funded(world, "paid", "a", 8)
    submit(world, "free")
    world.advance(minutes=10)
    assert resize(world, 3) == []
    assert resize(world, 2) == [("lost", "scaled-down", "free")]
    assert resize(world, 1) == [("lost", "scaled-down", "expired")]
    assert resize(world, 0) == [("lost", "scaled-down", "paid")]
    charged = used(world, "a")
    world.advance(minutes=9)
    assert statuses(world) == dict.fromkeys(("expired", "paid", "free"), "running")
    world.advance(minutes=2)
    assert statuses(world) == dict.fromkeys(("expired", "paid", "free"), "waiting")
    assert ("requeue", "hole-not-filled", "paid") in decided(world)
    assert used(world, "a") == charged
    assert told(world, "paid")["submitted"] == "2026-01-01T00:10:00.000Z"


def test_what_the_owner_does_stops_protected_work_and_says_why(world: TestWorld) -> None:
    """FS-4, FS-11: each act at once, though the work is protected for hours; it goes on when the node is back."""
    fleet(world, 1, a=1)
    funded(world, "paid", "a", 8)
    client, demo = world.sagemaker, {"ClusterName": "demo"}
    node = place(world, "paid")
    nodes = {"NodeIds": [instance(world, node)["InstanceId"]]}
    client.batch_reboot_cluster_nodes(**demo, **nodes)
    world.advance(minutes=1)
    client.batch_replace_cluster_nodes(**demo, **nodes)
    world.advance(minutes=1)
    world.control("POST", "images", json={"version": "9.0.0"})
    client.update_cluster_software(**demo)
    world.advance(minutes=2)
    assert place(world, "paid") == node
    client.batch_delete_cluster_nodes(**demo, NodeIds=[instance(world, node)["InstanceId"]])
    world.advance(minutes=1)
    codes = [code for _, code, _ in decided(world, kind="lost", workload="paid")]
    assert codes == ["rebooted", "replaced", "software-update", "scaled-down"]
    assert [code for _, code, _ in decided(world, kind="fill")] == ["hole"] * 3
    client.delete_cluster(**demo)
    world.advance(minutes=1)
    assert (told(world, "paid")["status"], told(world, "paid")["reason"]) == ("ended", "fleet-gone")


def test_a_mark_outlives_the_scheduler_s_memory(world: TestWorld) -> None:
    """FS-11: a mark is a row, and what is in memory is not needed."""
    fleet(world, 2, a=1)
    funded(world, "paid", "a", 1)
    node = place(world, "paid")
    drain(world, node, "reboot")
    world.control("PATCH", "fleets/demo", json={"margin_millionths": 20_000})  # memories are rebuilt
    world.advance(minutes=62)
    assert ("drained", "draining", None) in decided(world)
    assert hosts(world)[node] == "healthy"
    assert place(world, "paid") != node


def test_without_node_recovery_a_degraded_host_stays_empty_until_it_is_turned_on(world: TestWorld) -> None:
    """FS-11, HP-29."""
    world.sagemaker.create_cluster(**eks(gpu_group(1), NodeRecovery="None"))
    world.advance(minutes=10)
    submit(world, "free")
    node = place(world, "free")
    world.fault("node-degraded", node=node, code="Xid-73", times=1)
    world.advance(minutes=10)
    found = host(world, node)
    assert (found["state"], found["then"], told(world, "free")["status"]) == ("drained", "nothing", "waiting")
    world.sagemaker.update_cluster(ClusterName="demo", NodeRecovery="Automatic")
    world.advance(minutes=1)
    assert (host(world, node)["state"], place(world, "free")) == ("healthy", node)


def test_jobs_end_for_a_reason(world: TestWorld) -> None:
    """FS-4: by their owners, by their timeout, by their programs."""
    fleet(world, 1)
    kinds = {"done": {}, "wrong": {"EXIT_CODE": "1"}, "endless": {"RUN_SECONDS": "900"}, "unwanted": {}}
    jobs = {}
    for name, env in kinds.items():
        job = custom_job(name, gpus(1, 1, **env), labels={"windtunnel-cluster": "demo"})
        job["job_spec"]["scheduling"] = {"timeout": {"seconds": 120}} if name == "endless" else {}
        jobs[name] = world.vertex.create_custom_job(parent=PARENT, custom_job=job).name
    world.advance(2)
    world.vertex.cancel_custom_job(name=jobs["unwanted"])
    world.advance(minutes=10)
    rows = world.control("GET", "workloads")["workloads"]
    assert {row["job_name"]: row["reason"] for row in rows} == {
        "done": "finished",
        "wrong": "program",
        "endless": "timed-out",
        "unwanted": "cancelled",
    }
