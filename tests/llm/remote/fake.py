"""A server on the loopback address that answers as it is told, and tells what it was asked."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Status:
    """An answer that is no success."""

    code: int
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Events:
    """A stream, an event every ``pause`` seconds. ``cut``: the connection is broken off behind them."""

    said: Iterable[Any]
    pause: float = 0.0
    cut: bool = False
    done: bool = True


@dataclass(frozen=True)
class Silence:
    """Nothing is said for so many seconds."""

    seconds: float


Answer = Any
Route = Answer | Callable[[Any], Answer]
Routes = Mapping[str, Route]


class Fake(ThreadingHTTPServer):
    """``routes``: path → what is answered there, or a function of the question that tells it."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, routes: Mapping[str, Route], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.routes = dict(routes)
        self.asked: list[tuple[str, Any, dict[str, str]]] = []
        self.sent = 0
        """Events."""
        self.dropped = threading.Event()
        """Set once a client has gone before its stream was over."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def bodies(self, path: str) -> list[Any]:
        """Of the questions at ``path``."""
        return [body for asked, body, _ in self.asked if asked == path]

    def handle_error(self, *_: Any) -> None:
        """A client that goes is none."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or an answer's body waits 40 ms until its head has been acknowledged
    server: Fake

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _answer(self, body: Any) -> None:
        self.server.asked.append((self.path, body, dict(self.headers)))
        route = self.server.routes.get(self.path, Status(404, {"error": {"message": "no such path"}}))
        answer = route(body) if callable(route) else route
        if isinstance(answer, Silence):
            time.sleep(answer.seconds)
            return
        if isinstance(answer, Events):
            self._stream(answer)
            return
        status = answer if isinstance(answer, Status) else Status(200, answer)
        text = status.body if isinstance(status.body, str) else json.dumps(status.body)
        self.send_response(status.code)
        for name, value in {"content-length": str(len(text.encode())), **status.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def _stream(self, events: Events) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for said in events.said:
                self._chunk(f"data: {json.dumps(said)}\n\n")
                self.server.sent += 1
                time.sleep(events.pause)
            if events.cut:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            if events.done:
                self._chunk("data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.server.dropped.set()
            self.close_connection = True

    def _chunk(self, text: str) -> None:
        self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Nothing is written."""


@contextmanager
def serving(routes: Mapping[str, Route], port: int = 0) -> Iterator[Fake]:
    server = Fake(routes, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def in_turn(*answers: Answer) -> Callable[[Any], Answer]:
    """One answer after another; the last from then on."""
    left = list(answers)

    def answer(_body: Any) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer
