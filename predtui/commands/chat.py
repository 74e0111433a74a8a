"""A conversation in lines: for screen readers, logs, pipes, and terminals that cannot place text.

What is typed is a turn, and what a person must know of is a line. Must not know how replies are made, nor the screen.
"""

from __future__ import annotations

import math
import queue
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from predtui.clock import Clock, RealClock
from predtui.commands.orders import ORDERS, order_named
from predtui.commands.paper import Paper
from predtui.commands.piped import LONGEST_LINE, heard_here, lines
from predtui.errors import PredtuiError
from predtui.runtime.build import make_pipeline
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.stages import STAGES
from predtui.runtime.typing import Typed
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file
from predtui.state.kept.keeper import Keeper
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

TWICE_S = 2.0
"""Seconds in which Ctrl+C, pressed once more, leaves."""
INTERRUPTED = 130
"""Exit status of a program that Ctrl+C has ended."""
_ORDER = re.compile(r"/([a-z]+)(?:\s+(.*))?")


@dataclass(frozen=True, slots=True)
class Said:
    """A line that was typed; None: no more will come."""

    line: str | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Ctrl+C was pressed."""


Inbox = queue.SimpleQueue["ev.Event | Said | Stop"]


class Chat:
    """Takes what comes, one after the other: lines become turns and orders, events become lines."""

    def __init__(self, pipeline: Pipeline, paper: Paper, typed: bool, speaks: bool, clock: Clock) -> None:
        """``typed``: somebody types, whose line silences the reply before it, and who is asked. Elsewhere a line waits
        until that reply is over, which is once it is heard, if it ``speaks``."""
        self.pipeline, self.paper, self.turn = pipeline, paper, Turn()
        self.leaving, self.status = False, 0
        """The exit status: 1 where a line that was typed has no reply that nobody has silenced."""
        self._typed, self._speaks, self._clock = typed, speaks, clock
        self._waiting: deque[Said] = deque()
        self._after = math.inf
        """The number of the turn before the one that is awaited; infinite where none is."""
        self._over = 0
        """The number of the last turn that is over."""
        self._stopped = -math.inf

    def take(self, item: ev.Event | Said | Stop) -> None:
        if isinstance(item, Said):
            self._waiting.append(item)
        elif isinstance(item, Stop):
            self._stop()
        else:
            before, self.turn = self.turn, reduce(self.turn, item)
            self._tell(item, before)
            self._close()
        while self._waiting and not self.leaving and (self._typed or self._after == math.inf):
            self._line(self._waiting.popleft().line)

    def _line(self, line: str | None) -> None:
        if line is None:
            self.leaving = True
            return
        self.paper.answered(line)
        order = _ORDER.fullmatch(line)
        if order:
            self._order(order[1], order[2] or "")
        elif len(line) > LONGEST_LINE:
            self.paper.note(f"a line is longer than {LONGEST_LINE} bytes, and is not answered.")
            self.status = 1
        elif line:
            self._after = self.turn.number
            self.pipeline.type_line(Typed(line, final=True))
        elif self._typed:
            self._order("talk", "")

    def _order(self, name: str, rest: str) -> None:
        order = order_named(name)
        if order:
            order.act(self, rest.strip())
        else:
            self.paper.note(f"there is no order /{name}. There are: /{', /'.join(each.name for each in ORDERS)}")
        if not self.leaving and not self.turn.busy:
            self.paper.ask()

    def _stop(self) -> None:
        """Silences, and leaves where it comes twice."""
        twice = self._clock.now() - self._stopped < TWICE_S
        self._stopped = self._clock.now()
        if twice or not self._typed:
            self.leaving, self.status = True, INTERRUPTED
        elif self.turn.busy:
            self.pipeline.silence()
        else:
            self.paper.note("Ctrl+C once more leaves; so does Ctrl+D.")
            self.paper.ask()

    def _tell(self, event: ev.Event, before: Turn) -> None:
        """The line, if any, that a person must read of it."""
        turn, say, note = self.turn, self.paper.say, self.paper.note
        match event:
            case ev.Notice():
                note(event.text)
            case ev.StageStatus():
                self._status(event, before.stages.get(event.stage))
            case ev.Listen(path=""):
                note(f"listening; {'silence' if event.hands_free else 'an empty line'} ends it")
            case ev.Transcript(final=True) if event.text and turn.source != "typed" and turn.number == event.turn:
                say(event.text, "you said")
            case ev.ReplyCommitted() if len(turn.sentences) > len(before.sentences) and not turn.interrupted:
                say(event.text.strip("\n").removeprefix(" "), "bot" if event.index == 0 else "")
            case ev.ReplyFinished() if turn.notes and turn.number == event.turn:
                note(f"from {', '.join(turn.notes)}")
            case ev.Interrupt(reason="silenced") if before.busy:
                note("silenced")

    def _status(self, event: ev.StageStatus, before: ev.StageStatus | None) -> None:
        if event.state in ("failed", "restarting", "silent", "waiting"):
            self.paper.note(f"{event.stage} {event.state}: {event.message}")
        elif (event.stage, event.state) == ("llm", "ready") and (before is None or before.state != "ready"):
            self.paper.note(f"ready: {event.message}")
            if self._after == math.inf:
                self.paper.ask()

    def _close(self) -> None:
        """The turn may be over, or its reply there to be read, so that it is the person's turn."""
        turn = self.turn
        read = turn.reply is not None
        over = turn.phase == "done" or (read and (turn.shown_only or not self._speaks))
        if over and turn.number > self._over:
            self._over = turn.number
            if turn.source == "typed" and not turn.reply_text.strip() and not turn.interrupted:
                self.status = 1
        if over or (read and self._typed):
            if turn.number > self._after:
                self._after = math.inf
            if self._after == math.inf:
                self.paper.ask()


