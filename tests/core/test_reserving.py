"""Machines of training plans: taken while a block is open, given back, never more than there are."""

from datetime import timedelta

import pytest

from app.core.capacity import Want
from app.core.errors import Invalid
from app.core.offerings import Block
from app.core.plans import Plan
from app.core.reserving import Reserve, check_plan, check_room
from app.core.times import after
from tests.core.builders import GPU, T0, ZONE, at, group, node, training_plan

ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"
WANT = Want("n-1", (GPU,), ("us-west-2b", ZONE))


def reserve(**facts: object) -> Reserve:
    return Reserve({ARN: training_plan(**facts)})  # type: ignore[arg-type]


def test_as_many_as_there_are() -> None:
    """A machine of the plan's type in its zone, in the block that is open."""
    one = reserve(total=2)
    grants = [one.take(ARN, WANT, at(hours=12)) for _ in range(3)]
    assert grants[2] is None and grants[0] == grants[1]
    assert grants[0] is not None and (grants[0].zone, grants[0].instance_type) == (ZONE, GPU)
    [block] = one.plans[ARN].reserved
    assert grants[0].reservation == block.reservation_id
    one.give_back(node(reservation=block.reservation_id))
    assert one.freed == {ARN} and one.take(ARN, WANT, at(hours=12)) is not None


@pytest.mark.parametrize("hour", [0, 9.99, 33, 40])
def test_nothing_outside_of_the_block(hour: float) -> None:
    """From its start to an hour before its end."""
    assert reserve().take(ARN, WANT, at(hours=hour)) is None
    assert reserve().take(ARN, WANT, at(hours=10)) and reserve().take(ARN, WANT, at(hours=32.99))


def test_nothing_of_another_kind() -> None:
    for want in (Want("n", (GPU,), ("us-west-2b",)), Want("n", ("ml.c5.xlarge",), (ZONE,))):
        assert reserve().take(ARN, want, at(hours=12)) is None
    assert reserve(declined=True).take(ARN, WANT, at(hours=12)) is None
    assert Reserve().take(ARN, WANT, at(hours=12)) is None


def test_ultra_servers_are_filled_one_after_the_other() -> None:
    """Spares are left alone."""
    one = reserve(total=6, ultra_type="ml.u", ultra_count=2, spares=1)
    grants = [one.take(ARN, WANT, at(hours=12)) for _ in range(5)]
    assert [grant and grant.server for grant in grants] == [1, 1, 2, 2, None]


def test_a_refused_node_tries_again_at_the_start() -> None:
    """HP-6: or before, by its own waits; no pool's machine wakes it."""
    waiting = node(launch_after=at(hours=11), waiting_since=T0)
    moved = reserve().sooner(ARN, waiting, T0)
    assert (moved.launch_after, moved.waiting_since) == (at(hours=10), None)
    early = node(launch_after=at(hours=1), waiting_since=T0)
    assert reserve().sooner(ARN, early, T0).launch_after == at(hours=1)
    assert reserve().sooner(ARN, waiting, at(hours=12)).launch_after == at(hours=11), "there is no start to come"


def test_what_is_over_and_what_is_next() -> None:
    blocks = Block(at(hours=10), at(hours=34)), Block(at(hours=58), at(hours=82))
    one = Reserve({ARN: training_plan(*blocks)})
    ids = one.plans[ARN].reservation_ids
    assert [one.over(at(hours=hour)) for hour in (32, 33, 81)] == [[], ids[:1], ids]
    assert [one.next_reclaim(at(hours=hour)) for hour in (0, 33, 81)] == [at(hours=33), at(hours=81), None]


@pytest.mark.parametrize(
    ("facts", "plan", "words"),
    [
        ({}, None, "does not exist"),
        ({}, training_plan(settles=99), "is Pending"),
        ({}, training_plan(declined=True), "is Failed"),
        ({}, training_plan(target="training-job"), "training-job only"),
        ({"instance_types": ("ml.c5.xlarge",)}, training_plan(), "the plan's type"),
        ({"zones": ("us-west-2b",)}, training_plan(), "subnet in us-west-2a"),
    ],
    ids=str,
)
def test_what_a_plan_cannot_serve(facts: dict[str, object], plan: Plan | None, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        check_plan(group(**facts), ARN, plan, after(T0, timedelta(hours=2)))
    check_plan(group(), ARN, training_plan(), at(hours=12))


def test_room() -> None:
    check_room(ARN, training_plan(), 4)
    with pytest.raises(Invalid, match="would want 5"):
        check_room(ARN, training_plan(), 5)
