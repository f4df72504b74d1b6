"""What people see: colours where they help, bars where something takes long, and nothing of it in a pipe (CT-11)."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from app.commands import progress
from app.commands.output import captured, colour, show, table

ROWS = [{"node": "a", "state": "Running"}, {"node": "b", "state": "Failed"}]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_a_pipe_has_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    table(ROWS)
    show({"state": "Running"}, as_json=False)
    assert "\x1b" not in capsys.readouterr().out


def test_states_are_coloured_for_people(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    table(ROWS)
    show({"state": "Running"}, as_json=False)
    shown = capsys.readouterr().out
    assert shown.count("\x1b[32mRunning") == 2
    assert "\x1b[31mFailed" in shown


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """CT-11: https://no-color.org."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    table(ROWS)
    shown = capsys.readouterr().out
    assert "Running" in shown
    assert "\x1b[32m" not in shown


@pytest.mark.parametrize(
    ("name", "said", "style"),
    [
        ("status", "ended: finished", ""),
        ("cluster_status", "InService", "green"),
        ("state", "JOB_STATE_PENDING", "yellow"),
        ("workload", "failed", ""),
        ("status", "-", ""),
    ],
)
def test_only_states_have_colours(name: str, said: str, style: str) -> None:
    assert colour(name, said) == style


def test_what_is_captured_is_as_wide_as_the_screen() -> None:
    assert captured(lambda: table([{"text": "x" * 500}])).splitlines()[-1].strip() == "x" * 500


def test_bars_are_for_people_alone() -> None:
    """CT-11: on standard error; a program's pipe gets nothing, and --json keeps quiet."""
    pipe, person = (Console(file=io.StringIO(), force_terminal=terminal) for terminal in (False, True))
    with progress.waiting("copying", on=pipe), progress.towards(10, lambda: (0, "at"), on=pipe):
        pass
    with progress.waiting("copying", quiet=True, on=person):
        pass
    assert pipe.file.getvalue() == person.file.getvalue() == ""  # type: ignore[attr-defined]
    with progress.towards(10, lambda: (5, "at noon"), on=person):
        pass
    with Path(__file__).open("rb") as opened, progress.reading(opened, "importing", on=person) as file:
        assert file.read().startswith(b'"""')
    shown = person.file.getvalue()  # type: ignore[attr-defined]
    assert "at noon" in shown
    assert "importing" in shown
