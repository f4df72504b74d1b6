"""Styles, scripts and their licences, read once; a path holds their version, so that a browser may keep them."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request, Response

router = APIRouter()
FOLDER = Path(__file__).parent / "static"
BASE = "/console/-/static"
LATEST = "-"
"""In a version's place: whichever there is, to be asked for again each time."""
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".toml": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    body: bytes
    media_type: str
    tag: str


@cache
def assets() -> dict[str, Asset]:
    """Every file by its path below `static`."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            name = path.relative_to(FOLDER).as_posix()
            found[name] = Asset(body, _TYPES[path.suffix], f'"{sha256(body).hexdigest()[:32]}"')
    return found


@cache
def version() -> str:
    """Twelve digits that change with any of the files."""
    tags = "".join(f"{name}{asset.tag}" for name, asset in assets().items())
    return sha256(tags.encode()).hexdigest()[:12]


def address(name: str) -> str:
    """Where the file is served, for a page that names it. KeyError if there is none."""
    assert name in assets(), name
    return f"{BASE}/{version()}/{name}"


@router.get(BASE + "/{asked}/{name:path}")
async def read(asked: str, name: str, request: Request) -> Response:
    """The file; for a year if its version was asked for."""
    asset = assets().get(name)
    if asset is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    kept = "public, max-age=31536000, immutable" if asked == version() else "no-cache"
    headers = {"etag": asset.tag, "cache-control": kept}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(None, 304, headers)
    return Response(asset.body, headers=headers, media_type=asset.media_type)
