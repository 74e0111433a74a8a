"""A Hugging Face hub on the loopback address, as far as predtui asks one: and whatever can go wrong with one."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c" * 40
STATUSES = ("401", "403", "404", "408", "410", "416", "418", "429", "500", "503")
ANSWERS = (
    "drop", "html", "cut", "list", "wrong size", "wrong digest", "no digest", "no commit", "no files", "evil names",
    *STATUSES,
)  # fmt: skip
"""What may go wrong when the hub is asked what a repository holds."""
BODIES = (
    "drop", "stall", "cut", "reset", "wrong bytes", "longer", "shorter", "html", "whole", "other part", "no length",
    "chunked", "chunked cut", "gzip", "loop", "elsewhere", "file scheme", "nonsense", "huge length", *STATUSES,
)  # fmt: skip
"""What may go wrong when a file is fetched; "whole": a request for a part is not honoured."""
STALL_S = 0.4


@dataclass
class HubServer:
    """``repositories``: by name, the bytes of each file; ``answers`` and ``bodies``: what goes wrong next, "" for
    nothing, with a share 0..1 of the file where it does; ``asked``: path, Range and Authorization of each request."""

    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    answers: deque[str] = field(default_factory=deque)
    bodies: deque[tuple[str, float]] = field(default_factory=deque)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    address: str = ""

    def reset(self) -> None:
        for kept in (self.repositories, self.about, self.answers, self.bodies, self.asked):
            kept.clear()

    def told(self, name: str, fault: str) -> dict[str, Any]:
        """What the hub says of a repository."""
        siblings = []
        for file, data in self.repositories[name].items():
            size = len(data) + (fault == "wrong size")
            sha256 = hashlib.sha256(data + b"!" * (fault == "wrong digest")).hexdigest()
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            large = {"lfs": {"sha256": sha256, "size": size, "pointerSize": 134}}
            sibling = {"rfilename": file, "size": size, "blobId": blob}
            sibling |= large if file.endswith((".gguf", ".safetensors", ".bin")) else {}
            if fault == "no digest":
                sibling = {"rfilename": file, "size": size}
            siblings.append(sibling)
        if fault == "evil names":
            siblings = [{**one, "rfilename": f"../../{one['rfilename']}"} for one in siblings]
        return {
            "id": name,
            "sha": "" if fault == "no commit" else COMMIT,
            "siblings": [] if fault == "no files" else siblings,
            "tags": ["gguf", "license:apache-2.0"],
            "downloads": 12345,
            "gated": False,
            "pipeline_tag": "text-generation",
            **self.about,
        }


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *said: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self.close_connection = True
        hub, path = self.server.hub, unquote(urlsplit(self.path).path)
        hub.asked.append((self.path, self.headers.get("Range", ""), self.headers.get("Authorization", "")))
        parts = path.strip("/").split("/")
        with contextlib.suppress(OSError):
            if parts[:2] == ["api", "models"]:
                self._answer(hub, "/".join(parts[2:]))
            elif parts[0] == "cdn":
                self._body(hub, hub.repositories["/".join(parts[1:3])]["/".join(parts[3:])])
            elif len(parts) > 4 and parts[3] == COMMIT and "/".join(parts[4:]) in hub.repositories["/".join(parts[:2])]:
                self._redirect(f"/cdn/{'/'.join(parts[:2])}/{'/'.join(parts[4:])}")
            else:
                self._send(404, b"")

    def _answer(self, hub: HubServer, name: str) -> None:
        fault = hub.answers.popleft() if hub.answers else ""
        if fault == "drop":
            return
        if fault.isdigit():
            self._send(int(fault), b"", **({"Retry-After": "1"} if fault == "429" else {}))
        elif name and name not in hub.repositories:
            self._send(404, b"", **{"X-Error-Code": "RepoNotFound"})
        else:
            told: Any = hub.told(name, fault) if name else [hub.told(one, fault) for one in hub.repositories]
            text = json.dumps(told).encode()
            text = {"html": b"<html>", "cut": text[: len(text) // 2], "list": b"[1, 2]"}.get(fault, text)
            self._send(200, text, **{"Content-Type": "application/json"})

    def _body(self, hub: HubServer, data: bytes) -> None:
        fault, share = hub.bodies.popleft() if hub.bodies else ("", 0.0)
        asked = self.headers.get("Range", "")
        begin = 0 if fault == "whole" or not asked else int(asked.removeprefix("bytes=").rstrip("-"))
        if fault.isdigit():
            self._send(int(fault), b"", **({"Retry-After": "1"} if fault == "429" else {}))
        elif begin > len(data):
            self._send(416, b"")
        elif fault in ("loop", "elsewhere", "file scheme"):
            there = {"loop": self.path, "elsewhere": "http://example.org/x", "file scheme": "file:///etc/passwd"}
            self._redirect(there[fault])
        elif fault == "nonsense":
            self.wfile.write(b"\0\1\2 nonsense\r\n\r\n")
        elif fault != "drop":
            self._faulty(fault, data, begin, int(share * (len(data) - begin)))

    def _faulty(self, fault: str, data: bytes, begin: int, at: int) -> None:
        """The file from ``begin`` on; what is wrong is so from ``at`` on."""
        body, told = data[begin:], len(data) - begin
        if fault == "wrong bytes":
            body = body[:at] + bytes(byte ^ 1 for byte in body[at:]) if at < len(body) else body
        body = {"longer": body + b"more", "shorter": body[:at], "html": b"<html>"}.get(fault, body)
        length = {"huge length": "9" * 5000, "html": "6"}.get(fault, str(told))
        if fault in ("longer", "shorter"):
            length = str(len(body))
        self.send_response(206 if begin else 200)
        if begin:
            first = begin + 1 if fault == "other part" else begin
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        if fault == "gzip":
            self.send_header("Content-Encoding", "gzip")
        if fault.startswith("chunked"):
            self.send_header("Transfer-Encoding", "chunked")
        elif fault != "no length":
            self.send_header("Content-Length", length)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("Connection", "close")
        self.end_headers()
        self._write(fault, body, at)

    def _write(self, fault: str, body: bytes, at: int) -> None:
        if fault in ("cut", "stall", "reset"):
            self.wfile.write(body[:at])
            self.wfile.flush()
            if fault == "stall":
                time.sleep(STALL_S)
            if fault == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        elif fault.startswith("chunked"):
            for start in range(0, at if fault.endswith("cut") else len(body), 1000):
                piece = body[start : start + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if not fault.endswith("cut"):
                self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.write(body)

    def _redirect(self, there: str) -> None:
        self._send(302, b"", Location=there)

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: HubServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is none."""


@contextlib.contextmanager
def serving() -> Iterator[HubServer]:
    hub = HubServer()
    with _Server(hub) as server:
        hub.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
