"""What a continuous cluster does by itself: order, readiness, MinCount, rollback, failure."""

from dataclasses import replace
from typing import Any

import pytest

from app.core import ids
from app.core.capacity import Stock
from app.core.faults import Faults
from app.core.launching import Batch, Surroundings
from app.core.node import Node
from app.core.provisioning import CORRECTION, NOT_READY_IN_TIME, Decision, decide
from app.core.timings import MIN_COUNT_TIMEOUT
from tests.core.builders import (
    CPU,
    FAST,
    GPU,
    REALISTIC,
    SEED,
    T0,
    at,
    cluster,
    controller,
    group,
    in_service,
    living,
    login,
    pool,
    rule,
    slurm,
    workers,
)
from tests.core.fleet import Fleet

HOURS3 = MIN_COUNT_TIMEOUT.total_seconds()


def first_launch(fleet: Fleet, name: str) -> set[Any]:
    return {node.launched_at for node in fleet.members(name)}


def test_the_controller_comes_first() -> None:
    """HP-2, HP-4: then login and workers in parallel, at the moment the controller is up."""
    fleet = Fleet(slurm(opens_at=at(1)), controller(), login(), workers(3)).run(at(5))
    assert first_launch(fleet, "controller") == {at(1)}
    assert fleet.members("login") == fleet.members("workers") == []
    fleet.run(at(60))
    assert first_launch(fleet, "login") == first_launch(fleet, "workers") == {at(6)}
    assert fleet.told("munge-key") == [("munge-key", 6)]


SERVICE = {
    "HP-5: with a login group when one login is up": ((controller(), login(3, minimum=1), workers(2)), 10),
    "HP-5: without one as soon as the controller is up": ((controller(), workers(2)), 5),
}


@pytest.mark.parametrize("name", SERVICE)
def test_when_it_is_in_service(name: str) -> None:
    groups, second = SERVICE[name]
    fleet = Fleet(slurm(), *groups).run(at(second - 1))
    assert fleet.status == "Creating"
    assert fleet.run(at(second)).status == "InService"
    assert fleet.told("slurm-reconfigured", "cluster-completed") == [
        ("cluster-completed", second),
        ("slurm-reconfigured", second),
    ]


def test_one_login_of_several_is_enough() -> None:
    """HP-5: the others wait for machines meanwhile."""
    fleet = Fleet(slurm(), controller(), login(3), pools=[pool(2, instance_type=CPU)]).run(at(10))
    assert (fleet.status, fleet.counts("login")) == ("InService", (1, 3, 1))


def test_one_of_several_login_groups_is_enough() -> None:
    """HP-5."""
    second = group("second", node_type="Login", instance_types=(GPU,), minimum=0)
    fleet = Fleet(slurm(), controller(), login(), second, pools=[pool(0)]).run(at(10))
    assert (fleet.status, fleet.counts("second")) == ("InService", (0, 1, 0))


def test_eks_is_in_service_when_its_own_set_up_is_done() -> None:
    fleet = Fleet(cluster(opens_at=at(1)), group(target=2), pools=[pool(0)])
    assert fleet.run(at(0)).status == "Creating"
    assert fleet.run(at(1)).status == "InService"


def test_partial_capacity_is_accepted() -> None:
    """HP-2, HP-6: the others wait and join by themselves when machines appear, each at once."""
    fleet = Fleet(living(), group(target=5), pools=[pool(3)]).run(at(100))
    assert fleet.counts("workers") == (3, 5, 0)
    assert fleet.group_status("workers") == "InService"
    fleet.provide(pool(4)).run(at(105))
    assert fleet.counts("workers") == (4, 5, 0)
    fleet.provide(pool(9)).run(at(110))
    assert fleet.counts("workers") == (5, 5, 0)
    assert fleet.told("group-completed") == [("group-completed", 110)]


def test_the_cluster_stays_in_service_while_it_scales() -> None:
    """HP-7: several changes at once, on one group and on others, none waits for the one before."""
    fleet = Fleet(living(), in_service(0), in_service(0, name="more")).update(("workers", 2, None)).run(at(1))
    fleet.update(("workers", 4, None), ("more", 1, None)).run(at(2))
    fleet.update(("workers", 3, None))
    assert (fleet.status, fleet.counts("workers")) == ("InService", (0, 3, 0))
    fleet.run(at(60))
    assert (fleet.counts("workers"), fleet.counts("more")) == ((3, 3, 0), (1, 1, 0))
    assert fleet.told("cluster-completed") == [("cluster-completed", 6)]


