"""The application: every surface on one port, composed."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from threading import Lock

from app import clock
from app.core.scope import DEFAULT_WORLD
from app.opening import opened
from app.service import Service, compose
from app.settings import Settings
from app.usecases import worlds
from app.wire import emulated
from app.wire.aws.protocol import Authentication, AwsEndpoint
from app.wire.aws.signature import Trusting, Verifying, keys_from
from app.wire.front import Front, KnownWorlds
from app.wire.safety import App, AsgiScope, Receive, Safety, SafetyRules, Send

KIND = "api"
FIRST_WORLD = ("profile", "rate", "frozen", "start", "seed", "seed_file", "chaos", "read_lag")
"""Settings that say what world `main` is like."""


class Application:
    """Every surface on one port, as an ASGI application; its lifespan opens the database.

    AWS answers as soon as the database is open. The framework of the control API and of Google's takes longer to import
    than all else, so they are loaded beside.
    """

    def __init__(self, settings: Settings) -> None:
        self.service = compose(settings, f"{KIND}-{os.getpid()}-{clock.random_token(4)}")
        self._control = Later(self._load_control)
        self._google = Later(self._load_google)
        self._console = Later(self._load_console)
        aws = AwsEndpoint(
            emulated.services(),
            service=self.service,
            authentication=_authentication(settings),
            on_request=self.service.request_log,
            befall=self.service.mishaps.befall,
            dialects=emulated.DIALECTS,
        )
        known, on_change = KnownWorlds(self.service), self.service.remembered.forget
        front = Front(
            self._control, aws=aws, google=self._google, console=self._console, known=known, on_change=on_change
        )
        self._surfaces = Safety(front, SafetyRules(settings.allowed_hosts, settings.control_token))

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._surfaces(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with running(self.service):
                self._control.begin()
                self._google.begin()
                self._console.begin()
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": f"{type(error).__name__}: {error}"})
            raise
        await send({"type": "lifespan.shutdown.complete"})

    def _load_control(self) -> App:
        from app.wire.control.application import application

        return application(self.service)

    def _load_google(self) -> App:
        from app.wire.google.application import application

        return application(self.service)

    def _load_console(self) -> App:
        from app.console.application import application

        return application(self.service, emulated.apis())


class Later:
    """An ASGI application that is made in a thread: who asks for it early waits for it.

    One is made at a time: while FastAPI makes routes it silences some warnings, and that is the whole process's.
    """

    _one_at_a_time = Lock()

    def __init__(self, make: Callable[[], App]) -> None:
        self._make = make
        self._made: asyncio.Task[App] | None = None

    def begin(self) -> "asyncio.Task[App]":
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._alone))
        return self._made

    def _alone(self) -> App:
        with self._one_at_a_time:
            return self._make()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        app = await asyncio.shield(self.begin())
        await app(scope, receive, send)


def create_app(settings: Settings) -> Application:
    """The application that `settings` describe."""
    return Application(settings)


def _authentication(settings: Settings) -> Authentication:
    if settings.auth == "verify":
        return Verifying(keys_from(settings.access_keys), settings.default_account)
    return Trusting(settings.default_account, settings.default_region)


@contextlib.asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """The opened service with its first world there."""
    async with opened(service, KIND):
        await _begin(service)
        yield


async def _begin(service: Service) -> None:
    """The first world, with its seed, or with what was given for it; to look at it costs less than what makes it."""
    asked = any(map(service.settings.is_given, FIRST_WORLD))
    if asked or not await service.db.run(worlds.exists, DEFAULT_WORLD):
        from app.wire.control import seeding

        await service.db.run(seeding.begin, service)
