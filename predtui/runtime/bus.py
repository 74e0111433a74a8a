"""The stages of the app, wired: an event bus with one dispatcher, turn counters, supervision and the user's commands.

Every event passes ``_dispatch`` on one thread: it is admitted and stamped (admission.py), remembered for restarts
(recovery.py), delivered to each stage that takes its type, folded into the Turn (turn.py), and shown to the listeners.
Must not know the screen, nor what any stage does inside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from predtui.clock import Clock, RealClock
from predtui.runtime.backlog import Backlog
from predtui.runtime.dispatcher import Dispatcher, guarded
from predtui.runtime.gate import admit
from predtui.runtime.hosts.base import Host, HostFactory
from predtui.runtime.hosts.process import process_host
from predtui.runtime.journal import Journal
from predtui.runtime.monitor import Monitor
from predtui.runtime.rhythm import Rhythm
from predtui.runtime.supervisor import Supervisor, falls_back, given_up
from predtui.runtime.typing import Typed, paused, read, same
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from predtui.state.turn import Turn, reduce
from predtui.text import printable

STAGES = ("mic", "asr", "llm", "tts", "player")
"""The names by which the pipeline knows the stages; any may be missing."""
RECOGNISER_PATIENCE_S = 10.0
"""How long the last words of an utterance are waited for."""
IDLE_S = 2.0
"""After a reply, without a key or a word, before the baseline is measured: it takes as long as plain decoding does."""
_SOON_S = 0.3
"""Until a stage that is to be renewed is looked at again."""

Listener = Callable[[ev.Event], None]


class Pipeline:
    """Runs turns. Commands return at once and may come from any thread; listeners are called on the dispatcher's."""

    def __init__(
        self,
        specs: Sequence[StageSpec],
        clock: Clock | None = None,
        log_path: Path | None = None,
        make_host: HostFactory | None = None,
        *,
        measure_baseline: bool = True,
        hands_free: bool = False,
        pause_s: float = 0.0,
        monitored: bool = True,
        background: bool = True,
        idle_s: float = IDLE_S,
    ) -> None:
        """``make_host`` defaults to a process a stage. Without ``background`` there is no thread: call ``pump``.
        ``pause_s``: after so long without a change, or longer where keys come slowly, the input is speculated on as if
        it ended there; 0: never. ``idle_s``: after so long without input the baseline is measured."""
        self._clock: Clock = clock or RealClock()
        self._log_path = log_path
        self._make_host = make_host or process_host(self._clock, log_path)
        self._measure_baseline = measure_baseline
        self._hands_free = hands_free
        self._pause_s, self._rhythm = pause_s, Rhythm(pause_s)
        self._background = background
        self._idle_s, self._idle_from = idle_s, 0.0
        self._dispatcher = Dispatcher(self._clock)
        self._listeners: list[Listener] = []
        self._memory = Journal()
        self._supervisor = Supervisor(self._clock)
        self._down: set[str] = set()
        self._backlog = Backlog()
        self._edited = ""
        """The text of the line being edited."""
        self._previous: dict[str, StageSpec] = {}
        self._measured = 0
        self._state = Turn()
        self._hosts: dict[str, Host] = {spec.name: self._make(spec) for spec in specs}
        self._monitor = Monitor(self.publish, self.pids) if monitored and background else None

    # --- what the screen and the command line call ----------------------------------------------------------------

    @property
    def state(self) -> Turn:
        """After the last event the listeners were told."""
        return self._state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event from now on; the returned function ends that."""
        self._listeners = [*self._listeners, listener]
        return lambda: self._unsubscribe(listener)

    def start(self) -> None:
        """Returns at once; StageStatus events tell as stages come up."""
        for name in STAGES:
            if name not in self._hosts:
                self._dispatcher.post(partial(self._tell, name, "stopped", "not part of this run"))
        for host in self._hosts.values():
            host.start()
        if self._background:
            self._dispatcher.start()
        if self._monitor:
            self._monitor.start()

    def stop(self) -> None:
        """Ends every stage, by force after a second or two. Harmless twice."""
        if self._monitor:
            self._monitor.stop()
        self._dispatcher.stop()
        stopping = [threading.Thread(target=host.stop, daemon=True) for host in self._hosts.values()]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join()

    def publish(self, event: ev.Event) -> None:
        """Put an event on the bus: a notice, usage, or a replayed event."""
        self._dispatcher.post(partial(self._dispatch, event))

    def type_line(self, typed: Typed) -> None:
        """The input line as it stands after a key, at ``typed.time``, or now. The first text opens a turn, silencing a
        reply that is being heard; behind a reply that is still awaited, the line waits."""
        typed = replace(typed, text=printable(typed.text), time=typed.time or self._clock.now())
        self._dispatcher.post(partial(self._type, typed))

    def talk(self, on: bool) -> None:
        """Open the microphone for a new turn, silencing a reply; or end what is being said."""
        self._dispatcher.post(partial(self._talk, on, self._clock.now()))

    def listen_file(self, path: Path | str) -> None:
        """A new turn out of a sound file, played in real time."""
        self._dispatcher.post(partial(self._listen, "file", str(path), self._clock.now()))

    def silence(self) -> None:
        """Stop listening, and whatever is being said or prepared as a reply. Typed text stays open."""
        self._dispatcher.post(partial(self._silence, self._clock.now()))

    def configure(self, verifier: str = "") -> None:
        self._dispatcher.post(lambda: self._publish(ev.Configure(verifier=verifier)))

    def replace_stage(self, name: str, options: Any) -> None:
        """Run stage ``name`` with other options; where it cannot open with them, the former ones come back."""
        self._dispatcher.post(partial(self._replace_stage, name, options))

    def renew_stage(self, name: str) -> None:
        """Run stage ``name`` anew with the options it has, as soon as no turn is under way."""
        self._dispatcher.post(partial(self._renew_stage, name))

    def describe_stage(self, name: str, message: str) -> None:
        """What is said of stage ``name`` while it is ready."""
        self._dispatcher.post(partial(self._describe_stage, name, message))

    def pump(self) -> None:
        """Dispatch all that waits or is due, on this thread. Only without ``background``."""
        self._dispatcher.pump()

    # --- the bus ----------------------------------------------------------------------------------------------------

    def _dispatch(self, event: ev.Event, origin: str = "") -> None:
        admitted = admit(self._state, event)
        if admitted is not None:
            self._enter(admitted, origin)

    def _publish(self, event: ev.Event, time: float | None = None, bump: int = 0) -> None:
        """An event of the pipeline's own, stamped with the current turn; ``bump`` makes the work before it stale."""
        now = self._clock.now() if time is None else time
        self._enter(replace(event, turn=self._state.number, revision=self._state.revision + bump, time=now))

    def _enter(self, admitted: ev.Event, origin: str = "") -> None:
        fitted = self._memory.fit(admitted)
        if fitted is None:
            return
        event = fitted if fitted.time else replace(fitted, time=self._clock.now())
        self._deliver(event, origin)
        self._state = reduce(self._state, event)
        for listener in self._listeners:
            guarded(partial(listener, event))
        self._react(event)

    def _deliver(self, event: ev.Event, origin: str) -> None:
        for name, host in self._hosts.items():
            if name != origin and name not in self._down and host.accepts(event):
                host.send(event)

    def _unsubscribe(self, listener: Listener) -> None:
        self._listeners = [other for other in self._listeners if other is not listener]

    # --- turns ------------------------------------------------------------------------------------------------------

    def _type(self, typed: Typed) -> None:
        state, edited = self._state, typed.final or typed.text != self._edited
        self._edited = "" if typed.final else typed.text
        if not edited and state.phase != "typing":
            return
        awaited = state.phase in ("recognising", "replying") and not state.audible
        if not awaited and not self._backlog:
            self._take(typed)
            return
        self._backlog.put(typed)
        self._tell_waiting()
        if state.audible and typed.text.strip():
            self._silence(typed.time)

    def _take(self, typed: Typed) -> None:
        """Let the line be the turn's input."""
        if self._state.phase != "typing":
            if not typed.text.strip():
                return
            self._open_turn("typed", typed.time)
        event = read(typed)
        if not same(event, self._state.transcript):
            self._dispatch(replace(event, turn=self._state.number))

    def _next_line(self) -> None:
        """What waits is answered in order; a line that is still being edited goes on as the next turn."""
        while self._backlog and not self._state.busy:
            typed = self._backlog.take()
            self._tell_waiting()
            self._take(replace(typed, time=self._clock.now()))

    def _tell_waiting(self) -> None:
        if self._backlog.texts != self._state.waiting:
            self._publish(ev.LinesWaiting(texts=self._backlog.texts))

    def _talk(self, on: bool, time: float) -> None:
        if on and self._state.phase != "listening":
            self._listen("voice", "", time)
        elif not on and self._state.phase == "listening":
            self._publish(ev.Endpoint(reason="key"), time, bump=1)

    def _listen(self, source: Literal["voice", "file"], path: str, time: float) -> None:
        missing = [name for name in ("mic", "asr") if not self._usable(name)]
        if missing:
            self._notice(f"Cannot listen: {' and '.join(missing)} not available. Type instead.", "warning")
            return
        if source == "voice" and (mic := self._state.stages.get("mic")) and mic.lacks:
            self._notice(f"Cannot listen: {mic.message} Then try again, or type.", "error")
            self._publish(ev.LookForDevice())
            return
        self._open_turn(source, time)
        self._publish(ev.Listen(path=path, hands_free=self._hands_free and not path), time)

    def _open_turn(self, source: Literal["typed", "voice", "file"], time: float) -> None:
        state = self._state
        if state.busy:
            if state.transcript.final and not state.sentences:
                self._notice(f"Not answered, since you spoke: {state.prompt}", "warning")
            self._publish(ev.Interrupt(reason=f"new {source} turn"), time, bump=1)
        history, number = self._state.history, self._state.number + 1
        self._enter(ev.TurnStarted(turn=number, time=time, source=source, history=history))

    def _silence(self, time: float) -> None:
        if self._state.phase in ("listening", "recognising", "replying"):
            self._publish(ev.Interrupt(reason="silenced"), time, bump=1)

    # --- reactions --------------------------------------------------------------------------------------------------

    def _react(self, event: ev.Event) -> None:
        match event:
            case ev.StageStatus():
                self._supervise(event)
            case ev.Endpoint():
                self._dispatcher.after(
                    RECOGNISER_PATIENCE_S, partial(self._give_up_listening, event.turn, "gave no answer")
                )
            case ev.Transcript(final=True):
                self._input_ended(event)
            case ev.Transcript(unfinished=True) if self._pause_s:
                typed = self._state.source == "typed"
                pause = self._rhythm.pause(event.time) if typed else self._pause_s
                self._dispatcher.after(pause, partial(self._anticipate, event))
            case ev.ReplyFinished(prompt=prompt, text=text):
                if prompt and not text.strip():
                    self._notice("The model has nothing to say to that. Put it in other words.", "warning")
                self._measure_later()
            case ev.Playback(state="finished"):
                self._measure_later()
        if self._backlog and not self._state.busy:
            self._dispatcher.post(self._next_line)

    def _anticipate(self, heard: ev.Transcript) -> None:
        """Nothing has come since: it may be all that will."""
        if self._state.transcript is heard and (whole := paused(heard)) is not None:
            self._dispatch(whole)

    def _input_ended(self, event: ev.Transcript) -> None:
        if not event.text and self._state.source != "typed":
            self._notice("Heard nothing.", "information")
        elif event.text and not (self._usable("llm") or self._supervisor.runs("llm")):
            self._notice("No reply: the language model is not available. See its status, or choose another.", "error")
            self._end_reply()

    def _end_reply(self) -> None:
        """No more of the reply will come."""
        if self._state.phase == "replying" and self._state.reply is None:
            self._publish(ev.ReplyFinished(text=self._state.reply_text, reason="interrupted"))

    def _give_up_listening(self, turn: int, why: str) -> None:
        """The recogniser will not say more: what it has said so far is the prompt."""
        state = self._state
        if state.number != turn or state.phase not in ("listening", "recognising"):
            return
        if state.phase == "listening":
            self._publish(ev.Endpoint(), bump=1)
        self._notice(f"The recogniser {why}; the words so far are taken.", "warning")
        self._publish(ev.Transcript(stable=state.transcript.text, unfinished=False, final=True), bump=1)

    def _measure_later(self) -> None:
        """Measure once nothing more has happened for a while."""
        self._idle_from = self._clock.now() + self._idle_s
        self._dispatcher.after(self._idle_s, self._measure)

    def _measure(self) -> None:
        """Ask for the baseline of the current turn, once, when nothing of it is under way."""
        if self._clock.now() < self._idle_from:
            return
        turn = self._state
        reply = turn.reply
        ended = turn.phase == "done" and not turn.interrupted and self._measured != turn.number
        if self._measure_baseline and ended and reply and reply.text:
            self._measured = turn.number
            self._publish(ev.MeasureBaseline(prompt=reply.prompt, reply=reply.text, history=turn.request))

    def _notice(self, text: str, severity: Literal["information", "warning", "error"]) -> None:
        self._publish(ev.Notice(text=text, severity=severity))

    # --- stages -----------------------------------------------------------------------------------------------------

    def _make(self, spec: StageSpec) -> Host:
        def emit(event: ev.Event) -> None:
            self._dispatcher.post(
                lambda: self._dispatch(event, spec.name) if self._hosts.get(spec.name) is host else None
            )

        host = self._make_host(spec, emit)
        return host

    def _usable(self, name: str) -> bool:
        status = self._state.stages.get(name)
        return name in self._hosts and (status is None or status.state != "failed")

    def pids(self) -> dict[str, int | None]:
        """The process of each stage; None while it has none."""
        return {name: host.pid for name, host in self._hosts.items()}

    def _tell(self, stage: str, state: ev.StageState, message: str) -> None:
        self._publish(ev.StageStatus(stage=stage, state=state, message=message))

    def _supervise(self, status: ev.StageStatus) -> None:
        name = status.stage
        if name not in self._hosts:
            return
        if status.state == "restarting":
            self._stage_died(status)
        elif status.state == "ready":
            self._supervisor.ready(name)
            self._previous.pop(name, None)
            if name in self._down:
                self._down.discard(name)
                for event in self._memory.resend(name):
                    self._hosts[name].send(event)
        elif status.state == "failed":
            self._stage_failed(name, status.message)

    def _stage_died(self, status: ev.StageStatus) -> None:
        name, host = status.stage, self._hosts[status.stage]
        self._down.add(name)
        restart = self._supervisor.died(name, status.signal)
        if restart is None:
            self._tell(name, "failed", given_up(host.spec, status, self._log_path))
            return
        spec = host.spec.safest() if restart.safest else host.spec
        if spec != host.spec:
            self._hosts[name] = host = self._make(spec)
            self._notice(falls_back(spec, status.message), "warning")
        self._dispatcher.after(restart.delay, partial(self._restart, name, host))

    def _restart(self, name: str, host: Host) -> None:
        """Unless another has taken its place, or it was given up meanwhile."""
        if self._hosts[name] is host and self._usable(name):
            host.restart()

    def _stage_failed(self, name: str, why: str) -> None:
        if name == "asr":
            self._give_up_listening(self._state.number, "has failed")
        if name in ("tts", "player"):
            self._measure_later()
        if name in self._previous:
            spec = self._previous.pop(name)
            self._notice(f"{why} The former choice for {name} comes back.", "warning")
            self._swap(name, spec)
        elif name == "llm":
            self._end_reply()

    def _replace_stage(self, name: str, options: Any) -> None:
        if name not in self._hosts:
            self._notice(f"There is no stage {name} to replace.", "warning")
            return
        old = self._hosts[name].spec
        if self._usable(name):
            self._previous[name] = old
        self._swap(name, replace(old, options=options))

    def _renew_stage(self, name: str) -> None:
        if self._state.busy:
            self._dispatcher.after(_SOON_S, partial(self._renew_stage, name))
        elif name in self._hosts and self._usable(name):
            self._swap(name, self._hosts[name].spec)

    def _describe_stage(self, name: str, message: str) -> None:
        status = self._state.stages.get(name)
        if status and status.state == "ready" and status.message != message and name not in self._down:
            self._tell(name, "ready", message)

    def _swap(self, name: str, spec: StageSpec) -> None:
        old = self._hosts[name]
        threading.Thread(target=old.stop, name=f"retire-{name}", daemon=True).start()
        self._supervisor.forget(name)
        self._down.add(name)
        self._hosts[name] = self._make(spec)
        self._hosts[name].start()
