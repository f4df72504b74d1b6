"""The certificate by which clients that speak TLS alone know this service, and the authority that gave it."""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from app import clock
from app.settings import Settings

NAMES = ("localhost", "*.w.localhost", "127.0.0.1", "::1")
"""gRPC's clients take no wildcard right under a top-level name, so over TLS a world is NAME.w.localhost."""
LASTS = timedelta(days=825)
RENEWED_BEFORE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Where the files are, as PEM: what clients are to trust, the chain, and its key, which only the owner may read."""

    roots: Path
    chain: Path
    key: Path


def certificate_of(settings: Settings) -> Certificate:
    """Where this service keeps its certificate, made or not."""
    folder = settings.data_dir / "tls"
    return Certificate(folder / "roots.pem", folder / "server.pem", folder / "server.key")


def ensure(settings: Settings) -> Certificate:
    """The certificate, made anew when there is none for these names, or when it soon ends. Raises OSError."""
    kept = certificate_of(settings)
    names = tuple(dict.fromkeys((*NAMES, *settings.allowed_hosts)))
    if not _is_good(kept, names):
        _make(kept, names)
    return kept


def _is_good(kept: Certificate, names: tuple[str, ...]) -> bool:
    from cryptography import x509

    if not all(path.is_file() for path in (kept.roots, kept.chain, kept.key)):
        return False
    try:
        found = x509.load_pem_x509_certificate(kept.chain.read_bytes())
        alternatives = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return False
    told = {str(name.value) for name in alternatives}
    return found.not_valid_after_utc - RENEWED_BEFORE > _today() and set(names) <= told


def _make(kept: Certificate, names: tuple[str, ...]) -> None:
    import trustme

    authority = trustme.CA(organization_name="Windtunnel")
    made = authority.issue_cert(*names, not_before=_today() - timedelta(days=1), not_after=_today() + LASTS)
    kept.key.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    _write(kept.key, made.private_key_pem.bytes(), 0o600)
    _write(kept.chain, b"".join(blob.bytes() for blob in made.cert_chain_pems), 0o644)
    _write(kept.roots, authority.cert_pem.bytes(), 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    """Whole or not at all, and never readable by more than `mode` says."""
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    part.replace(path)


def _today() -> datetime:
    return clock.wall_now()
