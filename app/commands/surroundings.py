"""What surrounds the service: where clients of this terminal are pointed, and what killed runs have left."""

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

from app.host.exports import OVERRIDING, directory_to_add, world_endpoint
from app.settings import Settings
from app.store import leftovers

EVAL = 'eval "$(windtunnel env)"'
Note = tuple[str, str | None]
"""What was found, and what to do about it."""


def clients(settings: Settings, environ: Mapping[str, str]) -> Note:
    """Where boto3, aws and `windtunnel` of this terminal go."""
    ours = world_endpoint(settings.endpoint or settings.base_url, "")
    theirs = environ.get("AWS_ENDPOINT_URL")
    special = sorted(name for name in environ if name.startswith("AWS_ENDPOINT_URL_"))
    overriding = sorted({*special, *(name for name in OVERRIDING if environ.get(name))})
    if theirs is None and not special:
        return "AWS_ENDPOINT_URL is not set: AWS's clients of this terminal go to AWS", f"to point them here: {EVAL}"
    if theirs is not None and world_endpoint(theirs, "") != ours:
        return f"AWS_ENDPOINT_URL is {theirs}, and the service is at {ours}", f"point them here: {EVAL}"
    if overriding:
        names = " ".join(overriding)
        return f"{names} may lead AWS's clients elsewhere, or with other keys", f"unset {names}"
    return f"AWS's clients of this terminal go to {theirs}", None


def proxies(settings: Settings, environ: Mapping[str, str]) -> Note:
    """A proxy that catches requests to this machine: clients obey it, and the service then seems to be away."""
    given = {name.lower(): value for name, value in environ.items() if name.lower().endswith("_proxy") and value}
    names = [name for name in ("http_proxy", "all_proxy") if name in given]
    host = urlsplit(settings.endpoint or settings.base_url).hostname or "127.0.0.1"
    plain = {name.removesuffix("_proxy"): value for name, value in given.items()}
    if not names or proxy_bypass_environment(host, plain):
        return "no proxy is in the way of clients", None
    kept = ",".join(filter(None, (given.get("no_proxy"), host, "localhost")))
    return f"{names[0]} sends clients' requests for {host} to a proxy", f"export NO_PROXY={shlex.quote(kept)}"


def tools() -> Note:
    """The clients that are here; none is needed by the service."""
    beside = directory_to_add()
    aws = shutil.which("aws") or (shutil.which("aws", path=str(beside)) if beside else None)
    found = [f"aws at {aws}"] if aws else []
    for package in ("boto3", "google-cloud-aiplatform"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    if not found:
        return "neither aws nor boto3 is here", "to have them: pip install 'windtunnel[clients]'"
    return ", ".join(found), None if aws else "for the lines of `windtunnel up`: pip install 'windtunnel[clients]'"


def left_behind(settings: Settings, folder: Path | None = None) -> Iterator[Note]:
    """Of the data directory a server alone: its data is to be kept. Of --ephemeral everything."""
    own = None if settings.database_url else leftovers.of(settings.data_dir)
    if own is not None and own.pid is not None:
        yield (
            f"the database of a killed run still runs as process {own.pid} in {own.directory}",
            f"`windtunnel up` takes it over; to end it: kill -INT {own.pid}",
        )
    for one in leftovers.ephemeral(folder):
        end = f"kill -INT {one.pid}; " if one.pid is not None else ""
        yield f"a killed run with --ephemeral has left {one.directory}", f"{end}rm -r {shlex.quote(str(one.directory))}"


def environment() -> Mapping[str, str]:
    return os.environ
