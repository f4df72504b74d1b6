"""The lines for `eval`, run by a real shell."""

import subprocess
from pathlib import Path

import pytest

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
    ("world", "address"), [(None, "http://h:1"), ("ci-7", "http://h:1/w/ci-7"), ("a/b", "http://h:1/w/a%2Fb")]
)
def test_a_world_is_a_path(world: str | None, address: str) -> None:
    """CT-0."""
    assert world_endpoint("http://h:1/", world) == address
