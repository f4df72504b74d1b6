"""`windtunnel` and `aws` as forks of one process that has imported them: a document runs dozens, and importing is most
of what each would cost. All else is as in a process of its own: arguments, environment, folder, input and output.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.docs.reading import ROOT

Program = Callable[[], int | None]


@contextlib.contextmanager
def serving(path: Path) -> Iterator[None]:
    """A process that serves commands at the socket of that path."""
    command = [sys.executable, "-m", __name__, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        yield
        process.stdin.close()


def serve(path: str) -> None:
    """Fork for whoever asks, until standard input is closed."""
    before = dict(os.environ)
    import awscli.clidriver
    import awscli.handlers
    import httpx  # noqa: F401
    import rich.table  # noqa: F401

    import app.cli

    imported = {name: value for name, value in os.environ.items() if before.get(name) != value}  # AWS_DATA_PATH
    programs = {"windtunnel": app.cli.main, "aws": awscli.clidriver.main}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            line, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                if os.fork() == 0:
                    _become(line, programs, imported)
                os._exit(0)
            os.wait()
            line.close()


def _become(line: socket.socket, programs: Mapping[str, Program], imported: Mapping[str, str]) -> None:
    """Be the command: its files, folder, environment and arguments; tell its exit code, and end."""
    _, files, _, _ = socket.recv_fds(line, 1, 3)
    asked = json.loads(b"".join(iter(lambda: line.recv(1 << 16), b"")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(imported | asked["environment"])
    sys.argv = [asked["name"], *asked["arguments"]]
    code = 70
    try:
        code = programs[asked["name"]]() or 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads
            sys.stdout.flush()
            sys.stderr.flush()
        line.sendall(str(code).encode())
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
