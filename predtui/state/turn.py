"""Everything the screen may draw: one immutable ``Turn``. Events are folded into it by reducer.py.

Must not know any stage or widget. Times are seconds of the run's clock, durations and latencies milliseconds; None
stands for "not (yet) known".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.spoken import said_by, said_within
from predtui.words import joined

Phase = Literal["idle", "typing", "listening", "recognising", "replying", "done"]
"""idle: nothing yet; recognising: the user has finished, the final words are awaited; done: nothing more will come."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of uninterrupted work, in seconds of the clock: a bar of the timeline."""

    start: float
    end: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A prompt that had been answered before it came, and what that had saved when it did: forwards of the target, and
    milliseconds to its first sentence, both measured then and now; None where they were not."""

    prompt: str
    forwards: int | None = None
    ms: float | None = None


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
    aside: bool = False
    """Whether the current turn is for show: no later one goes on from it."""

    transcript: ev.Transcript = field(default_factory=ev.Transcript)
    speech_active: bool = False
    levels: tuple[float, ...] = ()
    """How loud the microphone was lately, in decibels, a tenth of a second each, at most the last 8."""
    ends: ev.EndOfTurn = field(default_factory=ev.EndOfTurn)
    """The last that is known of whether the user's turn is over."""
    candidate: ev.Candidate = field(default_factory=ev.Candidate)
    continuations: tuple[ev.Continuation, ...] = ()
    """What was answered in this turn before it was said, at most the last 50."""
    foreseen: Foreseen | None = None
    """What the last verification found answered already; None where that was not so."""
    retrieved: ev.Retrieved | None = None
    """Of the notes, for the last prompt of this turn; None where there are none."""
    decoding: ev.Decoding | None = None
    """How the decoder's drafts fare; None where it drafts nothing."""
    requests: ev.Requests | None = None
    """What this turn has asked of an engine behind a network; None where there is none."""
    verdicts: tuple[ev.Verdict, ...] = ()
    """Of this turn, oldest first, at most the last 50."""
    ahead: ev.SpeechReady = field(default_factory=ev.SpeechReady)
    """How much of the unreleased first sentence is synthesised."""
    spoken_ahead: tuple[ev.SpeechReady, ...] = ()
    """The same of each sentence of this turn that was synthesised ahead last, at most the last 8."""
    synthesis: ev.Synthesis | None = None
    """How the synthesiser fares; None before its first sentence."""

    sentences: tuple[str, ...] = ()
    """Committed sentences of the reply."""
    reply: ev.ReplyFinished | None = None
    interrupted: bool = False
    heard: str | None = None
    """Of a reply that was silenced, the beginning that was heard, up to the word that was being said; None for all."""
    refused: ev.Refused | None = None
    """Why there will be no reply: the input was not heard to its end."""
    words: Mapping[int, tuple[ev.WordMark, ...]] = field(default_factory=dict)
    """When the words of the reply's sentences are said, by the number of the sentence; of some engines' alone."""
    spoken: int = -1
    """Index of the sentence being played or played last; -1 before any."""
    playback: Literal["idle", "started", "playing", "finished", "stopped"] = "idle"
    played_s: float = 0.0
    sounding: ev.Playback = field(default_factory=ev.Playback)
    """What was last told of the playback."""
    loudness: ev.Loudness = "full"
    """Of the reply: less where it is being talked over."""
    mute: bool = False
    """Whether the reply has no sound: it is read."""

    marks: Marks = Marks()
    baseline: ev.Baseline | None = None
    baseline_speech_ms: float | None = None
    baseline_recognition: ev.BaselineRecognition | None = None
    verifier: str = ""
    """The verifier last configured; empty while the stage's own default stands."""

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    """When each worker was at work, by its name: a stage, "target" or "draft" of a decoder that drafts, "encode" or
    "write" of a recogniser in two parts, or "audio" for what was heard. At most the last 400 of each."""
    stages: Mapping[str, ev.StageStatus] = field(default_factory=dict)
    ticked: float = 0.0
    """When it was last told what time it is."""
    usage: ev.Usage = field(default_factory=ev.Usage)
    joules: float | None = None
    """Of the processors, in this turn; None before it is over, and where nothing tells."""
    notices: tuple[ev.Notice, ...] = ()
    waiting: tuple[str, ...] = ()
    """Typed lines that wait to be answered."""

    @property
    def prompt(self) -> str:
        """What is (or will be) answered."""
        return self.reply.prompt if self.reply and self.reply.prompt else self.transcript.prompt

    @property
    def end_of_turn(self) -> float | None:
        """How likely what was said so far is all, 0..1; None where that is not known of just these words."""
        return self.ends.probability if self.ends.prompt and self.ends.prompt == self.transcript.prompt else None

    @property
    def reply_text(self) -> str:
        """The committed reply so far."""
        return self.reply.text if self.reply and not self.interrupted else joined(self.sentences)

    @property
    def notes(self) -> tuple[str, ...]:
        """The names of the notes that the reply rests on."""
        return self.retrieved.notes if self.retrieved and self.retrieved.final and self.sentences else ()

    @property
    def exchange(self) -> Exchange | None:
        """The current one, once its input has ended."""
        if not self.transcript.final or not self.prompt:
            return None
        heard = None if self.heard is None else self.heard.strip()
        return Exchange(self.prompt, self.reply_text.strip(), self.interrupted, heard, self.notes)

    @property
    def conversation(self) -> tuple[Exchange, ...]:
        """All exchanges, the current one included once its input has ended."""
        current = self.exchange
        return (*self.past, current) if current else self.past

    @property
    def lasting(self) -> tuple[Exchange, ...]:
        """The conversation as it goes on: without what was asked for show."""
        return self.past if self.aside else self.conversation

    @property
    def history(self) -> tuple[ev.Message, ...]:
        """What the next turn starts from."""
        return ev.history(self.lasting)

    @property
    def busy(self) -> bool:
        """Whether the turn is still under way, so that a new one must interrupt it."""
        return self.phase not in ("idle", "done")

    @property
    def voiceless(self) -> bool:
        """Whether no reply can be heard, since synthesis or playback has failed or is not there."""
        return any(s.state in ("failed", "stopped") for s in map(self.stages.get, ("tts", "player")) if s)

    @property
    def shown_only(self) -> bool:
        """Whether what is said of the reply can be read, and not heard."""
        player = self.stages.get("player")
        return self.mute or self.voiceless or (player is not None and bool(player.lacks))

    @property
    def audible(self) -> bool:
        return self.playback in ("started", "playing")

    @property
    def saying(self) -> tuple[int, int]:
        """Begin and end, in the reply, of the word that is being said; (0, 0) where that is not known."""
        index = self.sounding.index
        marks = self.words.get(index, ()) if self.audible and index < len(self.sentences) else ()
        begin, end = said_by(self.sentences[index], marks, self.sounding.within) if marks else (0, 0)
        return said_within(self.reply_text, self.sentences, index, (begin, end)) if end else (0, 0)

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


def summary(turn: Turn) -> dict[str, Any]:
    """The figures of the current turn, ready for JSON."""
    return {
        "prompt": turn.prompt,
        "reply": turn.reply_text,
        "notes": list(turn.notes),
        "refused": turn.refused.heard if turn.refused else None,
        "audio_latency_ms": turn.audio_latency_ms,
        "ttfs_ms": turn.ttfs_ms,
        "nfetfs": turn.nfetfs,
        "outcome": turn.outcome,
        "thought": asdict(turn.reply.thought) if turn.reply and turn.reply.thought.tokens else None,
        "lossless": turn.lossless,
        "baseline_audio_latency_ms": turn.baseline_audio_latency_ms,
        "breakdown_ms": turn.breakdown,
        "decoding": _drafts(turn.decoding),
        "requests": _requests(turn.requests),
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


def _requests(requests: ev.Requests | None) -> dict[str, Any] | None:
    if requests is None:
        return None
    return {
        "server": requests.server,
        "proof": requests.proof,
        "count": requests.count,
        "cancelled": requests.cancelled,
        "generated": requests.generated,
        "wasted": requests.wasted,
        "asks": requests.asks,
    }


def _ms(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else (end - start) * 1000.0
