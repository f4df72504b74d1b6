"""The certificate of gRPC's TLS port (VX-20)."""

from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from app.host import certificate
from app.host.certificate import LASTS, NAMES, ensure
from app.settings import Settings


def test_it_is_kept(tmp_path: Path) -> None:
    """The same files serve again, so that clients who trust them go on; the key is the owner's."""
    settings = Settings(data=tmp_path)
    made = ensure(settings)
    before = [path.read_bytes() for path in (made.roots, made.chain, made.key)]
    assert ensure(settings) == made
    assert [path.read_bytes() for path in (made.roots, made.chain, made.key)] == before
    assert made.key.stat().st_mode & 0o777 == 0o600


def test_other_names_make_another(tmp_path: Path) -> None:
    made = ensure(Settings(data=tmp_path))
    before = made.chain.read_bytes()
    ensure(Settings(data=tmp_path, allowed_hosts=("gpu.example",)))
    found = x509.load_pem_x509_certificate(made.chain.read_bytes())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(name.value) for name in names} == {*NAMES, "gpu.example"}
    assert made.chain.read_bytes() != before


def test_it_is_renewed_before_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(data=tmp_path)
    made = ensure(settings)
    before = made.chain.read_bytes()
    today = certificate._today()
    monkeypatch.setattr(certificate, "_today", lambda: today + LASTS - timedelta(days=29))
    ensure(settings)
    assert made.chain.read_bytes() != before


@pytest.mark.parametrize("name", ["server.pem", "server.key", "roots.pem"])
def test_a_missing_or_broken_file_makes_all_anew(tmp_path: Path, name: str) -> None:
    settings = Settings(data=tmp_path)
    made = ensure(settings)
    before = made.roots.read_bytes()
    (tmp_path / "tls" / name).unlink()
    ensure(settings)
    assert made.roots.read_bytes() != before
    made.chain.write_text("no certificate")
    ensure(settings)
    x509.load_pem_x509_certificate(made.chain.read_bytes())
