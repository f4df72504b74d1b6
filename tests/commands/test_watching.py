"""`--watch`: what changes is shown, and nothing else (CT-11)."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from app.commands import watching
from app.commands.watching import follow
from tests.commands.conftest import Line
from tests.kit import slurm, workers

HEEDING = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
"""Becomes the command in its arguments, which then heeds Ctrl-C."""


def looks(*texts: str) -> Callable[[], None]:
    """Prints one of the texts at each look; at the end the user says that it is enough."""
    rest = iter(texts)

    def look() -> None:
        found = next(rest, None)
        if found is None:
            raise KeyboardInterrupt
        print(found)

    return look


def test_each_change_is_one_document_of_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """CT-11: what did not change is not said again; Ctrl-C is a good end."""
    documents = [json.dumps({"n": n}, indent=2) for n in (1, 1, 2, 2, 2, 1)]
    follow(looks(*documents), as_json=True, every=0)
    assert [json.loads(each) for each in capsys.readouterr().out.splitlines()] == [{"n": 1}, {"n": 2}, {"n": 1}]


def test_words_are_said_again_when_they_change(capsys: pytest.CaptureFixture[str]) -> None:
    follow(looks("a", "a", "b"), as_json=False, every=0, looks=3)
    assert capsys.readouterr().out == "a\nb\n"


def test_a_terminal_shows_the_newest_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """CT-11: the cursor goes back over what was there."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    follow(looks("first", "second"), as_json=False, every=0, looks=2)
    shown = capsys.readouterr().out
    assert "first" in shown
    assert "\x1b[" in shown.partition("first")[2].partition("second")[0]


@pytest.mark.parametrize(
    "words",
    [
        *(["status"], ["queue"], ["events"], ["bill"], ["decisions"], ["requests"], ["clock", "show"]),
        *(["workload", "list"], ["budget", "list"], ["fleet", "list"], ["host", "list"], ["capacity", "show"]),
    ],
    ids=" ".join,
)
def test_what_changes_can_be_watched(line: Line, words: list[str]) -> None:
    """CT-11: the same document as without, in one line."""
    [document] = line.say(*words, "--watch", "--watch-count", "1", "--json").splitlines()
    assert set(json.loads(document)) == set(line.ask(*words))
    assert line.say(*words, "--watch", "--watch-count", "1")


def test_a_watch_sees_a_change(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """CT-11: between the first look and the second the world moves; before the third it does not."""
    real, moves = watching.captured, iter((True, False))

    def captured(draw: Callable[[], None]) -> str:
        found = real(draw)
        if next(moves, False):
            line.world.advance(minutes=1)
        return found

    monkeypatch.setattr(watching, "captured", captured)
    said = line.say("clock", "show", "--watch", "--every", "0", "--watch-count", "3", "--json").splitlines()
    assert [json.loads(each)["now"][11:16] for each in said] == ["00:00", "00:01"]


def test_events_are_followed(line: Line) -> None:
    """CT-8, CT-11: from the first on, one envelope a line, and Ctrl-C ends it well."""
    line.world.sagemaker.create_cluster(**slurm(workers(1)))
    line.world.advance(hours=1)
    told = line.ask("events", "--after", "0", "--limit", "3")["events"]
    assert len(told) == 3
    command = ["events", "--follow", "--after", "0", "--json", "--endpoint", line.world.endpoint]
    # Whoever runs the tests in the background has them ignore SIGINT, and what they start would inherit that.
    heeding = [sys.executable, "-c", HEEDING, sys.executable, "-m", "app.cli", *command]
    with subprocess.Popen(heeding, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert [json.loads(process.stdout.readline()) for _ in told] == told
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 0
