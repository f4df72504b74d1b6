"""The reader of documents itself: it must notice what is wrong."""

from pathlib import Path

import pytest

from tests.docs.reading import ROOT, matches, steps


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("total 3.697103 USD", "total 3.697103 USD\n", True),
        ("total 3.697103 USD", "total 3.697104 USD\n", False),
        ("InService 2 2 1", "InService\t2\t2\t1", True),
        ("InService 2 2 1", "Updating\t2\t2\t1", False),
        ("now 2026-11-30T08:23:40.554Z", "now 2027-01-01T00:00:00Z", True),
        ("now 2026-11-30T08:23:40.554Z", "now", False),
        ("http://127.0.0.1:4600/w/a", "http://127.0.0.1:37211/w/a", True),
        ("...\n1 passed in 0.53s", "a warning\nof two lines\n1 passed in 1.2s", True),
        ("...\n1 passed in 0.53s", "1 failed in 1.2s", False),
        ("a line", "a line\nand one more", False),
    ],
)
def test_outputs_are_compared(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_blocks_become_steps(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text(
        "<!-- file: a.txt -->\n```text\nhello\n```\n"
        "<!-- exit: 3 -->\n```console\n$ one \\\n    --two\nout\n$ three\n```\n"
        "```sh\nfour\nfive\n```\n```text\nnot a command\n```\n"
    )
    found = [(step.command, step.shown, step.exit_code, step.file) for step in steps(document)]
    assert found == [
        ("hello\n", None, 0, "a.txt"),
        ("one \\\n    --two", "out", 3, None),
        ("three", None, 3, None),
        ("four", None, 0, None),
        ("five", None, 0, None),
    ]


def test_the_readme_is_read() -> None:
    """A fence that is not recognised would take its commands out of the test without a word."""
    for document in (ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "operations.md"):
        assert sum(1 for _ in steps(document)) > 20
        told = {line for line in document.read_text().splitlines() if line.startswith("$ ")}
        assert told <= {f"$ {step.command.splitlines()[0]}" for step in steps(document)}
