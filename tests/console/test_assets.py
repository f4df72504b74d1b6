"""What is served beside the pages: ours, and what others made."""

import tomllib
from hashlib import sha256

from app.console.assets import BASE, FOLDER, LATEST, address, assets
from tests.kit import TestWorld

MOST_SCRIPT = 100_000


def test_vendored_files_are_as_published() -> None:
    told = tomllib.loads((FOLDER / "vendor" / "VENDOR.toml").read_text(encoding="utf-8"))["file"]
    assert {each["path"] for each in told} == {
        path.name for path in (FOLDER / "vendor").iterdir() if path.suffix in (".js", ".css")
    }
    for each in told:
        assert sha256((FOLDER / "vendor" / each["path"]).read_bytes()).hexdigest() == each["sha256"], each["path"]
        assert (FOLDER / "vendor" / each["licence_file"]).stat().st_size > 200


def test_scripts_stay_small() -> None:
    """Under 100 kB in all, as they are sent."""
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.js")) < MOST_SCRIPT


def test_a_browser_keeps_what_has_a_version(world: TestWorld) -> None:
    for name in assets():
        answer = world.http.get(world.base + address(name))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        again = world.http.get(world.base + address(name), headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert world.http.get(f"{world.base}{BASE}/{LATEST}/console.css").headers["cache-control"] == "no-cache"


def test_nothing_else_is_served(world: TestWorld) -> None:
    for name in ("../gate.py", "%2e%2e/gate.py", "vendor", "", "vendor/../../gate.py"):
        assert world.http.get(f"{world.base}{BASE}/{LATEST}/{name}").status_code == 404
