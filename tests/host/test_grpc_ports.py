"""Which ports gRPC takes (VX-20, CT-11)."""

import logging
import socket
from collections.abc import Iterator

import pytest

from app.host.grpc_ports import with_ports
from app.host.listener import PortInUse
from app.settings import Settings


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_free_ports_in_a_row() -> None:
    port = with_ports(Settings(port=0), 0).grpc_port
    assert port
    for each in (port, port + 1):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", each))


def test_off() -> None:
    assert with_ports(Settings(grpc_port=0), 4600).grpc_port == 0


def test_a_wanted_port_that_is_taken(taken: int) -> None:
    with pytest.raises(PortInUse, match="--grpc-port"):
        with_ports(Settings(grpc_port=taken), 4600)


def test_a_default_port_that_is_taken(taken: int, caplog: pytest.LogCaptureFixture) -> None:
    """Who has two services beside each other is not kept from the second by a port that he never asked for."""
    with caplog.at_level(logging.WARNING):
        assert with_ports(Settings(port=taken - 1), taken - 1).grpc_port == 0
    assert "--grpc-port" in caplog.text
