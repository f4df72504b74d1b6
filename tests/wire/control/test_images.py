"""Releases of the AMI through the control API (HP-30)."""

import pytest

from tests.kit import TestWorld


def versions(world: TestWorld) -> list[tuple[str, bool]]:
    return [(one["version"], one["newest"]) for one in world.control("GET", "images")["images"]]


def test_releases_are_ordered_by_number(world: TestWorld) -> None:
    """HP-30: 1.10.0 is newer than 1.9.0; leading zeros mean nothing."""
    assert versions(world) == [("1.0.0", False), ("1.1.0", True)]
    world.control("POST", "images", json={"version": "1.10.0"})
    told = world.control("POST", "images", json={"version": "1.09.0", "security": True})
    assert (told["version"], told["newest"], told["security"]) == ("1.9.0", False, True)
    assert versions(world) == [("1.0.0", False), ("1.1.0", False), ("1.9.0", False), ("1.10.0", True)]
    told = world.control("POST", "images/retire", json={"version": "1.10.0"})
    assert (told["retired"], told["newest"]) == (True, False)
    assert versions(world)[2] == ("1.9.0", True)


def test_ami_ids_have_the_vendor_s_form(world: TestWorld) -> None:
    found = [one["ami"] for one in world.control("GET", "images")["images"]]
    assert len(set(found)) == len(found)
    assert all(len(one) == len("ami-") + 17 for one in found)


@pytest.mark.parametrize(
    ("path", "version", "told"),
    [
        ("images", "1.1.0", "Release 1.1.0 is there already"),
        ("images", "01.1.0", "Release 1.1.0 is there already"),
        ("images", "1.2.x", "'1.2.x' is no version. Give MAJOR.MINOR.PATCH"),
        ("images", "1.2.3.4", "is no version"),
        ("images", "9999999999.0.0", "is no version"),
        ("images", "", "version: "),
        ("images/retire", "7.0.0", "There is no release 7.0.0"),
    ],
)
def test_refusals(world: TestWorld, path: str, version: str, told: str) -> None:
    """Each says why and what to do."""
    answer = world.http.post(f"{world.endpoint}/_windtunnel/{path}", json={"version": version})
    assert answer.status_code in (400, 404, 422)
    assert told in answer.json()["error"]["message"]


def test_one_release_stays_alive(world: TestWorld) -> None:
    """New clusters need one to start on."""
    world.control("POST", "images/retire", json={"version": "1.0.0"})
    answer = world.http.post(f"{world.endpoint}/_windtunnel/images/retire", json={"version": "1.1.0"})
    assert "last release that is alive" in answer.json()["error"]["message"]
