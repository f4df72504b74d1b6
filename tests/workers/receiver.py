"""A receiver of webhooks on loopback that keeps what it is sent, and can be told to fail."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from app.core.webhooks import signature

Answer = Callable[[dict[str, Any]], int]


class Receiver:
    """What arrived, in order: envelopes that were taken, and every post with its headers."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.posts: list[tuple[dict[str, str], bytes]] = []
        self.answer: Answer = lambda envelope: 200
        self.url = ""

    def take(self, headers: dict[str, str], body: bytes) -> int:
        self.posts.append((headers, body))
        envelope = json.loads(body)
        status = self.answer(envelope)
        if status < 300:
            self.taken.append(envelope)
        return status

    def ids(self) -> list[str]:
        return [envelope["id"] for envelope in self.taken]

    def wait(self, count: int, seconds: float = 30) -> list[dict[str, Any]]:
        """Until so many different envelopes are here."""
        deadline = time.monotonic() + seconds
        while len(set(self.ids())) < count:
            assert time.monotonic() < deadline, f"{len(set(self.ids()))} of {count} arrived"
            time.sleep(0.02)
        return self.taken

    def check_signatures(self, secret: str) -> None:
        for headers, body in self.posts:
            assert headers["x-windtunnel-id"] == json.loads(body)["id"]
            assert headers["x-windtunnel-signature"] == signature(secret, int(headers["x-windtunnel-timestamp"]), body)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = receiver.take({name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            if status == 302:
                self.send_header("location", receiver.url + "/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
