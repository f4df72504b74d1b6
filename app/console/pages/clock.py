"""The clock's buttons, and the bar that they are in (CT-1)."""

from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from app.console import rendering
from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import FormOf
from app.console.journeys import MOST_WALL_SECONDS, Journeys
from app.console.page import Page, PageOf
from app.core.errors import DomainError, NotFound
from app.core.world import MOST_RATE
from app.usecases import clocks
from app.usecases.clocks import Goal

router = APIRouter()
LONGEST_S = 100 * 365 * 86_400


@router.get("/bar")
async def show_bar(page: PageOf) -> Response:
    """The bar alone, for a page that is shown already."""
    return HTMLResponse(rendering.whole("bar.html", page=page, bar=await page.bar()))


@router.get("/deed")
async def show_deed(page: PageOf) -> Response:
    """What has come of an action, for a page that was there before it ended."""
    if page.deed is None:
        raise NotFound("That action is not remembered any more.")
    return HTMLResponse(rendering.macro("deed", page.deed))


@router.post("/do/clock/advance")
async def advance(page: PageOf, form: FormOf) -> Response:
    """Advance by `seconds` of the world's time, or, without them, to what is due next."""
    seconds = form.whole("seconds", 0, LONGEST_S, 0)
    deed = _advance_deed(page, seconds)
    goal = Goal(timedelta(seconds=seconds) if seconds else None, most_wall_seconds=MOST_WALL_SECONDS)
    number = page.deeds.add(page.world, deed)
    try:
        await _journeys(page).begin(page.world, goal, number)
    except DomainError as error:
        page.deeds.end(page.world, number, error.message, failed=True)
    return page.return_to(number)


@router.post("/do/clock/stop")
async def stop(page: PageOf) -> Response:
    """Give up the advance that is under way."""
    stopped = await _journeys(page).stop(page.world)
    text = "The clock stays where it has got to." if stopped else "No advance of this console is under way."
    return page.back(Deed("Stop the advance", "", "", text, failed=not stopped))


@router.post("/do/clock/set")
async def change(page: PageOf, form: FormOf) -> Response:
    """Freeze, resume, or set the rate."""
    action = form.one_of("action", "freeze", "resume", "rate")
    rate = form.whole("rate", 1, int(MOST_RATE)) if action == "rate" else None
    frozen = None if action == "rate" else action == "freeze"
    words = ("clock", action) if rate is None else ("clock", "rate", str(rate))
    body = {"frozen": frozen} if rate is None else {"rate": rate}
    title = {"freeze": "Freeze the clock", "resume": "Let the clock run", "rate": f"Set the rate to {rate}"}[action]
    deed = Deed(title, command_line(page.world, *words), httpx_lines(page.endpoint, "POST", "clock", body))
    work = page.db.run(clocks.set_clock, page.world, frozen=frozen, rate=rate)
    return await page.perform(
        deed, work, lambda world: "The clock is frozen." if world.frozen else f"The clock runs at {world.rate:g} to 1."
    )


def _advance_deed(page: Page, seconds: int) -> Deed:
    words = ("clock", "advance", _duration(seconds)) if seconds else ("clock", "advance", "--next")
    body: dict[str, object] = {"by": seconds} if seconds else {"next": True}
    title = f"Advance the clock by {_duration(seconds)}" if seconds else "Advance the clock to the next event"
    return Deed(title, command_line(page.world, *words), httpx_lines(page.endpoint, "POST", "clock/advance", body))


def _duration(seconds: int) -> str:
    """As the command line reads it: 3h, 90s."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _journeys(page: Page) -> Journeys:
    found: Journeys = page.request.app.state.journeys
    return found
