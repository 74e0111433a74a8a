"""A whole cast of tiny stages for tests of the pipeline: they speak the real stages' events, deterministically.

A word is one audio frame whose samples spell it; the reply to a prompt is "You said PROMPT. Over."; a sentence sounds
as its own letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from predtui.state import events as ev
from predtui.state.stage import StageContext, StageSpec

FRAME = 320
RATE = 1000


@dataclass(frozen=True)
class Pace:
    """How long things take, in seconds of the clock, and what the microphone hears."""

    words: tuple[str, ...] = ()
    word_s: float = 0.0
    step_s: float = 0.0
    hears: bool = True
    """Whether the recogniser ever answers."""
    load_s: float = 0.0
    hear_s: float = 0.0
    """What loading the recogniser takes, and each word that it hears; the end takes three times as long."""


def cast(pace: Pace, *names: str) -> list[StageSpec]:
    return [StageSpec(name, f"tests.cast:{name}", pace) for name in names or ("mic", "asr", "llm", "tts", "player")]


class Actor:
    accepts: tuple[type[ev.Event], ...] = ()
    tick: float | None = None

    def __init__(self, pace: Pace) -> None:
        self.pace = pace

    def open(self, context: StageContext) -> Iterator[ev.Event]:
        self.context = context
        return iter(())

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        return iter(())

    def idle(self) -> Iterator[ev.Event]:
        return iter(())

    def close(self) -> None:
        pass

    def step(self) -> bool:
        """Spend a step's time; whether to go on."""
        self.context.clock.sleep(self.pace.step_s)
        return not self.context.stale()


def spell(word: str) -> bytes:
    return word.encode().ljust(2 * FRAME, b"\0")


class Mic(Actor):
    accepts = (ev.Listen, ev.Endpoint, ev.Interrupt)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if not isinstance(event, ev.Listen):
            return
        words = event.path.split() or self.pace.words
        for position, word in enumerate(words):
            self.context.clock.sleep(self.pace.word_s)
            if self.context.stale():
                return
            yield ev.AudioFrame(pcm=spell(word), position=position * FRAME)
        if event.path:
            yield ev.Endpoint(reason="end of file")


class Asr(Actor):
    accepts = (ev.TurnStarted, ev.AudioFrame, ev.Endpoint, ev.Baseline)

    def open(self, context: StageContext) -> Iterator[ev.Event]:
        self.context = context
        yield ev.StageStatus(stage="asr", message="loading")
        context.clock.sleep(self.pace.load_s)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.TurnStarted):
            self.words: list[str] = []
        elif isinstance(event, ev.Baseline):
            yield ev.BaselineRecognition()
        elif isinstance(event, ev.AudioFrame):
            self.context.clock.sleep(self.pace.hear_s)
            self.words.append(event.pcm.rstrip(b"\0").decode())
            yield ev.Transcript(stable=" ".join(self.words[:-1]), tentative=self.words[-1])
        elif self.pace.hears:
            self.context.clock.sleep(3 * self.pace.hear_s)
            yield ev.Transcript(stable=" ".join(self.words), final=True)


class Llm(Actor):
    accepts = (ev.TurnStarted, ev.Transcript, ev.Interrupt, ev.Configure, ev.MeasureBaseline)
    verifier = "greedy"
    heard = ev.Transcript()

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.TurnStarted):
            self.heard = ev.Transcript()
        elif isinstance(event, ev.Configure):
            self.verifier = event.verifier
        elif isinstance(event, ev.MeasureBaseline):
            if self.step():
                yield ev.Baseline(ttfs_ms=50.0, first_sentence=event.reply.split(".")[0])
        elif isinstance(event, ev.Transcript):
            last, self.heard = self.heard, event
            if event.changes(last):
                yield from self.answer(event)

    def answer(self, event: ev.Transcript) -> Iterator[ev.Event]:
        said = f"You said {event.prompt}."
        for length in range(1, len(said), 4):
            if not self.step():
                return
            yield ev.Candidate(prompt=event.prompt, new=said[:length])
        yield ev.Verdict(outcome="accept", verifier=self.verifier, final=event.final, ms=1.0)
        yield ev.SentenceAhead(text=said)
        if event.final:
            for index, sentence in enumerate([said, "Over."]):
                yield ev.ReplyCommitted(index=index, text=sentence)
                if not self.step():
                    return
            yield ev.ReplyFinished(prompt=event.prompt, text=f"{said} Over.", sentences=2, ttfs_ms=1.0)


class Speechless(Llm):
    """Its replies are empty."""

    def answer(self, event: ev.Transcript) -> Iterator[ev.Event]:
        yield ev.ReplyFinished(prompt=event.prompt)


class Lost(Llm):
    """Its replies end within their thought."""

    def answer(self, event: ev.Transcript) -> Iterator[ev.Event]:
        yield ev.Notice(text="no answer")
        yield ev.ReplyFinished(prompt=event.prompt, tokens=5, thought=ev.Thought("Hm", 5))


class Tts(Actor):
    accepts = (ev.SentenceAhead, ev.ReplyCommitted, ev.ReplyFinished, ev.Interrupt, ev.Baseline)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.ReplyCommitted):
            sound = event.text.encode().ljust(len(event.text) + len(event.text) % 2)
            for start in range(0, len(sound), 4):
                if not self.step():
                    return
                yield ev.SpeechChunk(index=event.index, pcm=sound[start : start + 4], rate=RATE)
            yield ev.SpeechChunk(index=event.index, rate=RATE, last=True)
        elif isinstance(event, ev.ReplyFinished):
            yield ev.SpeechEnd()
        elif isinstance(event, ev.Baseline):
            yield ev.BaselineSpeech(ms=5.0)


class Player(Actor):
    accepts = (ev.SpeechChunk, ev.SpeechEnd, ev.Interrupt)
    seconds, playing, index = 0.0, False, 0

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if isinstance(event, ev.SpeechChunk):
            state = "playing" if self.playing else "started"
            self.playing = self.step()
            self.seconds, self.index = self.seconds + len(event.pcm) / 2 / event.rate, event.index
            yield ev.Notice(text="heard:" + event.pcm.decode())
            yield ev.Playback(state=state, seconds=self.seconds, index=event.index)  # type: ignore[arg-type]
        elif self.playing:
            state = "finished" if isinstance(event, ev.SpeechEnd) else "stopped"
            self.playing = False
            yield ev.Playback(state=state, seconds=self.seconds, index=self.index)  # type: ignore[arg-type]
            self.seconds = 0.0


mic, asr, llm, tts, player, speechless, lost = Mic, Asr, Llm, Tts, Player, Speechless, Lost