def test_scaling_down_ends_when_the_last_is_gone() -> None:
    """HP-6: CurrentCount leaves out who terminates; HP-18 chooses."""
    fleet = Fleet(living(), group(target=3)).run(at(60)).update(("workers", 1, None)).run(at(60))
    assert fleet.counts("workers") == (1, 1, 0)
    assert [node.status for node in fleet.members("workers")].count(Node.TERMINATING) == 2
    assert fleet.run(at(62)).told("group-completed") == [("group-completed", 5), ("group-completed", 62)]
    assert len(fleet.members("workers")) == 1


def test_deleting_a_group() -> None:
    fleet = Fleet(living(), group(target=2), group("other")).run(at(60)).update(delete=["workers"]).run(at(61))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("Deleting", (0, 0, 0))
    assert set(fleet.run(at(62)).groups) == {"other"}


def test_deleting_the_cluster() -> None:
    """HP-22: charging ends when they enter the terminating state."""
    fleet = Fleet(living(), group(target=2)).run(at(60)).delete().run(at(61))
    assert (fleet.status, fleet.gone, fleet.bills()) == ("Deleting", False, [(3, 60), (3, 60)])
    assert fleet.run(at(62)).gone


# HP-8, HP-9: the controller's troubles


RETRYABLE = ["launch-transient", "launch-unhealthy"]
FINAL = {"launch-capacity": 0, "script-failed": 5, "script-hang": 63}


@pytest.mark.parametrize("effect", RETRYABLE)
def test_a_passing_failure_of_the_controller_is_retried(effect: str) -> None:
    """HP-8: it stays Creating until the controller is up."""
    fleet = Fleet(slurm(), controller(), workers(2), faults=[rule(effect, group="controller", times=2)]).run(at(9))
    assert fleet.status == "Creating"
    assert fleet.run(at(60)).status == "InService"
    assert fleet.members("controller")[0].attempt == 3


@pytest.mark.parametrize("effect", FINAL)
def test_the_first_final_failure_of_the_controller_fails_the_cluster(effect: str) -> None:
    """HP-9: with the reason and the corrective action."""
    fleet = Fleet(slurm(), controller(), workers(2), faults=[rule(effect, group="controller", times=1)])
    assert fleet.run(at(FINAL[effect])).status == "Failed"
    message = fleet.cluster.failure_message
    assert message is not None
    assert message.endswith(CORRECTION)
    assert message.startswith(fleet.members("controller")[0].message or "?")
    assert fleet.told("cluster-failed") == [("cluster-failed", FINAL[effect])]
    assert fleet.run(at(hours=9)).members("workers") == []
    assert fleet.members("controller")[0].attempt == 1, "launches have stopped"


def test_no_capacity_for_the_controller_s_type_is_final() -> None:
    """HP-9."""
    fleet = Fleet(slurm(), controller(), pools=[pool(0, instance_type=CPU)]).run(T0)
    assert fleet.status == "Failed"
    assert "sufficient capacity to launch new ml.c5.xlarge" in (fleet.cluster.failure_message or "")


def test_workers_cannot_fail_the_cluster() -> None:
    """HP-6, HP-9: neither their capacity nor their scripts."""
    fleet = Fleet(slurm(), controller(), workers(2), pools=[pool(1)], faults=[rule("script-failed", group="workers")])
    fleet.run(at(hours=4))
    assert (fleet.status, fleet.counts("workers")[0]) == ("InService", 0)


def test_the_controller_s_last_minute() -> None:
    """HP-8: three hours to the very moment. Up exactly then counts as up; a second later is too late."""
    late = HOURS3 - 120 - 240 - 300  # launch, boot and script of the realistic profile
    for seconds, status in ((late, "InService"), (late + 1, "Failed")):
        fleet = Fleet(slurm(opens_at=at(seconds)), controller(), timings=REALISTIC).run(at(HOURS3))
        assert fleet.status == status
    assert fleet.cluster.failure_message == NOT_READY_IN_TIME
    assert fleet.told("cluster-not-ready") == [("cluster-not-ready", HOURS3)]


def test_login_must_be_up_within_three_hours_too() -> None:
    """HP-8: the cluster's deadline rules, not HP-17; what runs goes on running and costing (HP-9)."""
    fleet = Fleet(slurm(), controller(), login(), workers(1), pools=[pool(1, instance_type=CPU), pool(1)])
    assert fleet.run(at(HOURS3 - 1)).status == "Creating"
    fleet.run(at(HOURS3 + 60))
    assert (fleet.status, fleet.told("rollback-initiated")) == ("Failed", [])
    assert [fleet.counts(name)[:2] for name in ("controller", "login", "workers")] == [(1, 1), (0, 1), (1, 1)]
    assert fleet.bills() == [(3, None), (8, None)]


