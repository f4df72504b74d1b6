"""How a database address is shown: never with its user or password."""

from urllib.parse import parse_qs, unquote, urlsplit


def displayed(dsn: str) -> str:
    """`host:port/database`, or the socket's directory; `?` for what cannot be read as an address."""
    try:
        parts = urlsplit(dsn)
        host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "?"
    return f"{unquote(host)}{port}{parts.path}" if not host.startswith("/") else host
