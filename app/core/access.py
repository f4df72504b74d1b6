"""Who may use the console while there is a control token: a browser that has shown the token once (RL-25)."""

import hmac
from hashlib import sha256

COOKIE = "windtunnel-console"
"""The cookie's name; it is HttpOnly and SameSite=Strict, so no script and no other site can use it."""


def pass_of(token: str) -> str:
    """What the cookie holds: it proves that its browser had the token, and does not tell it."""
    return hmac.new(token.encode(), b"windtunnel console", sha256).hexdigest()


def is_same(given: str, wanted: str) -> bool:
    """In constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8", "replace"))
