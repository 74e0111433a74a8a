"""Everything the screen may draw: one immutable ``Turn``, and the pure reducer that folds events into it.

Reads no clock and does no input or output, so folding a recording gives what was seen live. Must not know any stage or
widget. Times are seconds of the run's clock, durations and latencies milliseconds; None stands for "not (yet) known".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from predtui.state import events as ev

Phase = Literal["idle", "typing", "listening", "recognising", "replying", "done"]
"""idle: nothing yet; recognising: the user has finished, the final words are awaited; done: nothing more will come."""

MAX_VERDICTS = 50
MAX_CONTINUATIONS = 50
MAX_NOTICES = 50
MAX_SPANS = 400


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user asked and what was committed as the reply. ``interrupted``: the reply was silenced on its way."""

    user: str
    assistant: str
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A bar of the timeline, in seconds of the clock."""

    start: float
    end: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """Clock times of the current turn's milestones, for latencies."""

    endpoint: float | None = None
    """The user stopped talking (voice and file turns only)."""
    final: float | None = None
    """The final prompt arrived."""
    committed: float | None = None
    """The first sentence was verified and committed."""
    chunk: float | None = None
    """The first released sound left the synthesiser."""
    audible: float | None = None
    """Playback began."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The current turn, the conversation before it and the state of the machine."""

    number: int = 0
    revision: int = 0
    phase: Phase = "idle"
    source: Literal["typed", "voice", "file"] = "typed"
    started: float = 0.0
    past: tuple[Exchange, ...] = ()
    """Closed exchanges; ``conversation`` adds the current one."""
    request: tuple[ev.Message, ...] = ()
    """The history the current turn started from."""

    transcript: ev.Transcript = field(default_factory=ev.Transcript)
    speech_active: bool = False
    candidate: ev.Candidate = field(default_factory=ev.Candidate)
    continuations: tuple[ev.Continuation, ...] = ()
    """What was answered in this turn before it was said, at most the last 50."""
    decoding: ev.Decoding | None = None
    """How the decoder's drafts fare; None where it drafts nothing."""
    verdicts: tuple[ev.Verdict, ...] = ()
    """Of this turn, oldest first, at most the last 50."""
    ahead: ev.SpeechReady = field(default_factory=ev.SpeechReady)
    """How much of the unreleased first sentence is synthesised."""
    synthesis: ev.Synthesis | None = None
    """How the synthesiser fares; None before its first sentence."""

    sentences: tuple[str, ...] = ()
    """Committed sentences of the reply."""
    reply: ev.ReplyFinished | None = None
    interrupted: bool = False
    spoken: int = -1
    """Index of the sentence being played or played last; -1 before any."""
    playback: Literal["idle", "started", "playing", "finished", "stopped"] = "idle"
    played_s: float = 0.0

    marks: Marks = Marks()
    baseline: ev.Baseline | None = None
    baseline_speech_ms: float | None = None
    baseline_recognition: ev.BaselineRecognition | None = None
    verifier: str = ""
    """The verifier last configured; empty while the stage's own default stands."""

    lanes: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """Timeline bars by stage name, "target" and "draft" for what a decoder that drafts consists of, and "audio" for
    what was heard; at most the last 400 of each."""
    stages: Mapping[str, ev.StageStatus] = field(default_factory=dict)
    usage: ev.Usage = field(default_factory=ev.Usage)
    notices: tuple[ev.Notice, ...] = ()
    waiting: tuple[str, ...] = ()
    """Typed lines that wait to be answered."""

    @property
    def prompt(self) -> str:
        """What is (or will be) answered."""
        return self.reply.prompt if self.reply and self.reply.prompt else self.transcript.prompt

    @property
    def reply_text(self) -> str:
        """The committed reply so far."""
        return self.reply.text if self.reply and not self.interrupted else join(self.sentences)

    @property
    def conversation(self) -> tuple[Exchange, ...]:
        """All exchanges, the current one included once its input has ended."""
        current = self._exchange()
        return (*self.past, current) if current else self.past

    @property
    def history(self) -> tuple[ev.Message, ...]:
        """The conversation as a chat template takes it: answered exchanges only."""
        return tuple(
            message
            for exchange in self.conversation
            if exchange.assistant
            for message in (ev.Message("user", exchange.user), ev.Message("assistant", exchange.assistant))
        )

    @property
    def busy(self) -> bool:
        """Whether the turn is still under way, so that a new one must interrupt it."""
        return self.phase not in ("idle", "done")

    @property
    def voiceless(self) -> bool:
        """Whether no reply can be heard, since synthesis or playback has failed or is not there."""
        return any(s.state in ("failed", "stopped") for s in map(self.stages.get, ("tts", "player")) if s)

    @property
    def audible(self) -> bool:
        return self.playback in ("started", "playing")

    @property
    def input_ended(self) -> float | None:
        """The time latencies count from: the endpoint of a spoken turn, the final prompt of a typed one."""
        return self.marks.endpoint if self.marks.endpoint is not None else self.marks.final

    @property
    def audio_latency_ms(self) -> float | None:
        """From the end of the input to the first sound."""
        return _ms(self.input_ended, self.marks.audible)

    @property
    def ttfs_ms(self) -> float | None:
        """From the final prompt to its verified first sentence."""
        if self.reply:
            return self.reply.ttfs_ms
        final = self._final_verdict()
        return final.ms if final else None

    @property
    def nfetfs(self) -> int | None:
        """Forwards of the target between the final prompt and its first sentence."""
        if self.reply:
            return self.reply.nfetfs
        final = self._final_verdict()
        return final.forwards if final else None

    @property
    def outcome(self) -> ev.Outcome | None:
        if self.reply:
            return self.reply.outcome
        final = self._final_verdict()
        return final.outcome if final else None

    @property
    def breakdown(self) -> dict[str, float]:
        """Where the audio latency went, in ms: recogniser, model, speech, playback. Only the parts measured."""
        m = self.marks
        parts = {
            "recogniser": _ms(m.endpoint, m.final),
            "model": _ms(m.final, m.committed),
            "speech": _ms(m.committed, m.chunk),
            "playback": _ms(m.chunk, m.audible),
        }
        return {name: value for name, value in parts.items() if value is not None}

    @property
    def baseline_audio_latency_ms(self) -> float | None:
        """What the audio latency would have been without speculation: the recogniser's last round, the plain first
        sentence and its synthesis, measured one after the other, with the playback hand-over this turn itself paid, and
        its wait for the last words where the recogniser has no such round."""
        parts, heard = self.breakdown, self.baseline_recognition
        if self.baseline is None or self.baseline_speech_ms is None or "playback" not in parts:
            return None
        measured = heard.ms if heard and heard.ms is not None else parts.get("recogniser", 0.0)
        return measured + self.baseline.ttfs_ms + self.baseline_speech_ms + parts["playback"]

    def measured(self, speaks: bool = True) -> bool:
        """Whether all is known of what the turn would have been without speculation; ``speaks``: by voice."""
        spoke = self.baseline_speech_ms is not None or self.voiceless or not speaks
        heard = self.baseline_recognition is not None or self.source == "typed"
        return self.baseline is not None and spoke and heard

    @property
    def lossless(self) -> bool | None:
        """Whether the reply was compared with plain decoding and found identical. False at once where a verifier does
        not claim it; None where nothing was compared."""
        if self.reply and not self.reply.lossless:
            return False
        return self.baseline.identical if self.baseline else None

    def _final_verdict(self) -> ev.Verdict | None:
        return next((verdict for verdict in reversed(self.verdicts) if verdict.final), None)

    def _exchange(self) -> Exchange | None:
        if not self.transcript.final or not self.prompt:
            return None
        return Exchange(self.prompt, self.reply_text.strip(), self.interrupted)


