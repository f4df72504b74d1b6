"""The gRPC server around Vertex AI's RPCs: plain on one port, TLS on the next."""

import asyncio
import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from app import clock
from app.host.certificate import Certificate, ensure
from app.host.listener import PortInUse
from app.opening import opened
from app.service import compose
from app.settings import Settings
from app.wire.grpc.servicer import Servicer
from app.wire.safety import MAX_BODY, MAX_HEADERS

KIND = "grpc"
THREADS = 64
"""Calls that are handled at once; those beyond MOST are refused as RESOURCE_EXHAUSTED."""
MOST = 1000
DRAIN_SECONDS = 3.0
OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_BODY),
    ("grpc.absolute_max_metadata_size", MAX_HEADERS),
)
log = logging.getLogger(__name__)


async def run(settings: Settings) -> None:
    """Answer until cancelled. Raises PortInUse."""
    service = compose(settings, f"{KIND}-{os.getpid()}-{clock.random_token(4)}")
    async with opened(service, KIND):
        server = start(Servicer(service, asyncio.get_running_loop()), settings)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(server.stop(DRAIN_SECONDS).wait)


def start(servicer: Servicer, settings: Settings) -> Any:
    """A server that listens on both ports of the settings. Raises PortInUse."""
    port = settings.grpc_port or settings.port + 1
    server = grpc.server(ThreadPoolExecutor(THREADS, "call"), [servicer], options=OPTIONS, maximum_concurrent_rpcs=MOST)
    addresses = [_address(settings.host, each) for each in (port, port + 1)]
    try:
        server.add_insecure_port(addresses[0])
        server.add_secure_port(addresses[1], _credentials(ensure(settings)))
    except RuntimeError as error:
        raise PortInUse(f"gRPC cannot listen on {' and '.join(addresses)}: choose with --grpc-port") from error
    server.start()
    log.info("gRPC on %s, with TLS on %s", *addresses)
    return server


def _credentials(certificate: Certificate) -> Any:
    pair: Sequence[tuple[bytes, bytes]] = [(certificate.key.read_bytes(), certificate.chain.read_bytes())]
    return grpc.ssl_server_credentials(pair)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
