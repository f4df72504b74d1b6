"""A reader's second terminal: one shell for a document, in an empty folder that has the examples."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.docs.reading import ROOT

_MARK = "end-of-step"
ASKING = Path(__file__).with_name("asking.py")
KIT = ROOT / "clients" / "python" / "src"
PATIENCE = 60.0  # wall seconds for one command; only a failure waits so long


class Session:
    """A shell with the project's commands on its PATH, run by the process at the socket `warm`. What a command sets is
    there for the next one."""

    def __init__(self, folder: Path, endpoint: str, warm: Path) -> None:
        self.folder = folder
        (folder / "examples").symlink_to(ROOT / "examples")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("WINDTUNNEL_", "AWS_"))}
        path = f"{_commands(folder, warm)}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=kept
            | {
                "PATH": path,
                "PYTHONPATH": f"{ROOT}{os.pathsep}{KIT}",
                "PYTEST_PLUGINS": "windtunnel_testkit.plugin",  # as if the kit were installed, and none of ours
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "HOME": str(folder),
                "LC_ALL": "C.UTF-8",
                "WINDTUNNEL_ENDPOINT": endpoint,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: str) -> tuple[int, str]:
        """Exit code, and output with errors."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null; printf '\\n{_MARK} %d\\n' $?\n")
        self._shell.stdin.flush()
        watchdog = threading.Timer(PATIENCE, self._shell.kill)
        watchdog.start()
        lines = []
        try:
            for line in self._shell.stdout:
                if line.startswith(_MARK):
                    return int(line.split()[1]), "".join(lines)
                lines.append(line)
        finally:
            watchdog.cancel()
        raise AssertionError(f"the shell ended in: {command}\n{''.join(lines)}")

    def close(self) -> None:
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.close()
        self._shell.wait(30)
        self._shell.stdout.close()


def _commands(folder: Path, warm: Path) -> Path:
    """A folder with `windtunnel` and `aws` in it."""
    directory = folder / ".commands"
    directory.mkdir()
    for name in ("windtunnel", "aws"):
        script = directory / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{ASKING}" "{warm}" {name} "$@"\n')
        script.chmod(0o755)
    return directory
