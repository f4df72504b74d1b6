"""Statuses of scheduler configs and compute quotas: functions of facts and the moment."""

from datetime import timedelta

import pytest

from app.core.errors import Conflict
from app.core.faults import Rule
from app.core.governance import (
    ENDINGS,
    KEPT,
    Resource,
    Status,
    check_may_delete,
    check_may_update,
    ending,
    failing,
    failure,
    in_force,
    is_deleted,
    revised,
    status,
)
from tests.core.builders import at, compute_quota

TAKES = timedelta(seconds=2)
RULE = Rule("f-1", "internal-error")


def rolled_back_in_vain(doing: Status) -> Rule:
    return Rule("f-1", "internal-error", code=ENDINGS[doing].rollback_failed)


def created() -> Resource:
    return compute_quota()


def updated(one: Resource, seconds: float) -> Resource:
    return revised(one, one.spec, "new", at(seconds), TAKES)


def test_a_status_changes_by_the_clock_alone() -> None:
    one = created()
    assert [status(one, at(millis=ms)) for ms in (0, 1999, 2000)] == ["Creating", "Creating", "Created"]
    two = updated(one, 5)
    assert (two.version, two.team, two.stable_version) == (2, "new", 1)
    assert [status(two, at(seconds)) for seconds in (5, 7)] == ["Updating", "Updated"]
    three = ending(two, at(8), TAKES)
    assert [status(three, at(seconds)) for seconds in (8, 10)] == ["Deleting", "Deleted"]
    assert [is_deleted(three, at(seconds)) for seconds in (9, 10)] == [False, True]
    assert three.vanishes_at == at(10) + KEPT


def test_every_status_of_the_vendor_is_reached() -> None:
    """Twelve, each by its operation and how that ends."""
    seen = set()
    for operation in (created(), updated(created(), 5), ending(created(), at(5), TAKES)):
        for one in (operation, failing(operation, RULE), failing(operation, rolled_back_in_vain(operation.doing))):
            seen |= {status(one, one.begun_at), status(one, one.settles_at)}
            assert failure(one, one.begun_at) is None
            assert bool(failure(one, one.settles_at)) == (one is not operation)
    assert seen == set(Status)


def test_what_is_in_force() -> None:
    """While an update is under way and when it has failed it is the version before."""
    one = created()
    assert [in_force(one, at(seconds)) for seconds in (1, 2)] == [None, 1]
    assert in_force(failing(one, RULE), at(2)) is None
    two = updated(one, 5)
    assert [in_force(two, at(seconds)) for seconds in (6, 7)] == [1, 2]
    lost = failing(two, RULE)
    assert in_force(lost, at(7)) == 1
    assert in_force(failing(two, rolled_back_in_vain(Status.UPDATING)), at(7)) == 1
    assert [in_force(updated(lost, 8), at(seconds)) for seconds in (9, 10)] == [1, 3]
    three = ending(two, at(8), TAKES)
    assert [in_force(three, at(seconds)) for seconds in (9, 10)] == [2, None]
    assert in_force(failing(three, RULE), at(10)) == 2
    assert in_force(failing(three, rolled_back_in_vain(Status.DELETING)), at(10)) is None


def test_a_deletion_that_fails_does_not_vanish() -> None:
    assert failing(ending(created(), at(5), TAKES), RULE).vanishes_at is None


def test_a_long_message_is_cut_to_the_model_s_length() -> None:
    told = failing(created(), Rule("f-1", "internal-error", message="x" * 5000))
    assert told.failure == "x" * 1024


@pytest.mark.parametrize("doing", ENDINGS)
def test_a_rule_of_another_operation_s_code_fails_the_usual_way(doing: Status) -> None:
    operations = {Status.CREATING: created(), Status.UPDATING: updated(created(), 5)}
    one = operations.get(doing, ending(created(), at(5), TAKES))
    for code in (None, "InternalFailure", "CreateRollbackFailed" if doing != Status.CREATING else "DeleteFailed"):
        assert failing(one, Rule("f-1", "internal-error", code=code)).outcome == ENDINGS[doing].failed


def test_who_may_be_changed() -> None:
    one = created()
    for check in (lambda: check_may_update(one, 1, at(1)), lambda: check_may_delete(one, at(1))):
        with pytest.raises(Conflict, match="status is Creating"):
            check()
    check_may_update(one, 1, at(2))
    check_may_delete(one, at(2))
    with pytest.raises(Conflict, match="which is 1"):
        check_may_update(one, 2, at(2))
    with pytest.raises(Conflict, match="CreateFailed"):
        check_may_update(failing(one, RULE), 1, at(2))
