"""Every type that crosses a stage boundary: frozen, slotted dataclasses, nothing else.

An event is stamped with its *generation* (turn, revision) and the time in seconds of the clock. Stages yield events
unstamped: the host stamps them with the generation of the event being handled. Must not import any engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from predtui.state.exchange import Exchange
from predtui.state.sound import Sound
from predtui.words import joined, last_word, tidy

Role = Literal["system", "user", "assistant"]
Outcome = Literal["accept", "partial", "reject"]
StageState = Literal["starting", "ready", "waiting", "silent", "failed", "restarting", "stopped"]
Asks = Literal["words", "pauses", "end"]
"""From what on a server is asked: at each word; in pauses alone; or once the input has ended."""
Loudness = Literal["full", "soft", "held"]
Proof = Literal["exact", "regenerates", "text"]
"""How an engine shows what holds of a candidate. exact: it tells how likely the tokens are that it is given;
regenerates: it tells the tokens that it chooses itself, which are compared; text: not even these, but their text."""


@dataclass(frozen=True, slots=True)
class WordMark:
    """A word of a sentence begins to be said: ``at`` is the index of its first character, ``seconds`` the time since
    the sentence began."""

    at: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Message:
    """One side of a dialogue turn, as chat templates take it."""

    role: Role
    content: str


def history(exchanges: Iterable[Exchange]) -> tuple[Message, ...]:
    """A conversation as a chat template takes it: answered exchanges only, and of them what was heard."""
    return tuple(
        message
        for exchange in exchanges
        if exchange.remembered
        for message in (Message("user", exchange.user), Message("assistant", exchange.remembered))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The stamp. ``turn`` counts exchanges from 1, ``revision`` the partial prompts in it; (0, 0) = not yet stamped."""

    turn: int = 0
    revision: int = 0
    time: float = 0.0

    @property
    def generation(self) -> tuple[int, int]:
        """Work of a lower generation is stale."""
        return (self.turn, self.revision)

    @property
    def replaceable(self) -> bool:
        """Whether a newer event of the same type may take its place in a queue (state), or it must arrive (commit)."""
        return False


# --- the turn -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Event):
    """A new exchange begins; ``history`` is the conversation so far, without the system prompt. ``aside``: what is
    asked is for show, and no part of the conversation that goes on behind it."""

    source: Literal["typed", "voice", "file"] = "typed"
    history: tuple[Message, ...] = ()
    aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed(Event):
    """The conversation goes on from these exchanges, kept as ``session``, as if they had just been; 0: a new one."""

    session: int = 0
    exchanges: tuple[Exchange, ...] = ()

    @property
    def history(self) -> tuple[Message, ...]:
        """What the next turn starts from."""
        return history(self.exchanges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Event):
    """Silence the reply at once: escape, or the user talking or typing over it. Claimed once, harmless twice."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Event):
    """What was said could not be heard to its end, and is not answered; the words so far are the person's to finish."""

    heard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure(Event):
    """Change how the next prompts are treated, without a restart. Empty strings leave a choice as it is."""

    verifier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesWaiting(Event):
    """Typed lines that are answered once the reply before them has been heard, the next one first."""

    texts: tuple[str, ...] = ()

    @property
    def replaceable(self) -> bool:
        return True


# --- sound in -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen(Event):
    """Start taking frames from the source: the microphone, or the WAV file ``path`` played in real time."""

    path: str = ""
    hands_free: bool = False
    """Whether silence ends the turn (voice activity), or only an ``Endpoint`` from outside does (key release)."""
    anew: bool = False
    """Whether what the microphone has heard before, and for a moment more, is not the user's: a reply was playing."""
    overheard: bool = False
    """Whether what was said over the reply before is where this turn begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundLevel(Event):
    """How loud the microphone is, in ``decibels`` below the loudest there is, which is 0; silence is -96."""

    decibels: float = -96.0

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhear(Event):
    """Hear whether somebody talks over the reply that begins to play, with the reply itself cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheard(Event):
    """20 ms of what is said over a reply: mono 16-bit little-endian PCM without the reply's echo. ``first``: of a
    stretch of speech; ``speech``: seconds of it so far; ``quiet``: seconds since."""

    pcm: Sound = b""
    rate: int = 16000
    voiced: bool = True
    first: bool = False
    speech: float = 0.0
    quiet: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OverheardWords(Event):
    """The words of such a stretch so far."""

    text: str = ""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class LookForDevice(Event):
    """A stage that lacks its device looks for it again: it may have been plugged in."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFrame(Event):
    """20 ms of mono 16-bit little-endian PCM. ``position`` = samples since the turn began (pre-roll included)."""

    pcm: Sound = b""
    rate: int = 16000
    position: int = 0
    voiced: bool = True
    """Whether voice activity detection hears speech in or near this frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechActivity(Event):
    """The voice activity detector changed its mind. ``quiet``: seconds for which nobody had spoken by then."""

    active: bool = False
    quiet: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Event):
    """The user has finished: key released, WAV file at its end, or silence long enough; or the sound was lost before.
    Stops the source."""

    reason: Literal["key", "silence", "end of file", "lost"] = "key"


