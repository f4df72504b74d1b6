"""Statuses from facts, and who has to go."""

import itertools
from typing import Any

import pytest

from app.core.cluster import Candidate, Cluster, Group, Work, cluster_status, group_status, new_node, victims
from app.core.instance import wants_launch
from app.core.node import Node
from tests.core.builders import SEED, T0, at, classic, cluster, controller, group, in_service, living, login, slurm

CLUSTERS: dict[str, tuple[Cluster, str]] = {
    "new": (cluster(), "Creating"),
    "in service": (living(), "InService"),
    "HP-7: scaling does not show": (living(operation="update"), "InService"),
    "HP-40: a classic update does": (classic(in_service_at=T0, operation="update"), "Updating"),
    "HP-40: rolling back": (classic(in_service_at=T0, operation="update", rolling_back_at=T0), "RollingBack"),
    "HP-40: creation rolls back": (classic(rolling_back_at=T0), "RollingBack"),
    "HP-9: failed": (slurm(failed_at=T0), "Failed"),
    "failed outlasts service": (cluster(in_service_at=T0, failed_at=T0), "Failed"),
    "deleting": (living(delete_requested_at=T0), "Deleting"),
    "a failed one can be deleted": (cluster(failed_at=T0, delete_requested_at=T0), "Deleting"),
    "a classic one rests": (classic(in_service_at=T0, operation=None), "InService"),
}
GROUPS: dict[str, tuple[Cluster, Group, str]] = {
    "HP-15: new": (living(), group(), "Creating"),
    "in service": (living(), in_service(2), "InService"),
    "HP-15: MinCount is waited for": (living(), in_service(2, min_since=T0), "Updating"),
    "HP-7: scaling does not show": (living(), in_service(2, operation="update"), "InService"),
    "a classic update shows": (classic(in_service_at=T0, operation="update"), in_service(2, operation="u"), "Updating"),
    "a classic update of another group": (classic(in_service_at=T0, operation="update"), in_service(2), "InService"),
    "of a failed cluster": (slurm(failed_at=T0), group(), "Failed"),
    "it was in service before the cluster failed": (slurm(failed_at=T0), in_service(1), "InService"),
    "deleted": (living(), in_service(2, delete_requested_at=T0), "Deleting"),
    "of a deleted cluster": (living(delete_requested_at=T0), in_service(2), "Deleting"),
    "deleted while it waits": (living(), group(min_since=T0, delete_requested_at=T0), "Deleting"),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_cluster_status(name: str) -> None:
    one, expected = CLUSTERS[name]
    assert cluster_status(one) == expected


@pytest.mark.parametrize("name", GROUPS)
def test_group_status(name: str) -> None:
    owner, one, expected = GROUPS[name]
    assert group_status(owner, one) == expected


def test_every_status_is_one_of_the_vendor_s(shapes: dict[str, Any]) -> None:
    """Over all combinations of facts: `ClusterStatus` and `InstanceGroupStatus`."""
    facts = ("in_service_at", "failed_at", "rolling_back_at", "delete_requested_at")
    for marks in itertools.product([None, T0], repeat=len(facts)):
        for continuous, operation in itertools.product([True, False], ["creation", "update", "deletion", None]):
            owner = cluster(**dict(zip(facts, marks, strict=True)), continuous=continuous, operation=operation)
            assert cluster_status(owner) in shapes["ClusterStatus"]["enum"]
            for served, waits, deleted in itertools.product([None, T0], repeat=3):
                one = group(in_service_at=served, min_since=waits, delete_requested_at=deleted, operation=operation)
                assert group_status(owner, one) in shapes["InstanceGroupStatus"]["enum"]


READY, NEWER = Candidate("r-1", Node.RUNNING, at(0)), Candidate("r-2", Node.RUNNING, at(9))
FAILED = Candidate("f-1", Node.FAILED, at(5))
REFUSED = Candidate("f-2", Node.FAILED, None)
BOOTING, SCRIPT = Candidate("b-1", Node.BOOTING, at(3)), Candidate("b-2", Node.CONFIGURING, at(2))
CHECKING, NEVER = Candidate("b-3", Node.CHECKING, at(1)), Candidate("b-4", Node.REQUESTED, None)
TWIN_A, TWIN_B = Candidate("t-a", Node.RUNNING, at(4)), Candidate("t-b", Node.RUNNING, at(4))
BUSY = Candidate("w-1", Node.RUNNING, at(9), work=Work.UNFUNDED)
EXPIRED = Candidate("w-2", Node.RUNNING, at(10), work=Work.EXPIRED)
PROTECTED = Candidate("w-3", Node.RUNNING, at(11), work=Work.PROTECTED)
VICTIMS: dict[str, tuple[list[Candidate], int, list[str]]] = {
    "the unhealthy first": ([READY, FAILED, BOOTING], 1, ["f-1"]),
    "then those not yet ready": ([READY, FAILED, BOOTING], 2, ["f-1", "b-1"]),
    "then the rest": ([READY, FAILED, BOOTING], 3, ["f-1", "b-1", "r-1"]),
    "the most recently provisioned": ([READY, NEWER], 1, ["r-2"]),
    "newest among those not yet ready": ([CHECKING, SCRIPT, BOOTING], 3, ["b-1", "b-2", "b-3"]),
    "one that was never launched costs nothing": ([BOOTING, NEVER], 1, ["b-4"]),
    "a refused one before a failed launch": ([FAILED, REFUSED], 1, ["f-2"]),
    "ties by logical id": ([TWIN_B, TWIN_A], 2, ["t-a", "t-b"]),
    "idle ones before those with work, whichever is newer": ([BUSY, READY], 1, ["r-1"]),
    "the less the work is worth the sooner": ([PROTECTED, EXPIRED, BUSY, READY], 4, ["r-1", "w-1", "w-2", "w-3"]),
    "one that is not ready before an idle one": ([READY, BUSY, CHECKING], 2, ["b-3", "r-1"]),
    "none": ([READY], 0, []),
    "more than there are": ([READY], 5, ["r-1"]),
    "all kinds": (
        [READY, NEWER, FAILED, REFUSED, BOOTING, SCRIPT, CHECKING, NEVER, TWIN_B, TWIN_A],
        10,
        ["f-2", "f-1", "b-4", "b-1", "b-2", "b-3", "r-2", "t-a", "t-b", "r-1"],
    ),
}


@pytest.mark.parametrize("name", VICTIMS)
def test_victims(name: str) -> None:
    """HP-18: unhealthy, not yet ready, most recently provisioned; by logical id. VX-24, FS-4: the idle
    before the busy, those by what their work is worth."""
    candidates, count, expected = VICTIMS[name]
    assert victims(candidates, count) == expected
    assert victims(candidates[::-1], count) == expected, "the order in which they are read does not matter"


def test_a_new_place_wants_its_first_launch_at_once() -> None:
    one = new_node(slurm(), controller(), 1, at(5), SEED)
    assert wants_launch(one, at(5))
    assert (one.created_at, one.attempt, one.instance_id) == (at(5), 0, None)


def test_deadlines() -> None:
    """HP-8, HP-17: three hours from creation, and from the change of MinCount."""
    assert slurm().creation_deadline == at(hours=3)
    assert slurm(in_service_at=T0).creation_deadline is None
    assert cluster().creation_deadline is None, "EKS has no controller to wait for"
    assert classic().creation_deadline is None
    assert group(min_since=at(60)).min_deadline == at(60, hours=3)
    assert group().min_deadline is None
    assert [controller().gates_creation, login().gates_creation, group().gates_creation] == [True, True, False]
