"""What updates change and refuse, and what the node batches do to a group."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.cluster import Cluster, Group
from app.core.errors import Conflict, Invalid
from app.core.intent import GroupIntent
from app.core.updating import (
    addition_problem,
    begin_update,
    check_may_delete,
    check_may_update,
    removal_problem,
    revise,
    shrink,
)
from tests.core.builders import (
    CPU,
    GPU,
    T0,
    asked,
    at,
    classic,
    cluster,
    controller,
    group,
    in_service,
    living,
    slurm,
)

FAILED = "Cluster demo is in Failed state. Delete it and create it again."
BUSY = "Cluster demo is in {} state and cannot be {} now. Try again later."
STATES: dict[str, tuple[Cluster, str | None, str | None]] = {  # cluster, refusal of an update, of a deletion
    "continuous, new": (cluster(), None, None),
    "continuous, in service": (living(), None, None),
    "HP-7: continuous, busy": (living(operation="update"), None, None),
    "HP-9: continuous, failed": (slurm(failed_at=T0), FAILED, None),
    "continuous, leaving": (
        living(delete_requested_at=T0),
        BUSY.format("Deleting", "changed"),
        BUSY.format("Deleting", "deleted"),
    ),
    "HP-40: classic, new": (classic(), BUSY.format("Creating", "changed"), BUSY.format("Creating", "deleted")),
    "HP-40: classic, updating": (
        classic(in_service_at=T0, operation="update"),
        BUSY.format("Updating", "changed"),
        BUSY.format("Updating", "deleted"),
    ),
    "HP-40: classic, rolling back": (
        classic(rolling_back_at=T0),
        BUSY.format("RollingBack", "changed"),
        BUSY.format("RollingBack", "deleted"),
    ),
    "classic, at rest": (classic(in_service_at=T0, operation=None), None, None),
    "classic, failed": (classic(failed_at=T0, operation=None), FAILED, None),
}


@pytest.mark.parametrize("name", STATES)
def test_when_it_may_change(name: str) -> None:
    """HP-7, HP-9, HP-19, HP-40."""
    one, no_update, no_deletion = STATES[name]
    for check, text in ((check_may_update, no_update), (check_may_delete, no_deletion)):
        if text is None:
            check(one)
        else:
            with pytest.raises(Conflict) as refusal:
                check(one)
            assert refusal.value.message == text


def change(old: Group, intent: GroupIntent, owner: Cluster | None = None, moment: float = 60) -> Group:
    return revise(owner or living(), {old.name: old}, [intent], [], at(moment)).changed[old.name]


FIXED = "Updating fields {} on an InstanceGroup not supported: group 'workers' keeps what it was made with."
LEAVING = in_service(2, delete_requested_at=T0)
REFUSED: dict[str, tuple[Group, GroupIntent, str]] = {
    "another type": (in_service(2), asked(instance_types=(CPU,)), FIXED.format("InstanceType")),
    "several types instead of one": (
        in_service(2),
        asked(instance_types=(GPU, CPU), single_type=False),
        FIXED.format("InstanceType"),
    ),
    "another node type": (
        in_service(2, node_type="Compute"),
        asked(node_type="Login"),
        FIXED.format("SlurmConfig.NodeType"),
    ),
    "another role": (
        in_service(2),
        asked(request={"ExecutionRole": "arn:aws:iam::111122223333:role/other"}),
        FIXED.format("ExecutionRole"),
    ),
    "threads that it did not have": (
        in_service(2),
        asked(request={"ThreadsPerCore": 2}),
        FIXED.format("ThreadsPerCore"),
    ),
    "another network": (
        in_service(2),
        asked(request={"OverrideVpcConfig": {}}),
        FIXED.format("OverrideVpcConfig"),
    ),
    "HP-14: a count below its minimum": (
        in_service(4, minimum=3),
        asked(count=2),
        "Instance group 'workers': InstanceCount 2 must not be below its MinInstanceCount 3. Give a smaller "
        "MinInstanceCount with it.",
    ),
    "HP-14: a minimum above the count": (
        in_service(4),
        asked(count=2, minimum=3),
        "Instance group 'workers': InstanceCount 2 must not be below its MinInstanceCount 3. Give a smaller "
        "MinInstanceCount with it.",
    ),
    "one that is being deleted": (
        LEAVING,
        asked(count=2),
        "Instance group 'workers' is being deleted. Add it again when it is gone.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    old, intent, text = REFUSED[name]
    with pytest.raises((Invalid, Conflict)) as refusal:
        change(old, intent)
    assert refusal.value.message == text


DELETIONS: dict[str, tuple[Cluster, list[GroupIntent], list[str], str]] = {
    "unknown groups": (
        living(),
        [],
        ["workers", "zebra", "ape"],
        "InstanceGroupsToDelete names no group of cluster demo: ape, zebra. DescribeCluster lists its groups.",
    ),
    "in both members": (
        living(),
        [asked("workers")],
        ["workers"],
        "Groups are given in InstanceGroups and in InstanceGroupsToDelete: workers. Choose.",
    ),
    "the controller": (
        slurm(in_service_at=T0),
        [],
        ["controller"],
        "The controller group of cluster demo cannot be deleted. Delete the cluster instead.",
    ),
    "twice": (living(), [], ["leaving"], "Instance groups are being deleted already: leaving. Leave them out."),
}


@pytest.mark.parametrize("name", DELETIONS)
def test_refused_deletions(name: str) -> None:
    owner, intents, names, text = DELETIONS[name]
    groups = {g.name: g for g in (in_service(2), controller(), replace(LEAVING, name="leaving"))}
    with pytest.raises((Invalid, Conflict)) as refusal:
        revise(owner, groups, intents, names, T0)
    assert refusal.value.message == text


def test_an_update_is_an_upsert_by_name() -> None:
    """HP-2: what is not named stays as it is."""
    groups = {g.name: g for g in (in_service(2, name="a"), in_service(2, name="b"), in_service(2, name="c"))}
    revision = revise(living(), groups, [asked("a", 5), asked("new", 3)], ["b"], at(9))
    assert set(revision.changed) == {"a", "b"}
    assert [intent.name for intent in revision.added] == ["new"]
    assert (revision.changed["a"].target, revision.changed["a"].operation) == (5, "update")
    assert (revision.changed["b"].delete_requested_at, revision.changed["b"].operation) == (at(9), "deletion")


MIN_COUNTS: dict[str, tuple[Group, GroupIntent, dict[str, Any]]] = {
    "HP-14: left out, it stays": (in_service(4, minimum=2), asked(count=6), {"minimum": 2, "min_since": None}),
    "HP-15: below it, the group waits": (
        in_service(4, minimum=1),
        asked(count=6, minimum=5),
        {"minimum": 5, "min_since": at(60), "stable_target": 4, "stable_min": 1},
    ),
    "HP-15: met already": (in_service(4), asked(count=6, minimum=4), {"minimum": 4, "min_since": None}),
    "HP-17: a second change keeps what was stable and starts the hours again": (
        in_service(4, target=6, minimum=5, min_since=T0, stable_target=4, stable_min=1),
        asked(count=9, minimum=7),
        {"target": 9, "minimum": 7, "min_since": at(60), "stable_target": 4, "stable_min": 1},
    ),
    "HP-17: the same value does not": (
        in_service(4, target=6, minimum=5, min_since=T0, stable_target=4, stable_min=1),
        asked(count=9, minimum=5),
        {"target": 9, "minimum": 5, "min_since": T0},
    ),
    "HP-17: a new group returns to nothing": (
        group(target=4, minimum=2, min_since=T0),
        asked(count=4, minimum=3),
        {"minimum": 3, "min_since": at(60), "stable_target": 0, "stable_min": 0},
    ),
    "HP-19: no minimum, no wait": (
        in_service(4, target=6, minimum=5, min_since=T0, stable_target=4),
        asked(count=6, minimum=0),
        {"minimum": 0, "min_since": None},
    ),
}


@pytest.mark.parametrize("name", MIN_COUNTS)
def test_min_count(name: str) -> None:
    old, intent, expected = MIN_COUNTS[name]
    new = change(old, intent)
    assert {fact: getattr(new, fact) for fact in expected} == expected


def test_the_same_values_again_are_no_operation() -> None:
    old = in_service(4, minimum=2)
    assert change(old, asked(count=4, minimum=2)).operation is None


def test_what_can_change_changes() -> None:
    """Lifecycle script, deep health checks and image; members that are left out stay."""
    old = in_service(2, request={"ImageId": "ami-1"})
    request = {"LifeCycleConfig": {"SourceS3Uri": "s3://b"}, "OnStartDeepHealthChecks": ["InstanceStress"]}
    new = change(old, asked(count=2, request=request))
    assert (new.has_script, new.deep_check) == (False, True)
    assert new.spec["request"]["ImageId"] == "ami-1"


def test_slurm_config_may_come_with_an_update() -> None:
    """HP-1: so a classic cluster can become continuous."""
    assert change(in_service(2), asked(count=2, node_type="Compute")).node_type == "Compute"
    assert change(in_service(2, node_type="Login"), asked(count=2)).node_type == "Login"


OPERATIONS = {
    "in service and busy": (living(), True, "update"),
    "in service, nothing changes": (living(), False, None),
    "during creation it belongs to the creation": (cluster(), True, "creation"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_begin_update(name: str) -> None:
    owner, busy, expected = OPERATIONS[name]
    begun = begin_update(replace(owner, spec={"NodeRecovery": "None", "a": 1}), {"NodeRecovery": "Automatic"}, busy)
    assert begun.operation == expected
    assert begun.spec == {"NodeRecovery": "Automatic", "a": 1}


B = "us-west-2b"
ADDITIONS: dict[str, tuple[Group | None, list[str], list[str], str | None]] = {
    "no such group": (None, [], [], "InstanceGroupNotFound"),
    "HP-19: Creating": (group(), [], [], "InvalidInstanceGroupStatus"),
    "HP-19: Updating": (in_service(2, min_since=T0), [], [], "InvalidInstanceGroupStatus"),
    "HP-19: Deleting": (LEAVING, [], [], "InvalidInstanceGroupStatus"),
    "a zone that it has not": (in_service(2), [B], [], "IncompatibleAvailabilityZones"),
    "a type that it has not": (in_service(2), [], [CPU], "IncompatibleInstanceTypes"),
    "a zone and a type that it has": (in_service(2, zones=("us-west-2a", B)), [B], [GPU], None),
    "HP-19: scaling down blocks nothing": (in_service(2, target=1), [], [], None),
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_additions(name: str) -> None:
    """HP-19, HP-31."""
    one, zones, types, expected = ADDITIONS[name]
    assert addition_problem(living(), one, zones, types) == expected


NO_CONTROLLER = "The Slurm controller node cannot be deleted. Delete the cluster instead."
REMOVALS: dict[str, tuple[Cluster, Group, bool, tuple[str, str] | None]] = {
    "HP-31: the controller": (slurm(in_service_at=T0), controller(), False, ("NodeIdInUse", NO_CONTROLLER)),
    "a node that goes already": (
        living(),
        in_service(2),
        True,
        ("InvalidNodeStatus", "The node is being terminated already."),
    ),
    "HP-19: Updating": (
        living(),
        in_service(2, min_since=T0),
        False,
        ("InvalidNodeStatus", "Instance group 'workers' is in Updating state. Try again when it is InService."),
    ),
    "a node in service": (living(), in_service(2), False, None),
    "on EKS a controller's name is but a name": (living(), in_service(1, node_type="Controller"), False, None),
}


@pytest.mark.parametrize("name", REMOVALS)
def test_removals(name: str) -> None:
    """HP-19, HP-31."""
    owner, one, stopping, expected = REMOVALS[name]
    assert removal_problem(owner, one, stopping) == expected


SHRUNK = {
    "the target falls": (in_service(5, minimum=1), 2, (3, 3, 1)),
    "HP-14: and takes the minimum down": (in_service(5, minimum=4), 2, (3, 3, 3)),
    "to nothing": (in_service(2, minimum=2), 2, (0, 0, 0)),
    "not below nothing when an update was there first": (in_service(5, target=2), 3, (2, 0, 0)),
}


@pytest.mark.parametrize("name", SHRUNK)
def test_shrink(name: str) -> None:
    """HP-14, HP-31."""
    before, count, expected = SHRUNK[name]
    after = shrink(before, count)
    assert (after.slots, after.target, after.minimum) == expected
    assert after.operation == "update"
