"""The other end of a process host: the main function of a stage's process. Must never import the screen."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from typing import Any

from predtui.clock import RealClock
from predtui.foreign import gated
from predtui.runtime.hosts.beats import Beats, Heart
from predtui.runtime.hosts.confinement import confine
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.runner import StageRunner
from predtui.runtime.sound import SoundStore
from predtui.state.events import Event, Notice, StageStatus
from predtui.state.stage import StageSpec
from predtui.system.inherit import End

GRACE_S = 1.0
"""For a stage to notice that it is stale, once the app has asked it to end or is gone."""
NO_ROOM = "No room in memory for sound ({}): it goes the long way, through the screen's process. Free some memory."


class _Link:
    """The pipe to the app: sends from any thread, and ends the process where nobody listens any more. Sound goes beside
    it, into the store, where there is one with room."""

    def __init__(self, pipe: End, store: SoundStore | None = None) -> None:
        self._pipe, self._store = pipe, store
        self._lock = threading.Lock()
        self._full = False

    def send(self, message: Event | tuple[type[Event], ...]) -> None:
        try:
            with self._lock:
                self._pipe.send(self._stored(message) if isinstance(message, Event) else message)
        except OSError:
            os._exit(1)

    def receive(self) -> Any:
        """The next message; None when the app says goodbye or is gone."""
        try:
            message = self._pipe.recv()
        except (OSError, EOFError):
            return None
        return self._store.fetched(message) if self._store and isinstance(message, Event) else message

    def _stored(self, event: Event) -> Event:
        """``event`` as it goes through the pipe: with its sound only where the store is full; a notice says so once."""
        if self._store is None:
            return event
        try:
            stored = self._store.stored(event)
        except OSError as error:
            if not self._full:
                self._pipe.send(Notice(text=NO_ROOM.format(error.strerror), severity="warning"))
            self._full = True
            return event
        self._full = self._full and stored is event
        return stored


def main() -> None:
    """Arguments: the number of the pipe's inherited end, that of the file of beats and the place in it, those of the
    files of the sound store, and the stage's name for process listings. A file that there is not is -1, or left out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(
        stream=gated(sys.stderr), level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s"
    )
    pipe, beats, place, *files = map(int, sys.argv[1:-1])
    link = _Link(End(pipe), SoundStore(files) if files else None)
    try:
        spec = link.receive()
    except Exception as error:
        logging.exception("the options of stage %s cannot be read", sys.argv[-1])
        link.send(StageStatus(stage=sys.argv[-1], state="failed", message=f"{sys.argv[-1]} cannot start: {error}."))
        os._exit(0)
    if spec is not None:
        if spec.needs is not None:
            confine(spec.needs)
        heart = Heart(Beats(beats), place) if beats >= 0 else Heart()
        heart.start()
        _serve(spec, link, heart)
    sys.stdout.flush()
    os._exit(0)


def _serve(spec: StageSpec, link: _Link, heart: Heart) -> None:
    inbox = Inbox()
    runner = StageRunner(spec, RealClock(), inbox, heart, link.send)
    threading.Thread(target=_receive, args=(runner, link), daemon=True).start()
    for out in runner.open(link.send):
        link.send(out)
    if not runner.failed:
        runner.serve(link.send, lambda event: True)
    runner.close()


def _receive(runner: StageRunner, link: _Link) -> None:
    while (event := link.receive()) is not None:
        if runner.inbox.put(event):
            link.send(runner.overflow())
    runner.inbox.close()
    time.sleep(GRACE_S)
    os._exit(1)
