"""The screen in a browser: its first frame, its keys, and who is refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("textual_serve", reason="needs pip install 'predtui[web]'")

import aiohttp

from predtui.commands.web import LOOPBACK, is_own

PATIENCE_S = 60
PAINTED = 40_000
"""Letters of a picture of the screen; while it loads, a picture has a third of that."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def command(port: int, *more: str) -> list[str]:
    return [sys.executable, "-m", "predtui", "serve", "--port", str(port), *more]


@contextmanager
def served(folder: Path, *more: str) -> Iterator[str]:
    """Its address."""
    port = free_port()
    own = {f"PREDTUI_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "STATE", "DATA")}
    environment = os.environ | own | {"PREDTUI_EMBEDDED": "1"}
    with subprocess.Popen(command(port, *more), stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stdout is not None
            assert f"http://127.0.0.1:{port}" in process.stdout.readline()
            began = time.monotonic()
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert time.monotonic() - began < PATIENCE_S
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


def test_the_first_frame_and_what_is_typed_and_others_are_refused(tmp_path: Path) -> None:
    async def visit(address: str) -> None:
        async with aiohttp.ClientSession() as client:
            page = await client.get(address)
            assert page.status == 200
            assert "textual" in await page.text()
            assert "font-src 'self'" in page.headers["Content-Security-Policy"]
            for headers in ({"Origin": "http://elsewhere.example"}, {"Host": "elsewhere.example"}):
                assert (await client.get(f"{address}/ws", headers=headers)).status == 403
            async with client.ws_connect(f"{address}/ws?width=80&height=24", headers={"Origin": address}) as line:
                await until(line, "TRANSCRIPT")
                await line.send_json(["stdin", "qwertz"])
                await until(line, "qwertz")
                await line.send_json(["stdin", "\x11"])

    with served(tmp_path, "--theme", "moss", "--verifier", "top3") as address:
        asyncio.run(asyncio.wait_for(visit(address), PATIENCE_S))


async def until(line: aiohttp.ClientWebSocketResponse, words: str) -> None:
    shown = ""
    while words not in shown:
        message = await line.receive()
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), shown[-500:]
        shown += message.data.decode(errors="replace") if isinstance(message.data, bytes) else message.data


@given(st.text(), st.text())
def test_no_other_page_and_no_other_name_is_answered(host: str, origin: str) -> None:
    names = {f"{name}:8000" for name in LOOPBACK}
    if is_own(host, origin, names):
        assert host in names
        assert origin in ("", f"http://{host}")
    assert is_own("127.0.0.1:8000", "", names)
    assert not is_own("127.0.0.1:8000", "http://evil:8000", names)


def test_a_port_that_is_taken_is_told_in_a_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(command(taken.getsockname()[1]), capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "already in use" in done.stderr
    assert "--port" in done.stderr


def test_in_a_browser(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("there is no Chromium here; the first frame is tested over a WebSocket above")
    profile = tmp_path / "profile"
    own = ["--remote-debugging-port=0", f"--user-data-dir={profile}", "--window-size=1200,800"]
    options = ["--headless", "--no-sandbox", "--disable-gpu", *own, "about:blank"]
    with served(tmp_path) as address, subprocess.Popen([browser, *options], stderr=subprocess.DEVNULL) as running:
        try:
            asyncio.run(asyncio.wait_for(painted(profile / "DevToolsActivePort", address), PATIENCE_S))
        finally:
            running.terminate()


async def painted(port: Path, address: str) -> None:
    """Wait until the browser whose ``port`` is in that file shows more at ``address`` than that it is loading."""
    while not (port.is_file() and port.read_text()):
        await asyncio.sleep(0.1)
    async with aiohttp.ClientSession() as client:
        async with client.get(f"http://127.0.0.1:{port.read_text().split()[0]}/json") as told:
            page = next(one for one in await told.json() if one["type"] == "page")
        async with client.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as line:
            await asked(line, "Page.navigate", url=address)
            while len((await asked(line, "Page.captureScreenshot")).get("data", "")) < PAINTED:
                await asyncio.sleep(0.2)


async def asked(line: aiohttp.ClientWebSocketResponse, method: str, **about: str) -> dict[str, str]:
    """What the browser answers; nothing while it is on its way to a page."""
    await line.send_json({"id": 1, "method": method, "params": about})
    while (answer := await line.receive_json()).get("id") != 1:
        pass
    found: dict[str, str] = answer.get("result", {})
    return found