def test_what_is_on_its_way_when_the_cluster_fails_arrives() -> None:
    """HP-9: `Failed` stops launches, not the instances."""
    fleet = Fleet(slurm(), controller(), login(), workers(2), pools=[pool(1), pool(1, instance_type=CPU)])
    fleet.run(at(HOURS3 - 2)).provide(pool(2), pool(1, instance_type=CPU)).run(at(HOURS3))
    assert (fleet.status, fleet.counts("workers")) == ("Failed", (1, 2, 0))
    assert fleet.run(at(HOURS3 + 60)).counts("workers") == (2, 2, 0)
    assert fleet.group_status("workers") == "InService"


def test_a_controller_that_falls_ill_later_fails_nothing() -> None:
    """HP-8: it was healthy once, so while login is still awaited its failure is no failure of the creation."""
    fleet = Fleet(slurm(), controller(), login(), pools=[pool(1, instance_type=CPU)]).run(at(60))
    batch = Batch(fleet.cluster, fleet.groups, Surroundings(SEED, FAST, Stock((), ()), Faults((), SEED)))
    batch.controller_failure = "Lifecycle scripts did not run successfully."
    made = Decision(fleet.cluster, dict(fleet.groups), at(60))
    decide(made, batch)
    assert (made.cluster.controller_ready_at, made.cluster.failed_at) == (at(5), None)


# HP-14 to HP-21: MinCount


def test_a_new_group_is_creating_until_its_minimum_is_ready() -> None:
    """HP-15, HP-16, HP-20."""
    fleet = Fleet(living(), group(target=5, minimum=3, min_since=T0), pools=[pool(2)]).run(at(60))
    assert fleet.group_status("workers") == "Creating"
    fleet.provide(pool(4)).run(at(65))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (4, 5, 3))
    assert fleet.told("minimum-reached") == [("minimum-reached", 65)]
    assert fleet.provide(pool(5)).run(at(99)).counts("workers") == (5, 5, 3)


def test_without_a_minimum_a_group_is_in_service_at_once() -> None:
    """HP-14, HP-20: and no event tells of a minimum of nothing."""
    fleet = Fleet(living(), group(target=2), pools=[pool(0)]).run(T0)
    assert (fleet.group_status("workers"), fleet.told("minimum-reached")) == ("InService", [])


def test_a_new_group_that_misses_its_minimum_is_rolled_back() -> None:
    """HP-17, HP-18: to nothing, InService as soon as the rollback begins."""
    fleet = Fleet(living(), group(target=5, minimum=3, min_since=T0), pools=[pool(2)]).run(at(HOURS3 - 1))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("Creating", (2, 5, 3))
    fleet.run(at(HOURS3))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (0, 0, 0))
    assert fleet.told("rollback-initiated") == [("rollback-initiated", HOURS3)]
    assert fleet.bills() == [(3, HOURS3), (3, HOURS3)]
    assert fleet.run(at(HOURS3 + 60)).members("workers") == []


def test_the_minimum_reached_exactly_at_the_deadline_is_reached() -> None:
    """HP-17: what is due at one instant is done before the group decides."""
    fleet = Fleet(living(), group(target=2, minimum=2, min_since=T0), pools=[pool(1)]).run(at(HOURS3 - 5))
    fleet.provide(pool(2)).run(at(HOURS3))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (2, 2, 2))
    assert fleet.told("minimum-reached", "rollback-initiated") == [("minimum-reached", HOURS3)]


def test_a_second_later_is_too_late() -> None:
    """HP-17."""
    fleet = Fleet(living(), group(target=2, minimum=2, min_since=T0), pools=[pool(1)]).run(at(HOURS3 - 4))
    assert fleet.provide(pool(2)).run(at(HOURS3)).counts("workers") == (0, 0, 0)


def test_an_existing_group_returns_to_its_last_stable_values() -> None:
    """HP-17: over two changes it is the values of the last InService state, and the three hours begin anew."""
    fleet = Fleet(living(), in_service(0)).update(("workers", 2, 1)).run(at(60))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (2, 2, 1))
    fleet.provide(pool(3)).update(("workers", 5, 4)).run(at(hours=1))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("Updating", (3, 5, 4))
    fleet.update(("workers", 8, 6)).run(at(60, hours=3))
    assert fleet.group_status("workers") == "Updating", "the first change's three hours are over, the second's not"
    fleet.run(at(hours=4))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (2, 2, 1))
    assert fleet.told("rollback-initiated") == [("rollback-initiated", 4 * 3600)]


