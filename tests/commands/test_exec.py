"""`windtunnel exec`: what its command is told, and that it does not outlive us (CT-11)."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = """
import asyncio, signal, sys
from app.host import guest
async def main():
    process = await guest.start([sys.executable, "-c", sys.argv[1]], {})
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, guest.interrupt, process)
    sys.exit(await process.wait())
asyncio.run(main())
"""
THEIRS = """
import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: os._exit(7))
print(os.getpid(), flush=True)
while True: signal.pause()
"""


def ours() -> tuple["subprocess.Popen[str]", int]:
    """A process that runs a command as `exec` does, and the command's id."""
    process = subprocess.Popen(
        [sys.executable, "-c", OURS, THEIRS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    assert process.stdout
    return process, int(process.stdout.readline())


def test_an_interrupt_is_handed_on() -> None:
    """CT-11: who tells us alone, as a CI that has no terminal, means the command; its exit code is ours."""
    process, _ = ours()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 7


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_the_command_ends_when_we_are_killed() -> None:
    """CT-11: by kill -9, which nobody can answer."""
    process, theirs = ours()
    watched = os.pidfd_open(theirs)
    process.kill()
    process.communicate(timeout=60)
    ended, _, _ = select.select([watched], [], [], 60)
    os.close(watched)
    assert ended


def test_a_terminal_tells_the_command_itself() -> None:
    """CT-11: then it is not told twice. A terminal of its own says whether a process is in its foreground."""
    program = (
        "import os, pty\n"
        "from app.host.guest import is_in_foreground\n"
        "child, _ = pty.fork()\n"
        "if child == 0: os._exit(0 if is_in_foreground() else 1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "assert not is_in_foreground()\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], stdin=subprocess.DEVNULL, env=environ, check=True, timeout=60)
