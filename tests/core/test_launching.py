"""One launch attempt: what is tried, told, granted and given back."""

from dataclasses import replace

import pytest

from app.core.capacity import Stock
from app.core.failures import CAPACITY_MESSAGE
from app.core.faults import Faults
from app.core.instance import Instance
from app.core.launching import Surroundings, work
from app.core.node import Node
from app.core.telling import DELETED_WHILE_PROVISIONING
from tests.core.builders import CPU, FAST, GPU, INSTANT, KNOWN, SEED, T0, at, cluster, group, living, node, pool, rule
from tests.core.fleet import Fleet

PAIR = ("provision-failed", "creation-failed")


def test_a_failed_provisioning_gives_two_events_a_second_apart() -> None:
    """HP-3, HP-27: at every attempt, also while others follow quickly."""
    fleet = Fleet(living(), group(), pools=[pool(0)]).run(at(9))
    failed, created = (fleet.told(kind) for kind in PAIR)
    assert [second for _, second in failed] == [0, 1, 3, 7]
    assert [second for _, second in created] == [1, 2, 4, 8]
    assert all(e.params["failure"] == CAPACITY_MESSAGE.format(GPU) for e in fleet.events if e.kind in PAIR)
    assert fleet.bills() == [], "HP-24"


def test_a_failed_health_check_gives_the_pair_too() -> None:
    """HP-24, HP-27."""
    fleet = Fleet(living(), group(), faults=[rule("launch-unhealthy", times=1)]).run(at(60))
    assert fleet.told(*PAIR) == [("provision-failed", 3), ("creation-failed", 4)]
    assert fleet.bills() == [(7, None)], "only the second attempt is billed"
    assert len({e.instance_id for e in fleet.events if e.kind == "no-reservation"}) == 2


def test_woken_within_the_second_the_pair_stays_a_pair() -> None:
    """HP-6, HP-27: the second event comes with the new attempt, before what that tells."""
    fleet = Fleet(living(), group(), pools=[pool(0)]).run(at(millis=300))
    fleet.provide(pool(1)).run(at(60))
    assert fleet.told(*PAIR) == [("provision-failed", 0), ("creation-failed", 0.3)]
    kinds = [kind for kind, second in fleet.told() if second == 0.3]
    assert kinds == ["creation-failed", "no-reservation"]
    assert fleet.counts("workers") == (1, 1, 0)


def test_a_late_pass_moves_nothing() -> None:
    """HP-27, CT-1: woken within the second, handled long after it, and told as if in time."""
    woken = replace(waiting(1, 0.3), echo_at=T0)
    batch = work(living(), {"workers": group()}, [woken], at(millis=300), at(9), surroundings())
    assert [(event.kind, event.at) for event in batch.events] == [
        ("creation-failed", at(millis=300)),
        ("no-reservation", at(millis=300)),
    ]


def test_deleted_within_the_second_the_pair_stays_a_pair() -> None:
    """HP-27: and the reason is that of the failure."""
    fleet = Fleet(living(), group(), pools=[pool(0)]).run(at(millis=300))
    fleet.update(("workers", 0, None)).run(at(60))
    assert fleet.told(*PAIR) == [("provision-failed", 0), ("creation-failed", 0.3)]
    assert fleet.events[-3].params["failure"] == CAPACITY_MESSAGE.format(GPU)
    assert fleet.nodes == {}


def test_deleted_after_the_second_the_creation_is_broken_off() -> None:
    fleet = Fleet(living(), group(), pools=[pool(0)]).run(at(2))
    fleet.update(("workers", 0, None)).run(at(60))
    failures = [e.params["failure"] for e in fleet.events if e.kind == "creation-failed" and e.at == at(2)]
    assert failures == [CAPACITY_MESSAGE.format(GPU), DELETED_WHILE_PROVISIONING]


def test_a_node_deleted_in_its_script_is_told_and_charged_so_far() -> None:
    """HP-22: charging stops when it enters the terminating state."""
    fleet = Fleet(living(), group()).run(at(4)).update(("workers", 0, None)).run(at(60))
    assert fleet.bills() == [(3, 4)]
    kinds = [kind for kind, _ in fleet.told("script-started", "creation-failed", "terminating", "instance-completed")]
    assert kinds == ["script-started", "creation-failed", "terminating", "instance-completed"]


def test_a_failed_script_is_charged_and_retried() -> None:
    """HP-23: a new provisioning attempt, a new instance, an interval of its own."""
    fleet = Fleet(living(), group(), faults=[rule("script-failed", times=2)]).run(at(60))
    assert fleet.bills() == [(3, 5), (9, 11), (16, None)]
    assert fleet.told("script-failed", "creation-failed") == [
        ("script-failed", 5),
        ("creation-failed", 6),
        ("script-failed", 11),
        ("creation-failed", 12),
    ]
    assert len({one.instance_id for one in fleet.ledger.values()}) == 3


def test_a_hanging_script_times_out() -> None:
    """HP-23."""
    fleet = Fleet(living(), group(), faults=[rule("script-hang", times=1)]).run(at(99))
    assert fleet.bills() == [(3, 63), (67, None)]


SLOW = {"by the profile": (None, 63), "by the rule": (10, 13)}


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_boot_is_not_charged(name: str) -> None:
    """HP-22, CT-3."""
    seconds, begins = SLOW[name]
    fleet = Fleet(living(), group(), faults=[rule("boot-slow", seconds=seconds)]).run(at(99))
    assert fleet.bills() == [(begins, None)]


