"""The way in while the service has a control token: who shows it gets a cookie that no script can read (RL-25)."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.console import rendering
from app.console.forms import FormOf
from app.core.access import COOKIE, is_same, pass_of

router = APIRouter(include_in_schema=False)
LOGIN = "/console/-/login"


@router.get(LOGIN)
async def ask(request: Request, to: str = "/console") -> Response:
    """The form for the token."""
    needed = request.app.state.service.settings.control_token is not None
    return HTMLResponse(rendering.whole("login.html", to=_ours(to), needed=needed, wrong=False))


@router.post(LOGIN)
async def enter(request: Request, form: FormOf) -> Response:
    """Let the browser in if it has the token."""
    token: str | None = request.app.state.service.settings.control_token
    to = _ours(form.optional("to", 2048) or "/console")
    if token is None:
        return RedirectResponse(to, 303)
    if not is_same(form.optional("token", 4096) or "", token):
        return HTMLResponse(rendering.whole("login.html", to=to, needed=True, wrong=True), 403)
    answer = RedirectResponse(to, 303)
    answer.set_cookie(COOKIE, pass_of(token), path="/console", httponly=True, samesite="strict")
    return answer


def _ours(to: str) -> str:
    """An address of the console, never another site's."""
    plain = to.isascii() and to.isprintable() and "\\" not in to and ".." not in to
    return to if plain and (to == "/console" or to.startswith("/console/")) else "/console"
