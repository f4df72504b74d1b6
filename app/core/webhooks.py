"""Webhooks: where a post may go, how it is signed, and when it is tried again (CT-8, CT-14)."""

import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.core.errors import Invalid

LOCAL = "localhost"
LONGEST_URL = 2048
LONGEST_WAIT = 300.0
"""Wall seconds between two attempts, at most."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a post goes: a URL, its host, and whether any address of it is allowed or those of loopback alone."""

    url: str
    host: str
    port: int
    listed: bool


def target(url: str, listed_hosts: Iterable[str]) -> Target:
    """The target that `url` names. Invalid unless it is on loopback or its host is listed; no name is looked up."""
    if len(url) > LONGEST_URL or any(ord(letter) <= 32 or ord(letter) > 126 for letter in url):
        raise Invalid(f"A webhook's URL has up to {LONGEST_URL} visible ASCII characters. Percent-encode what is none.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port == 0 or parts.scheme not in ("http", "https"):
        raise Invalid("A webhook's URL is such as http://127.0.0.1:8080/events, of http or https.")
    if parts.username is not None or parts.fragment:
        raise Invalid("A webhook's URL holds no user and no fragment. What authenticates a post is its signature.")
    listed = host in {name.lower() for name in listed_hosts}
    if not listed and host != LOCAL and not _is_loopback(host):
        raise Invalid(
            f"Host '{host[:100]}' is not on this machine. Use 127.0.0.1, or list the host in WINDTUNNEL_WEBHOOK_HOSTS."
        )
    return Target(url, host, port or (443 if parts.scheme == "https" else 80), listed)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def may_connect(address: str, listed: bool) -> bool:
    """A post may go to this address: of a listed host to any but link-local ones, where clouds keep credentials."""
    found = ipaddress.ip_address(address.partition("%")[0])
    return found.is_loopback or (listed and not (found.is_link_local or found.is_multicast or found.is_unspecified))


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`v1=` and the hex of HMAC-SHA256 over `<timestamp>.<body>`; the timestamp is in epoch seconds of the wall."""
    return "v1=" + hmac.new(secret.encode(), b"%d." % timestamp + body, "sha256").hexdigest()


def wait(first: float, attempts: int) -> float:
    """Wall seconds until the next attempt, after so many: doubled each time."""
    return min(LONGEST_WAIT, first * 2.0 ** min(attempts - 1, 30))