# --- words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript(Event):
    """What was said or typed so far. ``stable`` words of a spoken turn never change again, ``tentative`` ones may.

    ``unfinished``: the last word may still be growing, so it is held back from the prompt (PredGen, section 4.1).
    ``following``: the words behind a tentative one that is being typed within the line.
    ``paused``: nothing has come for a while, so that all counts after all. ``final``: the end of the input.
    """

    stable: str = ""
    tentative: str = ""
    following: str = ""
    unfinished: bool = True
    paused: bool = False
    final: bool = False

    @property
    def replaceable(self) -> bool:
        return not self.final

    @property
    def text(self) -> str:
        return joined((self.stable, self.tentative, self.following))

    @property
    def settling(self) -> bool:
        """Whether the line is being edited in its middle: until that is over, or a pause comes, it asks for nothing."""
        return bool(self.following) and self.unfinished and not self.paused and not self.final

    @property
    def prompt(self) -> str:
        """The words a reply may be speculated on: all when final or paused, else those before an unfinished one."""
        if self.settling:
            return self.stable.rstrip()
        text = tidy(self.text)
        growing = self.unfinished and not self.paused and not self.final
        return text[: last_word(text)].rstrip() if growing else text

    @property
    def begun(self) -> str:
        """The last word, where it may still be growing."""
        growing = self.unfinished and not self.final and not self.following
        return self.text[last_word(self.text) :] if growing else ""

    def changes(self, last: Transcript) -> bool:
        """Whether it asks for another reply than ``last``, the one before. A last word that goes on growing after a
        pause in which it was taken for whole does not, nor does a word within the line while it is edited."""
        if self.settling:
            return False
        whole = self.unfinished and last.prompt == last.text
        grown = whole and self.text.startswith(last.text) and last.text.startswith(self.prompt)
        return self.final or (self.prompt != last.prompt and not grown)


