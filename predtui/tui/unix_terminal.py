"""Textual's driver of a Unix terminal, which learns in addition when the talk key is let go.

A terminal is asked whether it speaks Kitty's keyboard protocol, and is told to report releases once it has answered:
one without it is not waited for, and sees nothing else of this. It is asked for its background's colour, too. Must not
know what talking is.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import Keys

from predtui.tui import ground, kitty
from predtui.tui.actions import keys_of
from predtui.tui.keys import RELEASE, TALK
from predtui.tui.messages import GroundTold, ReleasesTold

ANSWERS_WITHIN = 0.2
"""Seconds that a terminal, which has answered before, has to answer once more at the end."""
READ = 4096
"""Bytes at a time."""


class Parser(XTermParser):
    """Yields the keys of Textual's, and a key of the name ``RELEASE`` where the talk key is let go. No other release,
    and no repeat of the talk key, is a key; ``told`` gets the flags that the terminal says are set."""

    def __init__(self, told: Callable[[int], object], debug: bool = False) -> None:
        self._told = told
        self._talk = {key.rpartition("+")[2] for key in keys_of("talk", TALK).split(",")}
        super().__init__(debug)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        flags = kitty.flags(sequence)
        if flags is not None:
            self._told(flags)
            return [events.Key(Keys.Ignore, sequence)]
        if alt and sequence == "\r":  # Textual's forgets that Alt was held
            return [events.Key("alt+enter", None)]
        plain, kind = kitty.stroke(sequence)
        keys = list(super()._sequence_to_key_events(plain, alt))
        if kind == "pressed" or not keys:
            return keys
        talk = keys[0].key.rpartition("+")[2] in self._talk
        if kind == "repeated":
            return [events.Key(Keys.Ignore, sequence)] if talk else keys
        return [events.Key(RELEASE, None) if talk else events.Key(Keys.Ignore, sequence)]


class TalkTerminal(LinuxDriver):
    """Asks for releases, and gives the terminal back without them: at the end, on suspension, and on SIGTERM."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._reports = self._asked = self._leaving = False
        self._answered = Event()

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._reports = self._asked = self._leaving = False
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._app.exit, None, 128 + signal.SIGTERM)
        if self.input_tty and self._key_thread is not None and not constants.DISABLE_KITTY_KEY:
            self.write(kitty.ASK)
            if os.environ.get("TERM") != "linux":  # a console, which is dark
                self.write(ground.ASK)

    def disable_input(self) -> None:
        """Keys that are let go from now on must not reach the shell: what the terminal has sent before it says that it
        reports no more of them is still read here."""
        if self._reports:
            self._leaving = True
            self._answered.clear()
            self.write(kitty.REMOVE + kitty.ASK)
            self._answered.wait(ANSWERS_WITHIN)
            self._reports = False
        super().disable_input()

    def run_input_thread(self) -> None:
        parser = Parser(self._told, self._debug)
        answers = ground.Answers(lambda light: self.process_message(GroundTold(light)))
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(0.1):
                    data = os.read(self.fileno, READ)
                    if not data:  # the terminal is gone
                        self.exit_event.wait(0.1)
                    elif text := answers.feed(decode(data)):
                        self._process(parser.feed(text))
                elif text := answers.flush():
                    self._process(parser.feed(text))
                self._process(parser.tick())

    def _process(self, messages: Iterable[Any]) -> None:
        for message in messages:
            self.process_message(message)

    def _told(self, flags: int) -> None:
        """On the thread that reads."""
        reports = bool(flags & kitty.EVENT_TYPES)
        if self._leaving:
            self._answered.set()
        elif reports:
            self._reports = True
            self.process_message(ReleasesTold())
        elif not self._asked:
            self._asked = True
            self.write(kitty.ADD + kitty.ASK)
