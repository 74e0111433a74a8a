"""The bus: every event passes it on one thread. It is admitted and stamped, kept for restarts (journal.py), delivered
to the stages and folded into the Turn; the listeners are notified, and it is reacted to.

A turn's revision grows with every event that overtakes the work before it: a transcript that changes the prompt, the
end of the input, an interruption. Must not know the screen, nor any stage.
"""

from __future__ import annotations

import heapq
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from predtui.clock import Clock
from predtui.runtime.journal import Journal
from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

Job = Callable[[], None]
Listener = Callable[[ev.Event], None]
Deliver = Callable[[ev.Event, str], None]
"""(event, the stage that it comes from, or "")."""
_ALWAYS = (ev.StageStatus, ev.Work, ev.Usage, ev.Notice)
_INPUT = (ev.AudioFrame, ev.SoundLevel, ev.SpeechActivity)
_GUESSES = (ev.EndOfTurn, ev.Candidate, ev.Decoding, ev.Continuation, ev.Verdict, ev.SentenceAhead, ev.SpeechReady)
_log = logging.getLogger("predtui.runtime.bus")


class Dispatcher:
    """Runs jobs and timers on one thread, in order: ``post`` from any thread, ``after`` from a job. A job that raises
    is logged, and the next one runs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Job]] = []
        self._count = 0
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def post(self, job: Job) -> None:
        self._jobs.put(job)

    def after(self, seconds: float, job: Job) -> None:
        self._count += 1
        heapq.heappush(self._timers, (self._clock.now() + seconds, self._count, job))

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the jobs posted before have run. Harmless twice, and where it never started."""
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def pump(self) -> None:
        """Without a thread: run here all that waits or is due."""
        while not self._jobs.empty() or self._due():
            self._run_due()
            if not self._jobs.empty():
                guarded(self._jobs.get() or _nothing)

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._wait())
            except queue.Empty:
                job = _nothing
            if job is None:
                return
            guarded(job)
            self._run_due()

    def _wait(self) -> float | None:
        return max(0.0, self._timers[0][0] - self._clock.now()) if self._timers else None

    def _due(self) -> bool:
        return bool(self._timers) and self._timers[0][0] <= self._clock.now()

    def _run_due(self) -> None:
        while self._due():
            guarded(heapq.heappop(self._timers)[2])


def guarded(job: Job) -> None:
    """Run ``job``; what it raises goes to the log."""
    try:
        job()
    except Exception:
        _log.exception("a job failed")


def _nothing() -> None:
    """The job of a dispatcher that wakes for a timer."""


class Bus:
    """All but ``subscribe`` and ``state`` is for the dispatcher's thread alone."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.dispatcher = Dispatcher(clock)
        self.journal = Journal()
        self._state = Turn()
        self._listeners: list[Listener] = []
        self._deliver: Deliver = lambda event, origin: None
        self._reactions: tuple[Listener, ...] = ()

    def connect(self, deliver: Deliver, *reactions: Listener) -> None:
        """``deliver`` takes each event to the stages; ``reactions`` follow it in order, once all have been notified."""
        self._deliver, self._reactions = deliver, reactions

    @property
    def state(self) -> Turn:
        """After the last event that the listeners were notified of."""
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event from now on; the returned function ends that."""
        self._listeners = [*self._listeners, listener]
        return lambda: self._unsubscribe(listener)

    def dispatch(self, event: ev.Event, origin: str = "") -> None:
        """An event of a stage, or from outside: it enters where it is admitted."""
        admitted = admit(self._state, event)
        if admitted is not None:
            self.enter(admitted, origin)

    def publish(self, event: ev.Event, time: float | None = None, bump: int = 0) -> None:
        """An event of the runtime's own, stamped with the current turn; ``bump`` makes the work before it stale."""
        now = self.clock.now() if time is None else time
        self.enter(replace(event, turn=self._state.number, revision=self._state.revision + bump, time=now))

    def notify(self, text: str, severity: Literal["information", "warning", "error"]) -> None:
        """A line for the person."""
        self.publish(ev.Notice(text=text, severity=severity))

    def enter(self, admitted: ev.Event, origin: str = "") -> None:
        """An event that is stamped as it should be."""
        fitted = self.journal.enter(admitted)
        if fitted is None:
            return
        event = fitted if fitted.time else replace(fitted, time=self.clock.now())
        self._deliver(event, origin)
        self._state = reduce(self._state, event)
        for listener in self._listeners:
            guarded(partial(listener, event))
        for react in self._reactions:
            react(event)

    def _unsubscribe(self, listener: Listener) -> None:
        self._listeners = [other for other in self._listeners if other is not listener]


def admit(turn: Turn, event: ev.Event) -> ev.Event | None:
    """``event`` as it enters ``turn``, or None for what comes too late or out of place."""
    if isinstance(event, _ALWAYS):
        return event if event.turn else _stamped(event, turn.revision, turn)
    if event.turn != turn.number:
        return None
    if isinstance(event, ev.Transcript):
        return _transcript(turn, event)
    if isinstance(event, ev.Endpoint):
        return _stamped(event, turn.revision + 1, turn) if turn.phase == "listening" else None
    if isinstance(event, ev.Interrupt):
        return _stamped(event, turn.revision + 1, turn) if turn.busy else None
    if isinstance(event, _INPUT):
        return event if turn.phase == "listening" else None
    return event if _belongs(turn, event) else None


def _transcript(turn: Turn, event: ev.Transcript) -> ev.Event | None:
    """Spoken words that were stable stay so, also when a recogniser hears the utterance again after a restart."""
    if turn.phase not in ("typing", "listening", "recognising"):
        return None
    if turn.source != "typed" and not event.final and not event.stable.startswith(turn.transcript.stable):
        return None
    return _stamped(event, turn.revision + event.changes(turn.transcript), turn)


def _belongs(turn: Turn, event: ev.Event) -> bool:
    """Whether a stage's product fits the state of the turn: guesses until the reply is over, commits once and in
    order and for the final prompt only, sound of committed sentences only."""
    if isinstance(event, _GUESSES):
        return turn.phase != "done"
    if isinstance(event, ev.ReplyCommitted):
        return _final(turn, event) and event.index == len(turn.sentences)
    if isinstance(event, ev.ReplyFinished):
        return _final(turn, event) and turn.reply is None
    if isinstance(event, ev.SpeechChunk):
        return turn.phase == "replying" and event.index < len(turn.sentences)
    if isinstance(event, ev.SpeechEnd):
        return turn.phase == "replying"
    return True


def _final(turn: Turn, event: ev.Event) -> bool:
    return turn.phase == "replying" and turn.transcript.final and event.revision >= turn.transcript.revision


def _stamped(event: ev.Event, revision: int, turn: Turn) -> ev.Event:
    return replace(event, turn=turn.number, revision=revision)
