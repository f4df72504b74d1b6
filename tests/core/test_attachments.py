"""Statuses of volumes, and how much a node takes."""

from datetime import timedelta

import pytest

from app.core.attachments import Volume, interface_limit, volume_status
from tests.core.builders import at

DELAYS = {"attach": timedelta(seconds=2), "detach": timedelta(seconds=3)}


@pytest.mark.parametrize(
    ("detach", "busy", "held", "second", "status"),
    [
        (None, None, True, 1, "attaching"),
        (None, None, True, 2, "attached"),
        (5, None, True, 5, "detaching"),
        (5, None, True, 8, "detached"),
        (5, 5, True, 7, "detaching"),
        (5, 5, True, 8, "busy"),
        (None, None, False, 1, "detached"),
        (5, 5, False, 9, "detached"),
    ],
)
def test_status(detach: int | None, busy: int | None, held: bool, second: int, status: str) -> None:
    volume = Volume(
        "vol-1",
        "c",
        "i-1",
        "/dev/xvdb",
        at(0),
        None if detach is None else at(detach),
        None if busy is None else at(busy),
        None,
        held,
    )
    assert volume_status(volume, at(second), DELAYS) == status


@pytest.mark.parametrize(("vcpu", "efa", "limit"), [(2, 0, 1), (4, 0, 2), (16, 0, 6), (96, 1, 13), (192, 32, 62)])
def test_interfaces(vcpu: int, efa: int, limit: int) -> None:
    assert interface_limit(vcpu, efa) == limit
