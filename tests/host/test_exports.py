"""The lines for `eval`, run by a real shell."""

import subprocess
from pathlib import Path

import pytest

from app.host.banner import banner
from app.host.exports import shell_lines, world_endpoint
from app.settings import Settings

HOSTILE = "a'b\"c$(touch pwned)`touch pwned`;touch pwned"


def test_the_lines_are_safe_for_eval(tmp_path: Path) -> None:
    """Whatever the values are, `eval` sets them and runs nothing; what would override them is gone."""
    lines = shell_lines(Settings(access_keys=(f"AKID:{HOSTILE}",)), f"http://127.0.0.1:1/{HOSTILE}", "w 1")
    script = 'eval "$LINES"; printf "%s\n" "$AWS_ENDPOINT_URL" "$AWS_SECRET_ACCESS_KEY" "[$AWS_PROFILE]" "[$AWS_PAGER]"'
    ran = subprocess.run(
        ["sh", "-euc", script.replace("[$AWS_PROFILE]", "[${AWS_PROFILE-unset}]")],
        env={"LINES": "\n".join(lines), "AWS_PROFILE": "work", "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines() == [f"http://127.0.0.1:1/{HOSTILE}/w/w%201", HOSTILE, "[unset]", "[]"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("world", "address"),
    [(None, "http://h:1"), ("", "http://h:1"), ("ci-7", "http://h:1/w/ci-7"), ("a/b", "http://h:1/w/a%2Fb")],
)
def test_a_world_is_a_path(world: str | None, address: str) -> None:
    """CT-0."""
    assert world_endpoint("http://h:1/", world) == address


@pytest.mark.parametrize(
    ("world", "address"), [(None, "http://h:1/w/old"), ("", "http://h:1"), ("n", "http://h:1/w/n")]
)
def test_a_given_world_replaces_that_of_the_endpoint(world: str | None, address: str) -> None:
    """CT-0."""
    assert world_endpoint("http://h:1/w/old", world) == address


def test_the_banner_carries_the_configuration_file(tmp_path: Path) -> None:
    """CT-12, CT-13: keys and token are right in the second terminal."""
    config = tmp_path / "my settings.toml"
    told = banner(Settings(data=Path("/d")), None, ephemeral=False, config=config)
    assert f"env --config '{config}')\"" in told
