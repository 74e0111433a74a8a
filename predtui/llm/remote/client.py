"""HTTP to one server: questions and streamed replies, each of which can be given up at any moment.

The connections belong to a thread of their own, in which they are asynchronous: so that waiting for a server, however
far it has come (a name, a connection, TLS, the first byte), can end within a few milliseconds, and giving a request up
closes its connection, at which servers stop computing. Must not know what is asked, or of tokens.
"""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import httpx2

from predtui import __version__
from predtui.clock import Clock, RealClock
from predtui.llm.base import Preempted, Stale, never
from predtui.llm.remote.address import Address
from predtui.llm.remote.failures import (
    ServerError,
    not_json,
    refused,
    said_in_stream,
    speaks_tls,
    too_much,
    unanswered,
    understanding,
)
from predtui.llm.waiting import Waiting

ASK_S = 0.02
"""Between two questions whether the work is stale."""
CONNECT_S, SILENCE_S = 5.0, 60.0
"""The longest that a connection may take, and that a server may send nothing."""
SLOW_S = 1.0
"""After so long without a word from a server, it is said that it is waited for."""
PATIENCE_S = 20.0
"""How long a server that fails is asked again, in a turn that has begun."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
"""Between two attempts: twice as long each time."""
LARGEST = 64 << 20
"""Bytes of an answer, and of an event."""
MOST = 100_000
"""Events of one stream."""
_DONE = "[DONE]"
_HUNG_UP = (httpx2.RemoteProtocolError, httpx2.ReadError)
GIVE_UP = "Escape gives the turn up."

for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # what they tell below that holds headers, and so the key


class Link:
    """To the server at ``address``. All but ``close`` raise ServerError, and Preempted where the work is stale."""

    def __init__(self, address: Address, key: str = "", stale: Stale = never, clock: Clock | None = None) -> None:
        """``stale``: asked at least every ``ASK_S`` while something is waited for."""
        self.address, self.place, self.clock = address, address.place, clock or RealClock()
        self.patience = 0.0
        """Seconds for which a server that fails is asked again; 0 until it is known that there is one."""
        self.waiting = Waiting()
        self.unread = 0
        """Events of replies that were given up, which had arrived and were not read."""
        self._key, self._stale, self._heard = key, stale, False
        self._client = httpx2.AsyncClient(
            headers={"User-Agent": f"predtui/{__version__}"} | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
            trust_env=False,  # neither a proxy nor a file of passwords is asked
            verify=httpx2.create_ssl_context() if address.url.startswith("https") else False,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="remote", daemon=True)
        self._thread.start()

    def ask(self, path: str, body: Any = None) -> Any:
        """What the server answers at ``path``, to ``body`` where there is one; asked again where it fails."""
        since, attempt = self.clock.now(), 0
        while True:
            try:
                with Stream(self, path, body, streams=False) as answer:
                    return next(iter(answer), None)
            except ServerError as error:
                attempt += 1
                self.wait(error, since, attempt)

    def find(self, path: str, body: Any = None) -> Any:
        """As ``ask``; None where the server offers nothing there, or does not take such a question."""
        try:
            return self.ask(path, body)
        except ServerError as error:
            if error.not_offered:
                return None
            raise

    def stream(self, path: str, body: Any) -> Stream:
        """A reply in events. Not asked again if it fails: who asks knows how far it came."""
        return Stream(self, path, body, streams=True)

    def wait(self, error: ServerError, since: float, attempt: int) -> None:
        """Wait after ``attempt`` attempts since ``since``. Raises ``error`` if it does not pass, or has not for
        ``patience`` seconds."""
        pause = error.wait or min(FIRST_PAUSE_S * 2 ** (attempt - 1), LONGEST_PAUSE_S)
        end = self.clock.now() + pause
        if not (error.passing and self.waiting.patient) or end > since + self.patience:
            self.waiting.given_up()
            raise error
        logging.getLogger(__name__).warning("%s It is asked again in %.1f s.", error.message, pause)
        self.waiting.say(f"{error.message} It is asked again, for {PATIENCE_S:.0f} s at most. {GIVE_UP}")
        while (left := end - self.clock.now()) > 0:
            self.check()
            self.clock.sleep(min(ASK_S, left))

    def check(self) -> None:
        """Raises Preempted where the work is stale."""
        if self._stale():
            self.waiting.say("")
            raise Preempted

    def begin(self, path: str, body: Any, streams: bool, arrived: Callable[[Any], None]) -> Callable[[], object]:
        """Ask in the thread of connections: ``arrived`` is told each event or the answer, then None; or an exception.
        The returned function gives the request up."""
        work = self._exchange(path, body, streams, arrived)
        return asyncio.run_coroutine_threadsafe(work, self._loop).cancel

    def close(self) -> None:
        """Harmless twice."""
        if self._loop.is_closed():
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).result(CONNECT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CONNECT_S)
        self._loop.close()

    async def _exchange(self, path: str, body: Any, streams: bool, arrived: Callable[[Any], None]) -> None:
        method, url = "GET" if body is None else "POST", self.address.url + path
        try:
            async with self._client.stream(method, url, json=body) as response:
                self._heard = True
                if response.status_code != 200:
                    arrived(self._refusal(response, await self._text(response)))
                elif streams:
                    await self._events(response, arrived)
                else:
                    arrived(self._read(await self._text(response)))
            arrived(None)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            tls = await self._tls_instead(error)
            arrived(speaks_tls(self.place) if tls else unanswered(self.place, error))
        except Exception as error:  # whatever it is, someone waits for it
            arrived(error)

    async def _events(self, response: httpx2.Response, arrived: Callable[[Any], None]) -> None:
        count = 0
        async for event in httpx2.EventSource(response, LARGEST):
            if event.data.strip() == _DONE:
                return
            said = self._read(event.data)
            if event.event == "error" or (isinstance(said, dict) and said.get("error")):
                arrived(said_in_stream(self.place, self._redacted(words(said))))
                return
            arrived(said)
            count += 1
            if count > MOST:
                raise too_much(self.place)

    async def _text(self, response: httpx2.Response) -> str:
        data = bytearray()
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > LARGEST:
                raise too_much(self.place)
        return data.decode("utf-8", "replace")

    async def _tls_instead(self, error: Exception) -> bool:
        """Whether a server that has hung up, and never answered, does so since it wants TLS: it is asked."""
        if self._heard or self.address.url.startswith("https") or not isinstance(error, _HUNG_UP):
            return False
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # only who it is not is of interest
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        try:
            connecting = asyncio.open_connection(self.address.host, self.address.port, ssl=trusting)
            _, writer = await asyncio.wait_for(connecting, CONNECT_S)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    def _read(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise not_json(self.place) from None

    def _refusal(self, response: httpx2.Response, text: str) -> ServerError:
        try:
            said = words(json.loads(text))
        except ValueError:
            said = "" if text.lstrip().startswith("<") else text
        after = response.headers.get("retry-after", "")
        wait = float(after) if after.isdecimal() else 0.0
        return refused(self.place, response.status_code, self._redacted(said), wait, bool(self._key))

    def _redacted(self, text: str) -> str:
        """A server may repeat the key that it refuses."""
        return text.replace(self._key, "…") if self._key else text


class Stream:
    """The events of one request, as JSON. To be closed, which gives the request up."""

    def __init__(self, link: Link, path: str, body: Any, streams: bool) -> None:
        self._link, self._over = link, False
        self._arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        link.check()
        self._cancel = link.begin(path, body, streams, self._arrived.put)

    def __iter__(self) -> Generator[Any, None, None]:
        """Raises ServerError, and Preempted once the work is stale."""
        while not self._over:
            said = self._next()
            if said is None or isinstance(said, Exception):
                self._over = True
            if isinstance(said, Exception):
                with understanding(self._link.place):
                    raise said
            self._link.waiting.say("")
            if said is not None:
                yield said

    def close(self) -> None:
        """What has arrived is thrown away."""
        self._cancel()
        while not (self._over or self._arrived.empty()):
            said = self._arrived.get()
            self._over = said is None or isinstance(said, Exception)
            self._link.unread += not self._over
        self._over = True

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _next(self) -> Any:
        slow = self._link.clock.now() + SLOW_S
        while True:
            self._link.check()
            try:
                return self._arrived.get(timeout=ASK_S)
            except queue.Empty:
                if self._link.clock.now() > slow:
                    self._link.waiting.say(f"{self._link.place} has not answered yet. {GIVE_UP}")


def words(said: Any) -> str:
    """What an error of a server says, in any of the usual forms."""
    if isinstance(said, dict):
        return words(next((said[name] for name in ("error", "message", "detail", "msg") if said.get(name)), ""))
    if isinstance(said, list):
        return words(said[0]) if said else ""
    return said if isinstance(said, str) else ""
