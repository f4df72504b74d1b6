"""Fault rules, as far as the bar lists them (CT-3)."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.deeds import Deed, command_line, httpx_lines
from app.console.forms import FormOf
from app.console.page import PageOf
from app.usecases import faults

router = APIRouter()


@router.post("/do/fault/remove")
async def remove(page: PageOf, form: FormOf) -> Response:
    """Remove one rule."""
    rule = form.text("rule", 64)
    deed = Deed(
        f"Remove fault rule {rule}",
        command_line(page.world, "fault", "rm", rule),
        httpx_lines(page.endpoint, "DELETE", f"faults/{page.part(rule)}"),
    )
    return await page.perform(deed, page.db.run(faults.remove, page.world, rule), "It strikes no more.")
