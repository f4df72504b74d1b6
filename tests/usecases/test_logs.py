"""The logs of jobs, without any wire (VX-17)."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.log_lines import Line
from app.usecases import clocks, logs
from app.usecases.clocks import Goal
from app.usecases.logs import Page, Question
from app.usecases.provisioning import Policy
from tests.jobs import PROJECT, Driver, pool, spec

WALL = datetime(2026, 1, 1, tzinfo=UTC)


async def lines(driver: Driver, job_id: str) -> list[tuple[int, Line]]:
    asked = {"task": None, "since": None, "after": 0, "limit": 1000}
    return (await driver.db.run(logs.of_job, driver.scope.world, job_id, **asked)).lines


async def page(driver: Driver, text: str, limit: int, after: Page | None = None) -> Page:
    asked = Question({PROJECT: "p1"}, text, WALL, descending=False, limit=limit, after=after.last if after else None)
    return await driver.db.run(logs.entries, driver.scope.world, asked)


async def test_the_newest_lines_of_each_job_are_kept(driver: Driver) -> None:
    """VX-17: as many as the settings say; their numbers stay."""
    kept, trimmed = await driver.create(), ""
    await driver.advance(100)
    whole = await lines(driver, kept)
    trimmed = await driver.create()
    policy = Policy(log_lines_per_job=3)
    goal = Goal(by=timedelta(seconds=100))
    assert (await clocks.advance(driver.db, driver.scope.world, goal, policy, "test", 10.0)).settled
    assert await lines(driver, kept) == whole
    last = (await driver.job(trimmed)).log_seq
    assert last == len(whole)
    newest = await lines(driver, trimmed)
    assert [seq for seq, _ in newest] == [last - 2, last - 1, last]
    assert [line.text for _, line in newest] == [line.text for _, line in whole[-3:]]


async def test_a_question_looks_at_so_many_lines_at_once(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """VX-17: the page is then short, and the place to go on behind is told."""
    monkeypatch.setattr(logs, "CHUNK", 2)
    monkeypatch.setattr(logs, "MOST_LOOKED_AT", 4)
    await driver.create(spec(pool(), pool(EXIT_CODE="1", EXIT_AFTER_SECONDS="1")))
    await driver.advance(100)
    whole = (await page(driver, "", 1000)).entries
    found, pages = await page(driver, "severity>=ERROR", 1), 1
    got = list(found.entries)
    while found.last is not None:
        found, pages = await page(driver, "severity>=ERROR", 1, found), pages + 1
        got += found.entries
    assert got == [each for each in whole if each["severity"] == "ERROR"]
    assert pages > len(got)
