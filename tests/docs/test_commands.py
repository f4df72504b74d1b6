"""The documents are followed as a stranger would: every command runs, and says what the document shows."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.reading import DOCUMENTS, ROOT, Step, matches, steps
from tests.docs.session import PATIENCE, Session
from tests.docs.warm import serving

NOT_RUN = {
    r"make (up|test|check|format|install|clients|clean)\b": "would install packages, or run this test; its "
    "target is checked",
    r"\. \.venv/bin/activate$": "the session's PATH has what it gives",
    r"(WINDTUNNEL_\w+=\S+ )*docker compose\b": "needs Docker; tests/test_compose.py reads the file",
    r"(WINDTUNNEL_\w+=\S+ )*windtunnel (up|api|reconciler|scheduler|migrate)\b": "does not return, or needs a "
    "database; its options are checked",
    r"(pg_dump|pg_restore|psql|createdb)\b": "needs PostgreSQL's clients and a database of the reader's own",
    r"git\b": "is about the reader's own copy",
}
"""Commands that no test can run, with the reason; `test_what_is_not_run_exists` looks at them in another way."""


def is_run(step: Step) -> bool:
    return step.file is not None or not any(re.match(pattern, step.command) for pattern in NOT_RUN)


WITH_COMMANDS = [document for document in DOCUMENTS if any(map(is_run, steps(document)))]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="wt-docs-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def warm() -> Iterator[Path]:
    """The socket of a process that has imported the commands."""
    with tempfile.TemporaryDirectory(prefix="wt-docs-") as made, serving(Path(made) / "commands"):
        yield Path(made) / "commands"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The service as `make up` starts it, but on a free port and with a database that is thrown away."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WINDTUNNEL_", "AWS_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "up", "--json", "--port", "0", "--ephemeral", "--log-level", "warning"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    yield json.loads(process.stdout.readline())["endpoint"]
    process.terminate()
    process.wait(PATIENCE)
    process.stdout.close()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_does_what_is_shown(document: Path, folder: Path, endpoint: str, warm: Path) -> None:
    wrong = []
    session = Session(folder, endpoint, warm)
    for step in filter(is_run, steps(document)):
        if step.file is not None:
            (folder / step.file).write_text(step.command)
            continue
        code, printed = session.run(step.command)
        if code != step.exit_code or (step.shown is not None and not matches(step.shown, printed)):
            wrong.append(
                f"line {step.line}: {step.command}\nexit code {code}, printed:\n{printed}\nshown:\n{step.shown}"
            )
    session.close()
    assert not wrong, "\n\n".join(wrong)


def test_what_is_not_run_exists() -> None:
    """Targets of the Makefile, and verbs with their options."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    for document in DOCUMENTS:
        for step in steps(document):
            where = f"{document.name}:{step.line}"
            if found := re.match(r"make ([a-z]+)", step.command):
                assert found[1] in targets, where
            elif found := re.match(
                r"(?:WINDTUNNEL_\w+=\S+ )*windtunnel (up|api|reconciler|scheduler|migrate)\b(.*)", step.command
            ):
                shown = subprocess.run(
                    [sys.executable, "-m", "app.cli", found[1], "--help"], capture_output=True, text=True, check=True
                ).stdout
                assert [each for each in re.findall(r"--[a-z-]+", found[2]) if each not in shown] == [], where
