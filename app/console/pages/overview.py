"""The first page: what runs, what it costs, what waits, what is wrong."""

from fastapi import APIRouter
from fastapi.responses import Response

from app.console.page import PageOf

router = APIRouter()


@router.get("")
async def show(page: PageOf) -> Response:
    """The overview."""
    return await page.answer("overview.html", {}, title="Overview")
