"""A burst of keys is one edit: characters that wait while the app is busy with those before reach it together.

A terminal without bracketed paste sends pasted text as keys, some thousand a second. Must not know which widget takes
them.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from textual.driver import Driver
from textual.events import Key
from textual.message import Message

from predtui.tui.messages import KeysTyped

_HOPS = 3
"""Through the app's queue, until the widget with the focus has taken what the app passed on to it."""


class Gathering(Driver):
    """A terminal's driver that sends one run of characters at a time, and the next when the app has dealt with that.
    All messages keep their order."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._waiting: deque[Message] = deque()
        self._called = self._dealing = False

    def send_message(self, message: Message) -> None:
        """From any thread."""
        self._waiting.append(message)
        if not self._called:
            self._called = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._called = False
        while self._waiting and not self._dealing:
            if run := self._characters():
                self._dealing = True
                self._app.post_message(KeysTyped(run) if len(run) > 1 else run[0])
                self._proceed(_HOPS)
            else:
                self._app.post_message(self._waiting.popleft())

    def _characters(self) -> list[Key]:
        """Those that come next: of keys that type, pressed without a modifier."""
        run: list[Key] = []
        while self._waiting and isinstance(key := self._waiting[0], Key) and key.is_printable and "+" not in key.key:
            run.append(key)
            self._waiting.popleft()
        return run

    def _proceed(self, hops: int) -> None:
        if hops:
            self._app.call_later(self._proceed, hops - 1)
        else:
            self._dealing = False
            self._deliver()


def gathering(kind: type[Driver]) -> type[Driver]:
    """The driver of this kind that gathers."""
    return type(f"Gathering{kind.__name__}", (Gathering, kind), {})
