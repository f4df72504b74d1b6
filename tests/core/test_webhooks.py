"""Where a post may go, its signature, and its next attempt (CT-8, CT-14)."""

import hmac

import pytest

from app.core.errors import Invalid
from app.core.webhooks import LONGEST_WAIT, may_connect, signature, target, wait


def test_a_listed_host_is_allowed() -> None:
    """CT-14: by its name without port, in any case."""
    found = target("https://Hooks.Example/x", ["hooks.example"])
    assert (found.host, found.port, found.listed) == ("hooks.example", 443, True)
    with pytest.raises(Invalid):
        target("https://hooks.example.evil/", ["hooks.example"])


ADDRESSES = {
    "127.0.0.1": (True, True),
    "::1": (True, True),
    "10.0.0.1": (False, True),
    "169.254.169.254": (False, False),
    "fe80::1%eth0": (False, False),
    "0.0.0.0": (False, False),
    "224.0.0.1": (False, False),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_address_is_looked_at(address: str) -> None:
    """RL-26: unlisted, listed."""
    assert (may_connect(address, False), may_connect(address, True)) == ADDRESSES[address]


def test_the_signature_is_over_timestamp_and_body() -> None:
    """CT-8."""
    assert signature("s", 5, b"{}") == "v1=" + hmac.new(b"s", b"5.{}", "sha256").hexdigest()


def test_the_wait_doubles_up_to_a_limit() -> None:
    """CT-8."""
    assert [wait(1.0, n) for n in (1, 2, 3, 9, 10, 10_000)] == [1, 2, 4, 256, LONGEST_WAIT, LONGEST_WAIT]
