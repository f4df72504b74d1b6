"""The interpreter of every table: the earliest due stage wins, ties go by the table's order, facts are timestamps."""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.lifecycle import Fired, Stage, Table, advance, due, table
from app.core.times import WorldTime
from tests.core.builders import T0, at


class Lamp(StrEnum):
    OFF = "Off"
    WARM = "Warm"
    LIT = "Lit"
    BROKEN = "Broken"


@dataclass(frozen=True, slots=True)
class Thing:
    status: Lamp = Lamp.OFF
    since: WorldTime = T0
    pressed_at: WorldTime | None = None
    struck_at: WorldTime | None = None
    rung_at: WorldTime | None = None


STAGES = (
    Stage("break", Lamp.WARM, Lamp.BROKEN, ("since", "struck_at")),
    Stage("press", Lamp.OFF, Lamp.WARM, ("since", "pressed_at"), "short"),
    Stage("light", Lamp.WARM, Lamp.LIT, delay="long"),
    Stage("ring", Lamp.OFF, Lamp.OFF, ("since", "rung_at"), "short", clears=("rung_at",)),
    Stage("break-lit", Lamp.LIT, Lamp.BROKEN, ("since", "struck_at")),
    Stage("cool", Lamp.LIT, Lamp.OFF, delay="long", clears=("pressed_at",)),
)
TABLE: Table = table(STAGES)
DELAYS = {"none": timedelta(0), "short": timedelta(seconds=2), "long": timedelta(seconds=5)}

CASES = {
    "rests without its marks": (Thing(), None),
    "a delay after the latest mark": (Thing(pressed_at=at(9)), (at(11), "press")),
    "since counts when it is later than the mark": (Thing(since=at(30), pressed_at=at(9)), (at(32), "press")),
    "the earliest wins": (Thing(Lamp.WARM, struck_at=at(4)), (at(4), "break")),
    "a later one loses": (Thing(Lamp.WARM, struck_at=at(6)), (at(5), "light")),
    "at equal moments the higher row wins": (Thing(Lamp.WARM, struck_at=at(5)), (at(5), "break")),
    "a mark of another source guards nothing": (Thing(Lamp.BROKEN, struck_at=at(5), pressed_at=at(1)), None),
    "a stage that only clears": (Thing(rung_at=at(1), pressed_at=at(1)), (at(3), "press")),
}


@pytest.mark.parametrize("name", CASES)
def test_which_stage_is_due(name: str) -> None:
    thing, expected = CASES[name]
    hit = due(thing, TABLE, DELAYS)
    assert (hit and (hit[0], hit[1].name)) == expected


def test_stages_are_stamped_with_their_due_moment() -> None:
    """A loop that looks an hour late writes the same history."""
    thing, trail, rest = advance(Thing(pressed_at=at(1)), at(hours=1), TABLE, DELAYS)
    assert [(fired.stage, fired.at) for fired in trail] == [("press", at(3)), ("light", at(8)), ("cool", at(13))]
    assert thing == Thing(since=at(13)), "`cool` has cleared what was pressed"
    assert rest is None


def test_it_says_when_to_look_again() -> None:
    _, trail, rest = advance(Thing(pressed_at=at(1)), at(3), TABLE, DELAYS)
    assert [fired.stage for fired in trail] == ["press"]
    assert rest == at(8)


def test_a_stage_may_keep_its_state() -> None:
    """It spends a mark and leaves `since` alone."""
    thing, trail, _ = advance(Thing(rung_at=at(1)), at(60), TABLE, DELAYS)
    assert trail == [Fired("ring", Lamp.OFF, Lamp.OFF, at(3))]
    assert thing == Thing()


instants = st.one_of(st.none(), st.integers(0, 40).map(at))
things = st.builds(
    Thing, st.sampled_from(Lamp), st.integers(0, 10).map(at), pressed_at=instants, struck_at=instants, rung_at=instants
)


@given(things, st.lists(st.integers(0, 60), max_size=6))
@settings(max_examples=300, deadline=None)
def test_advancing_composes(thing: Thing, looks: list[int]) -> None:
    """RL-10: to p and then to q equals straight to q, whatever the cadence."""
    straight, whole, rest = advance(thing, at(60), TABLE, DELAYS)
    pieces: list[Fired] = []
    moved = thing
    for look in [*sorted(looks), 60]:
        moved, fired, again = advance(moved, at(look), TABLE, DELAYS)
        assert again is None or again > at(look)
        pieces += fired
    assert (moved, pieces, again) == (straight, whole, rest)
    assert [fired.at for fired in whole] == sorted(fired.at for fired in whole)


@given(things, st.integers(0, 60))
@settings(max_examples=100, deadline=None)
def test_nothing_fires_twice(thing: Thing, look: int) -> None:
    moved, _, _ = advance(thing, at(look), TABLE, DELAYS)
    assert advance(moved, at(look), TABLE, DELAYS)[:2] == (moved, [])


def test_a_fact_that_arrives_between_two_looks_counts_from_its_own_moment() -> None:
    moved, _, _ = advance(Thing(pressed_at=at(0)), at(4), TABLE, DELAYS)
    struck, trail, _ = advance(replace(moved, struck_at=at(4)), at(60), TABLE, DELAYS)
    assert [(fired.stage, fired.at) for fired in trail] == [("break", at(4))]
    assert struck.status is Lamp.BROKEN