# --- speculation ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOfTurn(Event):
    """How likely the user's turn is over after the words of ``prompt``, as the language model has it: 0..1."""

    prompt: str = ""
    probability: float = 0.0

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model thinks before it answers, which is not spoken, and not remembered; no ``tokens``: nothing."""

    text: str = ""
    """The last of it."""
    tokens: int = 0
    ms: float = 0.0
    """Milliseconds from the arrival of the prompt to its end, or so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Event):
    """Passages of notes stand before the prompt of this revision: those of a ``final`` one its reply rests on."""

    notes: tuple[str, ...] = ()
    """The names of the notes that they are from."""
    passages: int = 0
    count: int = 0
    """Partial and final prompts of this turn so far ..."""
    held: int = 0
    """... and those of them whose passages were the ones of the prompt before."""
    final: bool = False

    @property
    def replaceable(self) -> bool:
        return not self.final


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Event):
    """The reply guessed for ``prompt``: ``kept`` was verified, ``new`` was generated since, ``rejected`` fell."""

    prompt: str = ""
    kept: str = ""
    new: str = ""
    rejected: str = ""
    tokens: int = 0
    """Of the candidate with its thought."""
    complete: bool = False
    """Whether the model ended the reply."""
    thought: Thought = Thought()
    generated: int = 0
    """Tokens chosen in this turn so far, for whatever prompt ..."""
    forwards: int = 0
    """... and forwards of the target, for whatever end."""

    @property
    def replaceable(self) -> bool:
        return True

    @property
    def text(self) -> str:
        return self.kept + self.new


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation(Event):
    """What the user may be about to say, and the first sentence of the reply that is held for it, verified for just
    that."""

    prompt: str = ""
    sentence: str = ""
    forwards: int = 0
    """Of the target, spent on it while nothing else was to be done; 0 where that was not counted ..."""
    ms: float = 0.0
    """... and the milliseconds that they took."""
    share: float = 0.0
    """How likely its last word is among those that were thought of, 0..1; 0: hardly, or that is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Event):
    """One verification: how much of the candidate holds for the prompt of this revision."""

    outcome: Outcome = "reject"
    accepted: int = 0
    """Tokens of the candidate that hold."""
    of: int = 0
    """Tokens the candidate had."""
    forwards: int = 0
    """Forwards of the target for this revision until its first sentence stood (NFE)."""
    ms: float = 0.0
    """Milliseconds from the arrival of the prompt to its first sentence, verification included."""
    verifier: str = "greedy"
    lossless: bool = True
    final: bool = False


@dataclass(frozen=True, slots=True)
class DrafterFigures:
    """What one source of drafts did since the model was loaded, or, where ``name`` is empty, forwards without one."""

    name: str = ""
    forwards: int = 0
    """Those that verified its drafts."""
    proposed: int = 0
    accepted: int = 0
    tokens: int = 0
    """Of replies, that these forwards brought."""
    seconds: float = 0.0
    """Of its drafts and these forwards."""
    new: float = 0.0
    """How many times as fast as no draft the chooser among drafters thinks it in new contexts; 0: it does not know it
    or there is none ..."""
    repeating: float = 0.0
    """... and in contexts that repeat themselves."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A run of tokens of a draft that were all accepted, or all not."""

    text: str = ""
    parent: int = -1
    """Index of the branch that it goes on from; -1: the reply so far."""
    source: str = ""
    """What drafted it."""
    accepted: bool = False
    tokens: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding(Event):
    """A decoder that drafts, at work: the last draft, and rates since it was loaded."""

    decoder: str = ""
    proposed: int = 0
    """Tokens of the last draft ..."""
    accepted: int = 0
    """... and how many of them the target accepted."""
    acceptance_rate: float = 0.0
    tokens_per_forward: float = 0.0
    """Tokens of replies a forward of the target."""
    note: str = ""
    """Why it does not draft at present; empty while it does."""
    drafters: tuple[DrafterFigures, ...] = ()
    tree: tuple[Branch, ...] = ()
    """The last draft, each branch behind the one that it goes on from ..."""
    chosen: str = ""
    """... and what the target itself chose behind what it accepted; empty for an end, which has no text."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests(Event):
    """What the turn has asked of an engine behind a network so far."""

    server: str = ""
    proof: Proof = "exact"
    count: int = 0
    cancelled: int = 0
    """Of them, those that were given up before their end."""
    generated: int = 0
    """Tokens that they brought ..."""
    wasted: int = 0
    """... and those of them that are no part of the candidate, or of the reply."""
    saving: bool = False
    """Whether guessing waits, since as many tokens were wasted as may be."""
    asks: Asks = "words"
    """What is asked for, since a request in the way of another makes replies later."""

    @property
    def unit(self) -> str:
        """What is counted."""
        return "words" if self.proof == "text" else "tokens"

    @property
    def holds(self) -> str:
        """What becomes of those of a guess that hold: a server that regenerates says them once more."""
        return "kept" if self.proof == "exact" else "confirmed"

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceAhead(Event):
    """Synthesise this first sentence of a candidate, or its first clause where that is spoken alone, and keep it: it is
    released by ``ReplyCommitted`` only. ``others``: those of replies to what may come, the likeliest first."""

    text: str = ""
    others: tuple[str, ...] = ()

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechReady(Event):
    """So much of an unreleased sentence is synthesised ahead of time."""

    text: str = ""
    seconds: float = 0.0
    complete: bool = False
    chunks: int = 0
    """That are made; 0 where they were not counted."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis(Event):
    """How the synthesiser fares."""

    ready: int = 0
    """Chunks synthesised of the sentence that is not released yet."""
    released: int = 0
    """Chunks of this reply sent to playback."""
    real_time_factor: float = 0.0
    """Seconds of work for a second of speech, since it was loaded; above 1 playback has to wait."""
    forwards: int = 0
    """Forwards of its network since it was loaded, where it has one ..."""
    positions: int = 0
    """... and positions evaluated in them."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCommitted(Event):
    """Sentence ``index`` (from 0) of the reply to the final prompt: verified, to be spoken and remembered. Its first
    clause counts as a sentence where that is spoken alone."""

    index: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFinished(Event):
    """The whole reply to the final ``prompt`` stands. Latencies count from the arrival of the final prompt."""

    prompt: str = ""
    text: str = ""
    sentences: int = 0
    tokens: int = 0
    """Of the reply with its thought."""
    generated: int = 0
    """Tokens chosen in the whole turn: those beyond ``tokens`` were guesses that fell."""
    forwards: int = 0
    ttfs_ms: float = 0.0
    nfetfs: int = 0
    outcome: Outcome = "reject"
    verifier: str = "greedy"
    lossless: bool = True
    reason: Literal["end", "length", "interrupted"] = "end"
    thought: Thought = Thought()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBaseline(Event):
    """In idle time: answer ``prompt`` once without speculation, and compare with ``reply``."""

    prompt: str = ""
    reply: str = ""
    history: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Event):
    """What the turn would have been without speculation: measured on the same machine, prompt and model."""

    ttfs_ms: float = 0.0
    nfetfs: int = 0
    first_sentence: str = ""
    identical: bool = True
    divergence: int = -1
    """Index of the first differing token; -1 when identical."""
    logit_gap: float = 0.0
    """Top-1 minus the committed token's logit where they diverge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSpeech(Event):
    """Milliseconds from a request for the baseline's first sentence to its first chunk, nothing synthesised ahead."""

    ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecognition(Event):
    """Milliseconds of the recogniser's last round, begun after the end of the input; None where nothing was spoken, or
    a recogniser has no such round."""

    ms: float | None = None


