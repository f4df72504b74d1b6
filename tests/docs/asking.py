"""One command, run by the process that tests/docs/warm.py keeps: `python -I -S asking.py SOCKET NAME ARGUMENTS`."""

import json
import os
import socket
import sys

KILLED = b"70"


def ask(path: str, name: str, arguments: list[str]) -> int:
    """Have the command run on this process's input and output; its exit code."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        folder = os.getcwd()  # noqa: PTH109 (pathlib takes longer to import than all of this)
        asked = {"name": name, "arguments": arguments, "folder": folder, "environment": dict(os.environ)}
        socket.send_fds(line, [b"\n"], [0, 1, 2])
        line.sendall(json.dumps(asked).encode())
        line.shutdown(socket.SHUT_WR)
        return int(line.recv(16) or KILLED)


if __name__ == "__main__":
    raise SystemExit(ask(sys.argv[1], sys.argv[2], sys.argv[3:]))
