"""Servers under measurement: started, timed until they answer, weighed, and ended by process id."""

import contextlib
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence

import psutil


@contextlib.contextmanager
def server(
    command: Sequence[str], url: str, env: Mapping[str, str] | None = None
) -> Iterator[tuple[psutil.Process, float]]:
    """The running command and the seconds until `url` answered 2xx for the first time."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield psutil.Process(process.pid), _until_answer(process, url, began)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def _until_answer(process: "subprocess.Popen[bytes]", url: str, began: float) -> float:
    while process.poll() is None and time.perf_counter() - began < 60:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return time.perf_counter() - began
        except urllib.error.HTTPError:
            pass
        except OSError:
            pass
        time.sleep(0.005)
    raise RuntimeError(f"{url} did not answer")


def mebibytes(process: psutil.Process) -> dict[str, float]:
    """Memory of the process and its descendants, by what they are: proportional where the system tells (Linux), so
    that PostgreSQL's shared buffers count once, else resident."""
    weights: dict[str, float] = {}
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            words = one.cmdline() or [one.name()]
            name = "postgres" if "postgres" in words[0] else "supervisor" if "up" in words else words[-1]
            weights[name] = weights.get(name, 0.0) + _bytes(one) / 2**20
    return weights


def _bytes(process: psutil.Process) -> int:
    full = process.memory_full_info()
    return int(getattr(full, "pss", full.rss))
