"""A request for a page: what it may reach, and how it answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.console import navigation, rendering
from app.console.bar import Bar, read_bar
from app.console.deeds import Deed, Deeds
from app.core.errors import DomainError
from app.core.scope import DEFAULT_WORLD, Scope
from app.service import Service
from app.settings import Settings
from app.store.db import Database
from app.usecases import changes

T = TypeVar("T")
DONE = "done"
"""The parameter of an address that names the action it was reached by."""


class Named(Protocol):
    """What has a name in an account and a region."""

    @property
    def name(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def region(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Page:
    """A request for a page of the world `world`."""

    request: Request
    service: Service
    world: str
    given: dict[str, str] = field(default_factory=dict)
    """The address's parameters."""
    seen: str = ""
    """The world's mark before anything of it was read, for the stream that then tells of changes."""

    @property
    def db(self) -> Database:
        return self.service.db

    @property
    def settings(self) -> Settings:
        return self.service.settings

    @property
    def scope(self) -> Scope:
        """The account and region that the address names, else the default ones."""
        settings = self.settings
        account = self.given.get("account") or settings.default_account
        return Scope(self.world, account, self.given.get("region") or settings.default_region)

    @property
    def is_fragment(self) -> bool:
        """The page is shown already, and wants its content alone."""
        return "hx-request" in self.request.headers

    @property
    def endpoint(self) -> str:
        """The world's address for every client."""
        base = f"{self.request.url.scheme}://{self.request.headers['host']}"
        return base if self.world == DEFAULT_WORLD else f"{base}/w/{self.world}"

    @property
    def path(self) -> str:
        """The path inside the world."""
        return self.request.url.path.removeprefix(f"/console/{self.world}").strip("/")

    @property
    def here(self) -> str:
        """The page's own address, without the action that led to it."""
        return self.url(self.path, **{name: value for name, value in self.given.items() if name != DONE})

    def url(self, path: str = "", **parameters: Any) -> str:
        """The address of a path inside the world; what is None or empty is left out. Parts of a path that come from
        elsewhere are to be quoted by `page.part`."""
        given = {name: value for name, value in parameters.items() if value not in (None, "")}
        return f"/console/{self.world}" + (f"/{path}" if path else "") + (f"?{urlencode(given)}" if given else "")

    def here_with(self, **parameters: Any) -> str:
        """The page's own address with other parameters."""
        kept = {name: value for name, value in self.given.items() if name != DONE}
        return self.url(self.path, **kept | parameters)

    def cluster_url(self, cluster: "Named") -> str:
        """A cluster's page; its account and region are named if they are not the default ones."""
        settings = self.settings
        is_default = (cluster.account, cluster.region) == (settings.default_account, settings.default_region)
        where = {} if is_default else {"account": cluster.account, "region": cluster.region}
        return self.url(f"clusters/{self.part(cluster.name)}", **where)

    @staticmethod
    def part(text: str) -> str:
        """A part of a path."""
        return quote(text, safe="")

    async def answer(self, template: str, view: Any, *, title: str, status: int = 200) -> Response:
        """The page, or, if it is shown already, its block `content`."""
        values = {"page": self, "view": view, "title": title}
        if self.is_fragment:
            return HTMLResponse(rendering.block(template, "content", **values), status)
        return await self.framed(template, status, **values)

    async def framed(self, template: str, status: int, **values: Any) -> Response:
        """The whole page, with what is always visible."""
        bar = await read_bar(self.service, self.world, self.request.app.state.journeys)
        values |= {"page": self, "bar": bar, "deed": self.deed, "current": navigation.current(self.path)}
        return HTMLResponse(rendering.whole(template, **values), status)

    async def bar(self) -> Bar:
        """What is always visible."""
        return await read_bar(self.service, self.world, self.request.app.state.journeys)

    @property
    def deeds(self) -> Deeds:
        found: Deeds = self.request.app.state.deeds
        return found

    @property
    def deed(self) -> Deed | None:
        """The action that led to this page."""
        return self.deeds.of(self.world, self.given.get(DONE, ""))

    async def perform(
        self, deed: Deed, work: Awaitable[T], said: str | Callable[[T], str], to: str | None = None
    ) -> Response:
        """Do the work of a posted form and go back to where it was sent from, or on to `to`; there is told what was
        done, how else to do it, and what came of it, be it a refusal."""
        try:
            done = await work
            outcome = said if isinstance(said, str) else said(done)
        except DomainError as error:
            return self.back(replace(deed, outcome=error.message, failed=True))
        return self.back(replace(deed, outcome=outcome), to)

    def back(self, deed: Deed, to: str | None = None) -> Response:
        """See another page, which tells of the deed."""
        return self.return_to(self.deeds.add(self.world, deed), to)

    def return_to(self, number: int, to: str | None = None) -> Response:
        """The same with a deed that is known by its number."""
        where = urlsplit(to or self._sender())
        kept = [part for part in where.query.split("&") if part and not part.startswith(f"{DONE}=")]
        query = "&".join([*kept, f"{DONE}={number}"])
        return RedirectResponse(f"{where.path}?{query}", 303, {"cache-control": "no-store"})

    def _sender(self) -> str:
        """The page that the form was on: one of this world's, else its first."""
        sent = urlsplit(self.request.headers.get("referer", ""))
        ours = sent.path == self.url() or sent.path.startswith(self.url() + "/")
        return f"{sent.path}?{sent.query}" if ours and "/do/" not in sent.path else self.url()


def page_of(request: Request) -> Page:
    """The request's page."""
    given = dict(request.query_params)
    return Page(request, request.app.state.service, request.path_params.get("world", DEFAULT_WORLD), given)


async def _marked(request: Request) -> Page:
    page = page_of(request)
    if request.method != "GET" or page.is_fragment:
        return page
    found = await page.db.run(changes.mark, page.world)
    return replace(page, seen=found[0] if found else "")


PageOf = Annotated[Page, Depends(_marked)]
