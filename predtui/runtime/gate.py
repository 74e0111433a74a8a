"""The turn gate: what a person types or says opens a turn, becomes its input, ends it, or waits for its reply.

Must not know the screen, nor what any stage does inside.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from typing import Literal

from predtui.runtime.bus import Bus
from predtui.runtime.manner import Manner
from predtui.runtime.stages import Stages
from predtui.runtime.typing import Rhythm, Typed, paused, read, same
from predtui.state import events as ev
from predtui.state.exchange import Exchange

PREROLL_S = 0.4
"""What a microphone remembers of the time before it is asked to listen is not older."""


class Backlog:
    """Typed lines that wait until the reply before them has been heard, in order of typing. Of the line that is still
    being edited only its last state is kept."""

    def __init__(self) -> None:
        self._lines: deque[Typed] = deque()

    def __bool__(self) -> bool:
        return bool(self._lines)

    def put(self, typed: Typed) -> None:
        """The state after a key, or the end, of the newest line."""
        if self._lines and not self._lines[-1].final:
            self._lines.pop()
        self._lines.append(typed)

    def take(self) -> Typed:
        """The oldest line. Raises IndexError where nothing waits."""
        return self._lines.popleft()

    @property
    def texts(self) -> tuple[str, ...]:
        """Of the lines that wait to be answered."""
        return tuple(line.text.strip() for line in self._lines if line.final)


class TurnGate:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus, stages: Stages, manner: Manner) -> None:
        self._bus, self._stages = bus, stages
        self.conduct(manner)
        self._backlog = Backlog()
        self._edited = ""
        """The text of the line being edited."""

    def conduct(self, manner: Manner) -> None:
        """From now on."""
        self._hands_free = manner.hands_free
        self._pause_s, self._rhythm = manner.pause_s, Rhythm(manner.pause_s)

    def type(self, typed: Typed) -> None:
        """The line as it stands after a key. The first text opens a turn, silencing a reply that is being heard; behind
        a reply that is still awaited, the line waits."""
        state, edited = self._bus.state, typed.final or typed.text != self._edited
        self._edited = "" if typed.final else typed.text
        if not edited and state.phase != "typing":
            return
        awaited = state.phase in ("recognising", "replying") and not state.audible
        if not awaited and not self._backlog:
            self._take(typed)
            return
        self._backlog.put(typed)
        self._publish_waiting()
        if state.audible and typed.text.strip():
            self.silence(typed.time)

    def talk(self, on: bool, time: float) -> None:
        """The key to talk was pressed, or let go."""
        if on and self._bus.state.phase != "listening":
            self.listen("voice", "", time)
        elif not on and self._bus.state.phase == "listening":
            self._bus.publish(ev.Endpoint(reason="key"), time, bump=1)

    def listen(
        self,
        source: Literal["voice", "file"],
        path: str,
        time: float,
        hands_free: bool = False,
        overheard: bool = False,
    ) -> None:
        """Open a spoken turn, where there is what hears it. ``hands_free``: silence ends it also in a file.
        ``overheard``: it begins with what was said over the reply before."""
        missing = [name for name in ("mic", "asr") if not self._stages.answers(name)]
        if missing:
            self._bus.notify(
                f"Cannot listen: {' and '.join(missing)} not available. Try again what has failed, or type.", "warning"
            )
            return
        if source == "voice" and (mic := self._bus.state.stages.get("mic")) and mic.lacks:
            self._bus.notify(f"Cannot listen: {mic.message} Then try again, or type.", "error")
            self._bus.publish(ev.LookForDevice())
            return
        anew = source == "voice" and self._sounds(time)
        self._open_turn(source, time)
        by_silence = hands_free or (self._hands_free and not path)
        self._bus.publish(ev.Listen(path=path, hands_free=by_silence, anew=anew, overheard=overheard), time)

    def talk_over(self, time: float) -> None:
        """Open a turn that begins with what was said over the reply before, if anything."""
        self.listen("voice", "", time, overheard=True)

    def _sounds(self, time: float) -> bool:
        """Whether a reply is being heard, or was a moment ago: what is in the microphone's memory is its sound."""
        state = self._bus.state
        return state.audible or (state.marks.audible is not None and time - state.sounding.time < PREROLL_S)

    def silence(self, time: float) -> None:
        """End listening, and the reply. Typed text stays open."""
        if self._bus.state.phase in ("listening", "recognising", "replying"):
            self._bus.publish(ev.Interrupt(reason="silenced"), time, bump=1)

    def resume(self, session: int, exchanges: tuple[Exchange, ...], time: float) -> None:
        """Another conversation, in which nobody is asked anything yet: what was under way is over, and what waited was
        meant for the one before."""
        state = self._bus.state
        if state.busy:
            self._bus.publish(ev.Interrupt(reason="another conversation"), time, bump=1)
        self._backlog = Backlog()
        self._publish_waiting()
        self._bus.enter(ev.Resumed(turn=state.number + 1, time=time, session=session, exchanges=exchanges))
        turns = f"{len(exchanges)} turn{'s' * (len(exchanges) != 1)}"
        self._bus.notify(
            f"Session {session} goes on after {turns}." if session else "A new conversation.", "information"
        )

    def react(self, event: ev.Event) -> None:
        after = self._bus.dispatcher.after
        match event:
            case ev.Transcript(final=True):
                self._input_ended(event)
            case ev.Transcript(unfinished=True) if self._pause_s:
                typed = self._bus.state.source == "typed"
                pause = self._rhythm.pause(event.time) if typed else self._pause_s
                after(pause, partial(self._anticipate, event))
            case ev.ReplyFinished(prompt=prompt, text=text) if prompt and not text.strip():
                if not event.tokens or event.thought.tokens < event.tokens:  # else the stage has said why
                    self._bus.notify("The model has nothing to say to that. Put it in other words.", "warning")
            case ev.Playback(state="finished") if self._hands_free and self._bus.state.source == "voice":
                after(PREROLL_S, partial(self._listen_again, self._bus.state.number))
            case ev.StageStatus(stage="llm", state="failed") if not self._stages.returns("llm"):
                self._end_reply()
        if self._backlog and not self._bus.state.busy:
            self._bus.dispatcher.post(self._next_line)

    def _take(self, typed: Typed) -> None:
        """Let the line be the turn's input. What is typed for show has a turn of its own."""
        state = self._bus.state
        if state.phase != "typing" or (typed.text.strip() and typed.aside != state.aside):
            if not typed.text.strip():
                return
            self._open_turn("typed", typed.time, typed.aside)
        event = read(typed)
        if not same(event, self._bus.state.transcript):
            self._bus.dispatch(replace(event, turn=self._bus.state.number))

    def _next_line(self) -> None:
        """What waits is answered in order; a line that is still being edited goes on as the next turn."""
        while self._backlog and not self._bus.state.busy:
            typed = self._backlog.take()
            self._publish_waiting()
            self._take(replace(typed, time=self._bus.clock.now()))

    def _publish_waiting(self) -> None:
        if self._backlog.texts != self._bus.state.waiting:
            self._bus.publish(ev.LinesWaiting(texts=self._backlog.texts))

    def _open_turn(self, source: Literal["typed", "voice", "file"], time: float, aside: bool = False) -> None:
        state = self._bus.state
        if state.busy:
            if state.transcript.final and not state.sentences:
                self._bus.notify(f"Not answered, since you spoke: {state.prompt}", "warning")
            self._bus.publish(ev.Interrupt(reason=f"new {source} turn"), time, bump=1)
        history, number = self._bus.state.history, self._bus.state.number + 1
        self._bus.enter(ev.TurnStarted(turn=number, time=time, source=source, history=history, aside=aside))

    def _anticipate(self, heard: ev.Transcript) -> None:
        """Nothing has come since: it may be all that will."""
        if self._bus.state.transcript is heard and (whole := paused(heard)) is not None:
            self._bus.dispatch(whole)

    def _input_ended(self, event: ev.Transcript) -> None:
        if not event.text and self._bus.state.source != "typed":
            self._bus.notify("Heard nothing.", "information")
        elif event.text and not self._stages.answers("llm"):
            why = "No reply: the language model is not available. Try it again, or choose another."
            self._bus.notify(why, "error")
            self._end_reply()

    def _listen_again(self, turn: int) -> None:
        """A hands-free conversation goes on, unless something else has begun."""
        state = self._bus.state
        if state.number == turn and state.phase == "done" and not state.interrupted and not self._backlog:
            self.talk_over(self._bus.clock.now())

    def _end_reply(self) -> None:
        """No more of the reply will come."""
        state = self._bus.state
        if state.phase == "replying" and state.reply is None:
            self._bus.publish(ev.ReplyFinished(text=state.reply_text, reason="interrupted"))