# --- sound out ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChunk(Event):
    """Released PCM (mono, 16-bit) of sentence ``index``, in order. ``last`` closes the sentence."""

    index: int = 0
    pcm: Sound = b""
    rate: int = 22050
    last: bool = False
    words: tuple[WordMark, ...] = ()
    """Of the sentence, that begin by the end of this sound and were not told of before; none from an engine that does
    not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnd(Event):
    """All sentences of the reply have been sent to playback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duck(Event):
    """How loud the reply is from now on. soft: somebody may be talking over it; held: it stands still at the sample
    where it is, until it goes on or is silenced."""

    level: Loudness = "full"

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Playback(Event):
    """What the listener hears. ``seconds`` = played so far in this turn, ``within`` of them of sentence ``index``,
    which lasts ``of`` seconds, 0 while not all of it is there."""

    state: Literal["started", "playing", "finished", "stopped"] = "started"
    index: int = 0
    seconds: float = 0.0
    within: float = 0.0
    of: float = 0.0

    @property
    def replaceable(self) -> bool:
        return self.state == "playing"


# --- the machine ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStatus(Event):
    """Life of one stage, with a line a person can act on. ``progress`` in 0..1, or -1 where unknown. A silent one does
    not respond, and may go on yet.

    ``signal`` names the one that ended its process. ``lacks``: the device, or voice, that it is ready without, such as
    "microphone"; ``message`` says how to get it.
    """

    stage: str = ""
    state: StageState = "starting"
    message: str = ""
    progress: float = -1.0
    signal: str = ""
    lacks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Event):
    """A stage was busy from ``start`` to ``end`` (seconds of the clock): a bar of the timeline."""

    stage: str = ""
    start: float = 0.0
    end: float = 0.0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Event):
    """What time it is, once a second while a turn is under way, so that a recording shows what was seen live."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Event):
    """Utilisation: percent of the whole machine, per-stage percent of one core; GPU values are None without one."""

    cpu: float = 0.0
    gpu: float | None = None
    memory_mb: float = 0.0
    gpu_memory_mb: float | None = None
    gpu_watts: float | None = None
    gpu_celsius: float | None = None
    cores: tuple[float, ...] = ()
    """Percent of each core."""
    watts: float | None = None
    """Of the processors, where the system tells."""
    stages: tuple[tuple[str, float, float], ...] = field(default=())
    """(stage, percent of one core, resident MB)."""

    @property
    def replaceable(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy(Event):
    """What the processors have used in the turn, from its beginning to the end of its reply: the whole machine's."""

    joules: float = 0.0


PASSING = (Tick, Usage)
"""That time passes, and how it goes for the machine: no sign that anything happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Event):
    """A line for the person: what is wrong, where, and what to do."""

    text: str = ""
    severity: Literal["information", "warning", "error"] = "information"
