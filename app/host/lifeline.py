"""A child ends when its supervisor does, even by `kill -9`: the pipe that is its standard input then closes."""

import os
import signal
import threading

GRACE_SECONDS = 5.0


def end_with_supervisor() -> None:
    """Watch standard input in a thread (an event loop may be busy); at its end ask, then insist."""
    threading.Thread(target=_watch, name="lifeline", daemon=True).start()


def _watch() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_SECONDS)
    os._exit(1)
