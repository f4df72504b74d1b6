"""A gRPC server beside the session's service, on the same database."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from app.host.certificate import Certificate, certificate_of
from app.host.grpc_ports import with_ports
from app.host.grpc_server import run
from app.settings import Settings


class Served:
    """A server's ports and certificate, and channels to it."""

    def __init__(self, settings: Settings) -> None:
        self.port = settings.grpc_port or 0
        self.certificate: Certificate = certificate_of(settings)

    def insecure(self, host: str = "127.0.0.1", **options: Any) -> Any:
        return grpc.insecure_channel(f"{host}:{self.port}", options=list(options.items()))

    def secure(self, host: str = "localhost") -> Any:
        trusted = grpc.ssl_channel_credentials(self.certificate.roots.read_bytes())
        return grpc.secure_channel(f"{host}:{self.port + 1}", trusted)


@pytest.fixture(scope="session")
def served(dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data: Path = tmp_path_factory.mktemp("grpc")
    settings = with_ports(Settings(port=0), 0)
    settings = replace(settings, database_url=dsn, data=data, supervised=True)
    loop = asyncio.new_event_loop()
    work = loop.create_task(run(settings))
    thread = threading.Thread(target=_until_done, args=(loop, work), daemon=True)
    thread.start()
    made = Served(settings)
    with made.insecure() as channel:
        grpc.channel_ready_future(channel).result(timeout=60)
    yield made
    loop.call_soon_threadsafe(work.cancel)
    thread.join(30)


def _until_done(loop: asyncio.AbstractEventLoop, work: "asyncio.Task[None]") -> None:
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(work)
    loop.close()
