"""Keeps the conversation that a pipeline has, exchange by exchange, on a thread of its own.

What stands of a turn under way is what would, had it been silenced now, so that a crash leaves what was heard. Must not
know the screen, nor how a file is written.
"""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

if TYPE_CHECKING:
    from predtui.state.kept.store import Store

PATIENCE_S = 8.0
"""For what waits when the app closes: a little longer than a locked file is waited for."""
PROMPTS = 2000
"""Earlier ones that are at hand."""
Publish = Callable[[ev.Event], None]


class Keeper:
    """A listener that keeps what it hears of. Where that fails it says so once, and tries again with the next exchange;
    the app goes on."""

    def __init__(self, path: Path, turn: Callable[[], Turn], publish: Publish, private: bool = False) -> None:
        """``turn``: the latest. ``private``: reads what was asked before, and writes nothing."""
        self.session = 0
        """The number of the conversation in the file; 0 before anything of it is kept."""
        self.prompts: list[str] = []
        """Asked before this run, the newest last."""
        self._path, self._turn, self._publish, self._private = path, turn, publish, private
        self._writer = uuid.uuid4().hex
        self._seen: object = None
        self._time, self._told = 0.0, False
        self._store: Store | None = None
        self._waiting: queue.SimpleQueue[tuple[int, Exchange] | int | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def __call__(self, event: ev.Event) -> None:
        """Returns at once."""
        if self._private:
            return
        turn, self._time = self._turn(), max(self._time, event.time)
        if isinstance(event, ev.Resumed):
            self._waiting.put(event.session)
        seen = (turn.number, turn.phase, len(turn.sentences), turn.reply is None, turn.spoken)
        if seen != self._seen:
            self._seen = seen
            self._keep(turn)

    def let_be(self, private: bool) -> None:
        """Whether nothing is kept from now on."""
        self._private = private

    def close(self) -> bool:
        """Whether all was written within a few seconds. A reply that is still being heard ends here."""
        if not self._private:
            self._keep(self._turn())
        self._waiting.put(None)
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive()

    def _keep(self, turn: Turn) -> None:
        exchange = silenced(turn, self._time).exchange
        if exchange is not None and not turn.aside:
            self._waiting.put((len(turn.past), exchange))

    def _run(self) -> None:
        """In the thread, until there is no more."""
        self._remember()
        unwritten: dict[int, Exchange] = {}
        while (item := self._waiting.get()) is not None:
            if isinstance(item, int):
                self.session = item
                unwritten.clear()
            else:
                unwritten.update([item])
                self._write(unwritten)
        self._close()

    def _remember(self) -> None:
        """What was asked before, where anything was kept."""
        try:
            if self._path.exists():
                self.prompts = self._open().prompts(PROMPTS)
        except (OSError, PredtuiError) as error:
            self._fail(f"Earlier conversations cannot be read: {error}")

    def _write(self, unwritten: dict[int, Exchange]) -> None:
        """What cannot be written stays there."""
        try:
            for place, exchange in sorted(unwritten.items(), key=itemgetter(0)):
                self.session = self._open().put(self.session, place, exchange)
                del unwritten[place]
            self._told = False
        except PredtuiError as error:
            self._fail(f"What you say is not kept: {error}")

    def _open(self) -> Store:
        from predtui.state.kept.store import Store

        self._store = self._store or Store(self._path, self._writer)
        return self._store

    def _close(self) -> None:
        if self._store:
            self._store.close()
        self._store = None

    def _fail(self, text: str) -> None:
        """Once, until it has gone well again."""
        self._close()
        if not self._told:
            self._told = True
            self._publish(ev.Notice(text=text, severity="warning"))


def silenced(turn: Turn, time: float) -> Turn:
    """The turn as it would be, had its reply been silenced at ``time``; one that is over stays as it is."""
    return reduce(turn, ev.Interrupt(turn=turn.number, time=time)) if turn.busy else turn
