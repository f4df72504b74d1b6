"""Classic mode: all or nothing (HP-40)."""

from dataclasses import replace

import pytest

from app.core.cluster import Group
from app.core.node import Node
from tests.core.builders import GPU, T0, at, classic, group, pool, rule
from tests.core.fleet import Fleet


def resting(*groups: Group, **facts: object) -> Fleet:
    """A classic cluster that has come into service."""
    return Fleet(classic(), *groups, **facts).run(at(60))  # type: ignore[arg-type]


def test_it_is_in_service_when_all_of_it_runs() -> None:
    fleet = Fleet(classic(opens_at=at(1)), group("a", 2), group("b", 3)).run(at(5))
    assert (fleet.status, fleet.group_status("a")) == ("Creating", "Creating")
    fleet.run(at(6))
    assert (fleet.status, fleet.group_status("a"), fleet.group_status("b")) == ("InService", "InService", "InService")


CAUSES = {"launch-capacity": 0, "launch-transient": 1, "launch-unhealthy": 3, "script-failed": 5}


@pytest.mark.parametrize("effect", CAUSES)
def test_creation_ends_failed_at_any_failure(effect: str) -> None:
    """One node of five fails: the others are taken back, then the cluster is Failed; nothing is left to pay for."""
    fleet = Fleet(classic(), group("a", 2), group("b", 3), faults=[rule(effect, group="b", times=1)])
    fleet.run(at(CAUSES[effect]))
    assert fleet.status == "RollingBack"
    fleet.run(at(CAUSES[effect] + 2))
    assert (fleet.status, fleet.group_status("a"), fleet.nodes) == ("Failed", "Failed", {})
    assert fleet.cluster.failure_message
    assert all(end is not None for _, end in fleet.bills())


def test_creation_without_capacity_says_so() -> None:
    fleet = Fleet(classic(), group(target=3), pools=[pool(2)]).run(at(60))
    assert fleet.status == "Failed"
    assert f"sufficient capacity to launch new {GPU}" in (fleet.cluster.failure_message or "")
    assert fleet.pools[0].used == 0


def test_an_update_shows() -> None:
    """`Updating`, of the cluster and of the groups that change."""
    fleet = resting(group("a", 2), group("b", 1)).update(("a", 3, None)).run(at(62))
    assert (fleet.status, fleet.group_status("a"), fleet.group_status("b")) == ("Updating", "Updating", "InService")
    assert fleet.run(at(65)).status == "InService"
    assert fleet.counts("a") == (3, 3, 0)


def test_why_an_update_failed_is_told_until_the_next_begins() -> None:
    """A cluster that is well again does not go on naming an old failure."""
    fleet = resting(group("a", 2), pools=[pool(3)])
    fleet.update(("a", 4, None)).run(at(99))
    assert (fleet.status, fleet.cluster.failure_message is None) == ("InService", False)
    fleet.update(("a", 3, None)).run(at(199))
    assert (fleet.status, fleet.counts("a"), fleet.cluster.failure_message) == ("InService", (3, 3, 0), None)


def test_a_failed_update_returns_to_the_former_counts() -> None:
    fleet = resting(group("a", 2), group("b", 1), pools=[pool(4)])
    fleet.update(("a", 4, None), ("b", 2, None)).run(at(60))
    assert fleet.status == "RollingBack"
    fleet.run(at(99))
    assert (fleet.status, fleet.counts("a"), fleet.counts("b")) == ("InService", (2, 2, 0), (1, 1, 0))
    assert fleet.pools[0].used == 3


def test_a_failed_update_takes_its_new_groups_back() -> None:
    fleet = resting(group("a", 2), pools=[pool(3)]).add(replace(group("new", 2, position=1), created_at=at(60)))
    assert fleet.run(at(60)).status == "RollingBack"
    assert set(fleet.run(at(99)).groups) == {"a"}
    assert (fleet.status, fleet.counts("a")) == ("InService", (2, 2, 0))


def test_what_an_update_took_away_comes_back() -> None:
    """The former counts are those of all groups, also of one that the failed update made smaller."""
    sick = rule("launch-unhealthy", group="b", after=at(60), times=1)
    fleet = resting(group("a", 2), group("b", 1), faults=[sick])
    fleet.update(("a", 1, None), ("b", 2, None)).run(at(99))
    assert (fleet.status, fleet.counts("a"), fleet.counts("b")) == ("InService", (2, 2, 0), (1, 1, 0))


def test_a_failure_of_the_rollback_does_not_begin_it_anew() -> None:
    """The message stays that of the update's own failure, and the rollback tries until it is done."""
    sick = rule("launch-unhealthy", group="b", after=at(60), times=1)
    short = rule("launch-capacity", "fault-2", group="a", after=at(61), times=1)
    fleet = resting(group("a", 2), group("b", 1), faults=[sick, short])
    fleet.update(("a", 1, None), ("b", 2, None)).run(at(63))
    begun, message = fleet.cluster.rolling_back_at, fleet.cluster.failure_message
    assert (begun, "EFA health checks" in (message or "")) == (at(63), True)
    fleet.run(at(66))
    assert (fleet.rules[1].hits, fleet.cluster.rolling_back_at, fleet.cluster.failure_message) == (1, begun, message)
    assert (fleet.run(at(99)).status, fleet.counts("a")) == ("InService", (2, 2, 0))


def test_an_old_failure_does_not_fail_a_later_update() -> None:
    fleet = resting(group("a", 1), pools=[pool(1)]).update(("a", 2, None)).run(at(99))
    fleet.provide(pool(5)).update(("a", 2, None)).run(at(150))
    assert (fleet.status, fleet.counts("a")) == ("InService", (2, 2, 0))


def test_a_group_is_deleted_within_an_update() -> None:
    fleet = resting(group("a", 2), group("b", 1)).update(("a", 1, None), delete=["b"]).run(at(61))
    assert (fleet.status, fleet.group_status("b")) == ("Updating", "Deleting")
    assert set(fleet.run(at(62)).groups) == {"a"}
    assert fleet.status == "InService"


def test_a_failed_cluster_can_be_deleted() -> None:
    fleet = Fleet(classic(), group(target=3), pools=[pool(2)]).run(at(60)).delete().run(at(60))
    assert fleet.gone


def test_deletion_takes_all_nodes() -> None:
    fleet = resting(group(target=3)).delete().run(at(60))
    assert {node.status for node in fleet.nodes.values()} == {Node.TERMINATING}
    assert fleet.run(at(62)).gone
    assert fleet.cluster.created_at == T0