def join(sentences: tuple[str, ...]) -> str:
    """Sentences as one text, with a space only where neither side brings its own."""
    text = ""
    for sentence in sentences:
        gap = " " if text and sentence and not text[-1].isspace() and not sentence[0].isspace() else ""
        text += gap + sentence
    return text


def reduce(turn: Turn, event: ev.Event) -> Turn:
    """The turn after ``event``. Events of an older turn change nothing but stages, usage, notices and the timeline."""
    fold = _FOLDS.get(type(event))
    if fold is None:
        return turn
    if event.turn < turn.number and type(event) not in _TIMELESS:
        return turn
    turn = fold(turn, event)
    if event.turn == turn.number and event.revision > turn.revision:
        turn = replace(turn, revision=event.revision)
    return turn


def summary(turn: Turn) -> dict[str, Any]:
    """The figures of the current turn, ready for JSON."""
    return {
        "prompt": turn.prompt,
        "reply": turn.reply_text,
        "audio_latency_ms": turn.audio_latency_ms,
        "ttfs_ms": turn.ttfs_ms,
        "nfetfs": turn.nfetfs,
        "outcome": turn.outcome,
        "lossless": turn.lossless,
        "baseline_audio_latency_ms": turn.baseline_audio_latency_ms,
        "breakdown_ms": turn.breakdown,
        "decoding": _drafts(turn.decoding),
        "real_time_factor": turn.synthesis.real_time_factor if turn.synthesis else None,
        "verdicts": [
            {
                "revision": verdict.revision,
                "outcome": verdict.outcome,
                "accepted": verdict.accepted,
                "of": verdict.of,
                "forwards": verdict.forwards,
                "ms": verdict.ms,
                "verifier": verdict.verifier,
                "final": verdict.final,
            }
            for verdict in turn.verdicts
        ],
    }


