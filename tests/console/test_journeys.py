"""Advances that outlast their request."""

from datetime import timedelta

import pytest

from app.console import journeys
from app.console.deeds import Deed, Deeds
from app.console.journeys import Journeys
from app.core.errors import Conflict
from app.service import compose
from app.settings import Settings
from app.store.db import Database
from app.usecases.clocks import Goal
from tests.kit import TestWorld, login, slurm, workers

YEARS = Goal(timedelta(days=3650))


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


@pytest.fixture
def travels(database: Database, deeds: Deeds) -> Journeys:
    service = compose(Settings(), "journeys")
    service.database = database
    return Journeys(service, deeds)


async def test_one_at_a_time_until_it_is_stopped(
    world: TestWorld, travels: Journeys, deeds: Deeds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page does not wait for it, sees how far it has to go, and can end it."""
    monkeypatch.setattr(journeys, "PATIENCE_SECONDS", 0)
    world.sagemaker.create_cluster(**slurm(login(), workers(1)))
    number = deeds.add(world.name, Deed("far", "", ""))
    await travels.begin(world.name, YEARS, number)
    start, target = travels.of(world.name) or (None, None)
    assert start is not None
    assert target is not None
    assert target - start == YEARS.by
    with pytest.raises(Conflict, match="is being advanced"):
        await travels.begin(world.name, YEARS, number)
    assert await travels.stop(world.name)
    assert travels.of(world.name) is None
    assert not await travels.stop(world.name)
    deed = deeds.of(world.name, str(number))
    assert deed is not None
    assert deed.outcome == "Stopped; the clock stays where it has got to."
    assert world.control("GET", "clock")["advancing"] is False


async def test_its_end_is_told(world: TestWorld, travels: Journeys, deeds: Deeds, patient: None) -> None:
    number = deeds.add(world.name, Deed("an hour", "", ""))
    await travels.begin(world.name, Goal(timedelta(hours=1)), number)
    deed = deeds.of(world.name, str(number))
    assert deed is not None
    assert deed.outcome is not None
    assert deed.outcome.startswith("The clock moved on by 1 h 0 min 0 s, to 2026-01-01T01:00:00.000Z.")


async def test_what_cannot_be_is_told_in_its_place(
    travels: Journeys, world: TestWorld, deeds: Deeds, patient: None
) -> None:
    """A refusal that comes only while it is under way."""
    number = deeds.add(world.name, Deed("beyond", "", ""))
    await travels.begin(world.name, Goal(timedelta(days=365 * 7500)), number)
    deed = deeds.of(world.name, str(number))
    assert deed is not None
    assert deed.failed
    assert "The clock ends at" in str(deed.outcome)
