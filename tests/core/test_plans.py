"""A plan's statuses follow from its facts and the time alone."""

from app.core.offerings import Block
from app.core.plans import Extension, plan_arn, reserved_arn
from app.core.times import WorldTime
from tests.core.builders import T0, training_plan
from tests.core.builders import at as moment


def at(hours: float) -> WorldTime:
    return moment(hours=hours)


def test_life_by_the_clock() -> None:
    whole = training_plan()
    told = [whole.status(at(hour)) for hour in (0, 0.99, 1, 9.99, 10, 33.99, 34, 9999)]
    assert told == ["Pending", "Pending", "Scheduled", "Scheduled", "Active", "Active", "Expired", "Expired"]
    assert [training_plan(declined=True).status(at(hour)) for hour in (0, 1, 12, 99)] == ["Pending", *["Failed"] * 3]
    assert training_plan(settles=11).status(at(10.5)) == "Pending", "a plan whose payment is under way gives nothing"


def test_machines_are_there_until_an_hour_before_the_end() -> None:
    whole = training_plan()
    [one] = whole.reserved
    assert [whole.open_block(at(hour)) for hour in (9.99, 10, 32.99, 33, 34)] == [None, one, one, None, None]
    assert whole.next_opening(at(0)) == at(10) and whole.next_opening(at(10)) is None
    assert whole.next_reclaim(at(10)) == at(33) and whole.next_reclaim(at(33)) is None
    assert training_plan(declined=True).open_block(at(12)) is training_plan(declined=True).next_opening(T0) is None
    assert training_plan(settles=11).next_opening(T0) == at(11)


def test_a_pause_between_blocks() -> None:
    split = training_plan(Block(at(10), at(34)), Block(at(58), at(82)))
    assert split.status(at(40)) == "Active" and split.open_block(at(40)) is None
    assert [split.reserved_status(one, at(40)) for one in split.reserved] == ["Expired", "Scheduled"]
    assert split.next_opening(at(34)) == at(58) and split.next_reclaim(at(33)) == at(81)
    assert split.milliseconds == 48 * 3_600_000
    assert len({one.reservation_id for one in split.reserved}) == 2


def test_an_extension_s_life() -> None:
    more = Extension(1, "tpeo-x", T0, at(10), at(34), None, 1, "recorded")
    assert [more.status(at(hour)) for hour in (0, 10, 34)] == ["Scheduled", "Active", "Expired"]
    assert more.payment == "Completed"
    failed = Extension(1, "tpeo-x", T0, at(10), at(34), T0, 1, "recorded")
    assert (failed.status(at(12)), failed.payment) == ("Failed", "Failed")


def test_arns_name_the_partition() -> None:
    assert plan_arn("cn-north-1", "1", "p") == "arn:aws-cn:sagemaker:cn-north-1:1:training-plan/p"
    assert reserved_arn("us-west-2", "1", "cr-1") == "arn:aws:sagemaker:us-west-2:1:reserved-capacity/cr-1"