def test_scripts_cannot_fail_where_there_is_none() -> None:
    """Nor does the rule count a match: there was nothing that it could strike."""
    fleet = Fleet(living(), group(has_script=False), faults=[rule("script-failed")]).run(at(60))
    assert (fleet.counts("workers"), fleet.rules[0].matches, fleet.bills()) == ((1, 1, 0), 0, [(3, None)])


def surroundings(*pools: object, total: int = 9) -> Surroundings:
    return Surroundings(SEED, FAST, Stock([pool(total)], KNOWN), Faults((), SEED))


def waiting(ordinal: int, since: float, name: str = "workers") -> Instance:
    return node(
        Node.FAILED,
        group=name,
        ordinal=ordinal,
        logical_id=f"{name}-{ordinal}",
        zone=None,
        launch_after=at(since),
        waiting_since=T0,
    )


def test_machines_go_to_who_may_launch_first_then_by_group_and_ordinal() -> None:
    """HP-6: in one fixed order, whatever the order of reading."""
    groups = {one.name: one for one in (group(position=1), group("first", position=0))}
    nodes = [waiting(2, 5), waiting(1, 5), waiting(3, 4), waiting(1, 5, "first")]
    batch = work(living(), groups, nodes, at(9), at(9), surroundings(total=3))
    launched = [one.logical_id for one in batch.changed if one.status is Node.LAUNCHING]
    assert launched == ["workers-3", "first-1", "workers-1"]


def test_a_group_spreads_over_its_zones() -> None:
    """CT-4: each node begins at another zone, and goes to the next when that is full."""
    zones = ("us-west-2a", "us-west-2b", "us-west-2c")
    fleet = Fleet(living(), group(target=6, zones=zones), pools=[pool(1, "us-west-2b")]).run(at(60))
    assert [one.zone for one in fleet.members("workers")] == [zones[i] for i in (0, 1, 2, 0, 2, 2)]


def test_types_in_their_order_of_priority() -> None:
    """CT-4: the node shows and is billed as the type that it got."""
    fleet = Fleet(living(), group(target=3, instance_types=(GPU, CPU)), pools=[pool(2)]).run(at(60))
    assert [one.instance_type for one in fleet.members("workers")] == [GPU, GPU, CPU]
    assert [one.instance_type for one in fleet.ledger.values()] == [GPU, GPU, CPU]


def test_a_node_s_own_wish_goes_before_its_group_s() -> None:
    """HP-31: zones and types of BatchAddClusterNodes."""
    both = group(instance_types=(GPU, CPU), zones=("us-west-2a", "us-west-2b"))
    wish = replace(waiting(1, 0), wish={"zones": ("us-west-2b",), "types": (CPU,)})
    (launched,) = work(living(), {"workers": both}, [wish], T0, T0, surroundings()).changed
    assert (launched.zone, launched.instance_type) == ("us-west-2b", CPU)


@pytest.mark.parametrize(("freed", "stamped"), [(None, 5), (3, 5), (6, 6)])
def test_grants_are_stamped_from_when_the_machine_was_free(freed: int | None, stamped: int) -> None:
    """CT-1: a late grant is as old as it can be without a machine that two held at once."""
    one = pool(1, freed_at=None if freed is None else at(freed))
    around = Surroundings(SEED, FAST, Stock([one], KNOWN), Faults((), SEED))
    (launched,) = work(living(), {"workers": group()}, [waiting(1, 5)], at(5), at(7), around).changed
    assert (launched.since, launched.launched_at, launched.boot_after) == (at(stamped), at(stamped), at(stamped + 1))


def test_refusals_are_stamped_when_they_are_decided() -> None:
    (refused,) = work(living(), {"workers": group()}, [waiting(1, 5)], at(5), at(7), surroundings(total=0)).changed
    assert refused.since == at(7)


def test_instantly() -> None:
    """CT-16: with no gap between asking and having, all of it happens at one instant."""
    fleet = Fleet(living(), group(target=50), timings=INSTANT).run(T0)
    assert (fleet.counts("workers"), fleet.bills()) == ((50, 50, 0), [(0, None)] * 50)


NETWORKS = {True: ["eni-created", "unused-eni-deleted", "eni-created", "eni-deleted"], False: []}


@pytest.mark.parametrize("own", NETWORKS)
def test_interfaces_are_told_of_in_the_customer_s_network_only(own: bool) -> None:
    fleet = Fleet(living(), group(own_network=own), faults=[rule("launch-unhealthy", times=1)]).run(at(60))
    fleet.update(("workers", 0, None)).run(at(99))
    told = fleet.told("eni-created", "unused-eni-deleted", "eni-deleted")
    assert [kind for kind, _ in told] == NETWORKS[own]


ENDED = {"HP-9: failed": {"failed_at": T0}, "being deleted": {"delete_requested_at": T0}}


@pytest.mark.parametrize("name", ENDED)
def test_a_cluster_that_has_ended_launches_nothing(name: str) -> None:
    """Its waiting nodes are not asked again, so that it is due no more."""
    batch = work(cluster(**ENDED[name]), {"workers": group()}, [waiting(1, 0)], T0, T0, surroundings())
    assert [one.launch_after for one in batch.changed] == [None]
    assert batch.events == []


LEAVING = ("hardware_fault_at", "reboot_at", "replace_at", "terminate_at", "patch_at", "examine_at")


@pytest.mark.parametrize("mark", LEAVING)
def test_whatever_takes_a_node_out_of_running_is_noticed(mark: str) -> None:
    """VX-24: who works on it is lost."""
    batch = work(living(), {"workers": group()}, [node(Node.RUNNING, **{mark: T0})], at(60), at(60), surroundings())
    assert list(batch.left) == [node().logical_id]
    assert batch.came == (mark in ("reboot_at", "patch_at", "examine_at")), "after which it runs again"
