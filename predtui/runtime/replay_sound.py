"""Lets the sound of a recording be heard while it is played at its own speed: what was said, and the replies.

The stage that plays live replies plays these, in a process of its own: whatever a sound system writes or does, the
screen stays whole. A thread looks where the player is. Must not know the screen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from predtui.runtime.hosts.base import Emit, Host
from predtui.state import events as ev
from predtui.state.heard import Heard, Stretch
from predtui.state.player import Position

LOOK_S = 0.03
"""Seconds between two looks at the player."""
Tell = Callable[[str], None]


class Playing(Protocol):
    """A player with sound."""

    heard: Heard

    @property
    def position(self) -> Position: ...


class ReplaySound:
    """``lacks``: why nothing is heard, in a word or two; empty while something is."""

    def __init__(self, player: Playing, make: Callable[[Emit], Host] | None) -> None:
        """``make``: the host of the stage that plays; None: mute."""
        self.lacks = "" if make else "mute"
        self._player = player
        self._host = make(self._hear) if make else None
        self._tell: Tell = print
        self._now: tuple[Stretch | None, int] = (None, 0)
        """What sounds, and the player's jumps by then."""
        self._sounds = 0
        """Of which each is, to the stage, a turn of its own."""
        self._ready = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay sound", daemon=True)

    def start(self, tell: Tell) -> None:
        """``tell`` takes a line on what is missing."""
        if self._host:
            self._tell = tell
            self._host.start()
            self._thread.start()

    def stop(self) -> None:
        """Harmless where it never started."""
        self._stopped.set()
        self._ready.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._host:
            self._host.stop()

    def _hear(self, event: ev.Event) -> None:
        """Of the stage: that it can play, or why it cannot."""
        if not isinstance(event, ev.StageStatus) or event.state == "starting":
            return
        if event.lacks or event.state != "ready":
            self.lacks = f"no {event.lacks or 'sound'}"
            self._tell(f"{event.message} The replay has no sound.")
        self._ready.set()

    def _run(self) -> None:
        self._ready.wait()
        while not (self.lacks or self._stopped.wait(LOOK_S)):
            self.follow()

    def follow(self) -> None:
        """Begins what is to be heard now, and ends what no longer is. What has ended, ends by itself."""
        position = self._player.position
        audible = position.playing and position.speed == 1.0
        stretch = self._player.heard.at(position.moment) if audible else None
        former, now = self._now, (stretch, position.jumps)
        if now == former or (stretch is None and former[1] == position.jumps):
            return
        self._now = now
        if stretch:  # the stage lets what still sounds give way to it
            self._sounds += 1
            self._send(ev.SpeechChunk(pcm=stretch.since(position.moment), rate=stretch.rate, last=True))
            self._send(ev.SpeechEnd())
        elif former[0]:
            self._send(ev.Interrupt())

    def _send(self, event: ev.Event) -> None:
        if self._host:
            self._host.send(replace(event, turn=self._sounds, revision=1))