def test_the_same_minimum_again_does_not_restart_the_hours() -> None:
    """HP-17: nor does a change of the target alone."""
    fleet = Fleet(living(), in_service(0), pools=[pool(1)]).update(("workers", 4, 3)).run(at(hours=1))
    fleet.update(("workers", 4, 3)).run(at(hours=2))
    fleet.update(("workers", 9, None)).run(at(HOURS3))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (0, 0, 0))


def test_a_minimum_that_is_met_already_changes_no_status() -> None:
    """HP-15: Updating only while CurrentCount is below it."""
    fleet = Fleet(living(), group(target=3)).run(at(60)).update(("workers", 3, 2))
    assert fleet.group_status("workers") == "InService"
    assert fleet.run(at(hours=9)).told("minimum-reached", "rollback-initiated") == []
    assert fleet.counts("workers") == (3, 3, 2)


def test_taking_the_minimum_back_ends_the_wait() -> None:
    """HP-19: changing MinCount is allowed while the group is Updating."""
    fleet = Fleet(living(), in_service(0), pools=[pool(1)]).update(("workers", 4, 3)).run(at(60))
    fleet.update(("workers", 4, 1)).run(at(60))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (1, 4, 1))
    fleet.update(("workers", 4, 0))
    assert fleet.run(at(hours=9)).told("rollback-initiated") == []


def test_rollback_takes_the_right_victims() -> None:
    """HP-18, HP-22, HP-24: a refused, an unhealthy, a booting and a newer running node go; the older ones stay, though
    they are idle (VX-24)."""
    deadline = 60 + HOURS3
    third = ids.logical_id(SEED, "abcdefghij12", "workers", 3)
    fleet = Fleet(living(), group(target=2), pools=[pool(2)], faults=[rule("launch-unhealthy", node=third)])
    fleet.run(at(60)).update(("workers", 6, 6)).run(at(deadline - 30))
    fleet.provide(pool(4)).run(at(deadline - 2))  # the third fails its health check, the fourth runs
    fleet.provide(pool(4)).run(at(deadline - 1))  # the fifth boots, the sixth is refused
    states = ["Running", "Running", "Failed", "Running", "Booting", "Failed"]
    assert [node.status.value for node in fleet.members("workers")] == states
    fleet.busy = {fleet.members("workers")[3].logical_id}
    fleet.run(at(deadline))
    assert [node.ordinal for node in fleet.members("workers") if node.terminate_at is None] == [1, 2]
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (2, 2, 0))
    assert fleet.bills() == [(3, None), (3, None), (deadline - 27, deadline)]
    assert [node.ordinal for node in fleet.run(at(deadline + 60)).members("workers")] == [1, 2]


def test_a_smaller_target_takes_idle_nodes_before_busy_ones() -> None:
    """VX-24: the newest has work on it."""
    fleet = Fleet(living(), group(target=3)).run(at(60))
    fleet.busy = {fleet.members("workers")[2].logical_id}
    fleet.update(("workers", 1, None)).run(at(120))
    assert [node.ordinal for node in fleet.members("workers")] == [3]


def test_the_minimum_is_no_lasting_guarantee() -> None:
    """HP-21: fewer than MinCount in a group that was in service changes no status and starts no clock."""
    fleet = Fleet(living(), group(target=3, minimum=2, min_since=T0)).run(at(60))
    for node in fleet.members("workers")[:2]:
        fleet._stop(node, at(60))
    fleet.groups["workers"] = replace(fleet.groups["workers"], slots=1)
    fleet.run(at(60))
    assert (fleet.group_status("workers"), fleet.counts("workers")) == ("InService", (1, 3, 2))
    assert fleet.run(at(hours=9)).counts("workers") == (3, 3, 2), "the lost ones are replaced"
    assert fleet.told("rollback-initiated") == []


def test_login_and_controller_obey_min_count_after_creation() -> None:
    """HP-8, HP-17: the cluster's deadline rules only while it is being created."""
    fleet = Fleet(slurm(), controller(min_since=T0), login(3, minimum=2, min_since=T0))
    fleet.provide(pool(2, instance_type=CPU)).run(at(60))
    assert (fleet.status, fleet.group_status("login")) == ("InService", "Creating")
    fleet.run(at(HOURS3))
    assert (fleet.status, fleet.group_status("login"), fleet.counts("login")) == ("InService", "InService", (0, 0, 0))
