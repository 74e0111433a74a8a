"""The other end of a process host: the main function of a stage's process. Must never import the screen."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from predtui.clock import RealClock
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.runner import StageRunner
from predtui.state.events import Event, StageStatus
from predtui.state.stage import StageSpec

GRACE_S = 1.0
"""For a stage to notice that it is stale, once the app has asked it to end or is gone."""


class _Link:
    """The pipe to the app: sends from any thread, and ends the process where nobody listens any more."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def send(self, message: Event | tuple[type[Event], ...]) -> None:
        try:
            with self._lock:
                self._pipe.send(message)
        except OSError:
            os._exit(1)

    def receive(self) -> Any:
        """The next message; None when the app says goodbye or is gone."""
        try:
            return self._pipe.recv()
        except (OSError, EOFError):
            return None


def main() -> None:
    """Arguments: the number of the inherited pipe, and the stage's name for process listings."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    link = _Link(Connection(int(sys.argv[1])))
    try:
        spec = link.receive()
    except Exception as error:
        logging.exception("the options of stage %s cannot be read", sys.argv[2])
        link.send(StageStatus(stage=sys.argv[2], state="failed", message=f"{sys.argv[2]} cannot start: {error}."))
        os._exit(0)
    if spec is not None:
        _serve(spec, link)
    sys.stdout.flush()
    os._exit(0)


def _serve(spec: StageSpec, link: _Link) -> None:
    inbox = Inbox()
    runner = StageRunner(spec, RealClock(), inbox)
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
