"""What `up` prints when it is ready (CT-12)."""

import shlex
from pathlib import Path
from typing import Any

from app import __version__
from app.host.exports import command
from app.settings import Settings
from app.store.dsn import displayed

DEFAULT_ENDPOINT = "http://127.0.0.1:4600"


def banner(settings: Settings, clock: dict[str, Any] | None, *, ephemeral: bool, config: Path | None = None) -> str:
    """Address, console, data, clock and profile, auth, telemetry, and lines to paste.

    `settings` are the children's; `clock` is the API's answer: an existing world keeps its own clock and profile.
    With the configuration file the other terminal gets the same keys and token.
    """
    facts = {
        "address": settings.base_url,
        "console": f"{settings.base_url}/console",
        "gRPC": _grpc(settings),
        "data": _data(settings, ephemeral=ephemeral),
        "clock": f"{_clock(settings, clock)}, profile {(clock or {}).get('profile', settings.profile)}",
        "auth": _auth(settings),
        "telemetry": "none",
    }
    if settings.execute_jobs:
        facts["jobs"] = "their commands run on this machine, as you, without a container"
    target = "" if settings.base_url == DEFAULT_ENDPOINT else f" --endpoint {settings.base_url}"
    if config:
        target += f" --config {shlex.quote(str(config.absolute()))}"
    return "\n".join(
        [
            f"Windtunnel {__version__} is ready.",
            "",
            *(f"  {name:<10} {value}" for name, value in facts.items()),
            "",
            "Paste into another terminal:",
            "",
            f'  eval "$({command()} env{target})"',
            "  aws sagemaker list-clusters",
            "  windtunnel clock show",
            "",
            f"Ctrl-C ends it; the data is {'removed' if ephemeral else 'kept'}.",
        ]
    )


def _grpc(settings: Settings) -> str:
    if not settings.grpc_port:
        return "off"
    host = settings.base_url.removeprefix("http://").rpartition(":")[0]
    return f"{host}:{settings.grpc_port}, TLS on {settings.grpc_port + 1}"


def _data(settings: Settings, *, ephemeral: bool) -> str:
    if settings.data is None:
        return f"PostgreSQL at {displayed(settings.database_url or '')}"
    return f"{settings.data} (embedded PostgreSQL{', removed at the end' if ephemeral else ''})"


def _clock(settings: Settings, clock: dict[str, Any] | None) -> str:
    if not clock:
        return "frozen" if settings.frozen else f"running at rate {settings.rate:g}"
    state = "frozen" if clock.get("frozen") else f"running at rate {float(clock.get('rate', 1)):g}"
    return f"{clock.get('now')}, {state}"


def _auth(settings: Settings) -> str:
    control = "control API needs the token" if settings.control_token else "control API open on this machine"
    if settings.auth == "verify":
        return f"verify: AWS signatures are checked against {len(settings.access_keys)} key(s); {control}"
    return f"off: any AWS key is accepted; {control}"