def chat(settings: Settings, why: str = "", resumed: tuple[int, tuple[Exchange, ...]] | None = None) -> int:
    """Converses over standard input and output until the input ends. ``why``: said first; ``resumed``: the session that
    goes on. Returns the exit status: 0 where every line was answered."""
    typed = sys.stdin is not None and sys.stdin.isatty()
    paper = Paper(sys.stdout, typed and sys.stdout.isatty())
    speaks = typed or heard_here(settings)
    if not typed:
        settings = replace(settings, llm=replace(settings.llm, baseline=False))
    pipeline = make_pipeline(settings, only=STAGES if typed else {"llm", *(("tts", "player") if speaks else ())})
    inbox: Inbox = queue.SimpleQueue()
    keeper = Keeper(kept_file(), lambda: pipeline.state, pipeline.publish, settings.sessions.private)
    pipeline.subscribe(inbox.put)
    pipeline.subscribe(keeper)
    talk = Chat(pipeline, paper, typed, speaks, RealClock())
    paper.say(f"{why + ', so this' if why else 'This'} is a conversation in lines. /help tells what there is.")
    if resumed:
        pipeline.resume(*resumed)
    pipeline.start()
    try:
        with _stopping(inbox):
            threading.Thread(target=_read, args=(inbox, pipeline), name="lines", daemon=True).start()
            while not talk.leaving:
                talk.take(inbox.get())
    finally:
        paper.close()
        pipeline.stop()
        if not keeper.close():
            paper.note("the disk is slow: the end of the conversation is not kept.")
    return talk.status


def _read(inbox: Inbox, pipeline: Pipeline) -> None:
    """In a thread: every line that is typed, until there is no more."""
    try:
        for line in lines(sys.stdin.fileno() if sys.stdin else -1, None):
            inbox.put(Said(line))
    except (PredtuiError, OSError, ValueError) as error:
        pipeline.publish(ev.Notice(text=f"nothing more can be read: {error}", severity="error"))
    inbox.put(Said(None))


@contextmanager
def _stopping(inbox: Inbox) -> Iterator[None]:
    """Meanwhile Ctrl+C is one more thing that comes."""
    before = signal.signal(signal.SIGINT, lambda *_: inbox.put(Stop()))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
