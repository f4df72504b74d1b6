"""The application: every surface on one port, composed."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

import asyncpg
from fastapi import FastAPI
from starlette.types import ASGIApp

from app import clock
from app.service import Service, compose
from app.settings import Settings
from app.store.db import Database
from app.store.embedded import EmbeddedPostgres
from app.store.migrate import wait_for_schema
from app.usecases.liveness import beat, leave
from app.wire import control, emulated
from app.wire.aws.protocol import Authentication, AwsEndpoint
from app.wire.aws.signature import Trusting, Verifying, keys_from
from app.wire.control import seeding
from app.wire.front import Account, Front, KnownWorlds, unknown_path
from app.wire.safety import Safety, SafetyRules
from app.workers.pulse import keep_pulse

SCHEMA_SECONDS = 60.0
KIND = "api"


def create_app(settings: Settings) -> FastAPI:
    """The ASGI application; it opens its database when its lifespan begins."""
    service = compose(settings, f"{KIND}-{os.getpid()}-{clock.random_token(4)}")

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(service):
            yield

    app = FastAPI(openapi_url=None, lifespan=lifespan)  # its pages load scripts from elsewhere
    app.state.service = service
    control.install(app)
    app.router.redirect_slashes = False
    app.router.default = unknown_path
    aws = AwsEndpoint(
        emulated.services(),
        service=service,
        authentication=_authentication(settings),
        on_request=service.request_log,
    )
    app.add_middleware(Account, request_log=service.request_log)
    framework = app.build_middleware_stack

    def surfaces() -> ASGIApp:
        """The gate before everything, and AWS before the framework, whose layers cost more than some operations."""
        front = Front(framework(), aws=aws, has_world=KnownWorlds(service).has)
        return Safety(front, SafetyRules(settings.allowed_hosts, settings.control_token))

    app.build_middleware_stack = surfaces  # type: ignore[method-assign]
    return app


def _authentication(settings: Settings) -> Authentication:
    if settings.auth == "verify":
        return Verifying(keys_from(settings.access_keys), settings.default_account)
    return Trusting(settings.default_account, settings.default_region)


@contextlib.asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """The service with its database open, its first world there, and a heartbeat that says that it lives."""
    settings = service.settings
    dsn = settings.database_url or EmbeddedPostgres(settings.data_dir).dsn
    await wait_for_schema(dsn, seconds=SCHEMA_SECONDS)
    database = await Database.connect(dsn, size=settings.api_pool_size, name=f"windtunnel {KIND}")
    try:
        # Before the first world is looked at, so that a gap without any process is out of its clock (CT-1).
        await database.run(beat, service.name, KIND, 0)
        service.database = database
        await database.run(seeding.begin, service)
        pulse = asyncio.create_task(keep_pulse(database, service.name, KIND, lambda: 0))
        try:
            yield
        finally:
            pulse.cancel()
            await asyncio.gather(pulse, return_exceptions=True)
            with contextlib.suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await database.run(leave, service.name)
    finally:
        await database.close()