def _drafts(decoding: ev.Decoding | None) -> dict[str, Any] | None:
    if decoding is None:
        return None
    return {
        "decoder": decoding.decoder,
        "acceptance_rate": decoding.acceptance_rate,
        "tokens_per_forward": decoding.tokens_per_forward,
        "note": decoding.note,
    }


def _ms(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else (end - start) * 1000.0


# --- one fold an event type -----------------------------------------------------------------------------------------


def _turn_started(turn: Turn, event: ev.TurnStarted) -> Turn:
    return Turn(
        number=event.turn,
        phase="typing" if event.source == "typed" else "listening",
        source=event.source,
        started=event.time,
        past=turn.conversation,
        request=event.history,
        verifier=turn.verifier,
        decoding=turn.decoding,
        synthesis=turn.synthesis and replace(turn.synthesis, ready=0, released=0),
        lanes=turn.lanes,
        stages=turn.stages,
        usage=turn.usage,
        notices=turn.notices,
        waiting=turn.waiting,
    )


def _transcript(turn: Turn, event: ev.Transcript) -> Turn:
    if not event.final:
        return replace(turn, transcript=event)
    phase: Phase = "replying" if event.text else "done"
    return replace(turn, transcript=event, phase=phase, marks=replace(turn.marks, final=event.time))


def _endpoint(turn: Turn, event: ev.Endpoint) -> Turn:
    if turn.phase != "listening":
        return turn
    marks = replace(turn.marks, endpoint=event.time)
    return replace(turn, phase="recognising", speech_active=False, marks=marks)


def _interrupt(turn: Turn, event: ev.Interrupt) -> Turn:
    if not turn.busy:
        return turn
    return replace(turn, phase="done", interrupted=turn.transcript.final, speech_active=False)


def _verdict(turn: Turn, event: ev.Verdict) -> Turn:
    return replace(turn, verdicts=(*turn.verdicts, event)[-MAX_VERDICTS:])


def _reply_committed(turn: Turn, event: ev.ReplyCommitted) -> Turn:
    if event.index != len(turn.sentences):
        return turn
    marks = turn.marks if turn.marks.committed is not None else replace(turn.marks, committed=event.time)
    return replace(turn, sentences=(*turn.sentences, event.text), marks=marks)


def _reply_finished(turn: Turn, event: ev.ReplyFinished) -> Turn:
    over = turn.playback in ("finished", "stopped") or turn.voiceless or not event.text
    return replace(turn, reply=event, phase="done" if over else turn.phase)


def _stage_status(turn: Turn, event: ev.StageStatus) -> Turn:
    turn = replace(turn, stages={**turn.stages, event.stage: event})
    return replace(turn, phase="done") if turn.phase == "replying" and turn.reply and turn.voiceless else turn


def _speech_chunk(turn: Turn, event: ev.SpeechChunk) -> Turn:
    if turn.marks.chunk is not None:
        return turn
    return replace(turn, marks=replace(turn.marks, chunk=event.time))


def _playback(turn: Turn, event: ev.Playback) -> Turn:
    marks, over = turn.marks, event.state in ("finished", "stopped")
    if event.state == "started" and marks.audible is None:
        marks = replace(marks, audible=event.time)
    lanes = turn.lanes
    if event.state != "started" and marks.audible is not None and turn.audible:
        start = lanes["audio"][-1].end if _extends(lanes.get("audio", ()), marks.audible) else marks.audible
        lanes = _with_span(lanes, "audio", Span(start, event.time, "playing"))
    return replace(
        turn,
        marks=marks,
        lanes=lanes,
        playback=event.state,
        spoken=max(turn.spoken, event.index),
        played_s=max(turn.played_s, event.seconds),
        phase="done" if over and turn.reply else turn.phase,
    )


def _extends(spans: tuple[Span, ...], since: float) -> bool:
    return bool(spans) and spans[-1].start >= since


def _work(turn: Turn, event: ev.Work) -> Turn:
    return replace(turn, lanes=_with_span(turn.lanes, event.stage, Span(event.start, event.end, event.label)))


def _with_span(lanes: Mapping[str, tuple[Span, ...]], lane: str, span: Span) -> Mapping[str, tuple[Span, ...]]:
    spans = lanes.get(lane, ())
    if spans and spans[-1].label == span.label and 0.0 <= span.start - spans[-1].end < 0.002:
        spans, span = spans[:-1], Span(spans[-1].start, span.end, span.label)
    return {**lanes, lane: (*spans, span)[-MAX_SPANS:]}


_FOLDS: dict[type[ev.Event], Callable[[Turn, Any], Turn]] = {
    ev.TurnStarted: _turn_started,
    ev.Transcript: _transcript,
    ev.Endpoint: _endpoint,
    ev.Interrupt: _interrupt,
    ev.Verdict: _verdict,
    ev.ReplyCommitted: _reply_committed,
    ev.ReplyFinished: _reply_finished,
    ev.SpeechChunk: _speech_chunk,
    ev.Playback: _playback,
    ev.Work: _work,
    ev.Configure: lambda turn, event: replace(turn, verifier=event.verifier or turn.verifier),
    ev.SpeechActivity: lambda turn, event: replace(turn, speech_active=event.active),
    ev.Candidate: lambda turn, event: replace(turn, candidate=event),
    ev.Continuation: lambda turn, event: replace(turn, continuations=(*turn.continuations, event)[-MAX_CONTINUATIONS:]),
    ev.Decoding: lambda turn, event: replace(turn, decoding=event),
    ev.SpeechReady: lambda turn, event: replace(turn, ahead=event),
    ev.Synthesis: lambda turn, event: replace(turn, synthesis=event),
    ev.Baseline: lambda turn, event: replace(turn, baseline=event),
    ev.BaselineSpeech: lambda turn, event: replace(turn, baseline_speech_ms=event.ms),
    ev.BaselineRecognition: lambda turn, event: replace(turn, baseline_recognition=event),
    ev.StageStatus: _stage_status,
    ev.LinesWaiting: lambda turn, event: replace(turn, waiting=event.texts),
    ev.Usage: lambda turn, event: replace(turn, usage=event),
    ev.Notice: lambda turn, event: replace(turn, notices=(*turn.notices, event)[-MAX_NOTICES:]),
}
_TIMELESS = (ev.Work, ev.StageStatus, ev.Usage, ev.Notice, ev.Configure, ev.LinesWaiting)
