"""What a synthesiser is: text in, PCM chunks out, saved and resumed anywhere. Must not know where text comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from predtui.llm.base import Counters


class SpeechState(Protocol):
    """A sentence in mid-speech: never changes, and costs nothing to drop. Means something to its engine only."""

    @property
    def nbytes(self) -> int:
        """Memory it holds."""
        ...


class Speech(Protocol):
    """The sound of one sentence, in order."""

    def __iter__(self) -> Iterator[bytes]: ...

    def __next__(self) -> bytes:
        """The next chunk of mono 16-bit PCM; empty where work was done and no chunk is complete yet, so that a caller
        can ask in between whether it is still wanted. Raises PredtuiError where the engine fails."""
        ...

    def save(self) -> SpeechState:
        """What to go on from later. Several may be taken of one speech, which may go on as well."""
        ...


class Synthesizer(Protocol):
    """Turns one sentence at a time into mono 16-bit PCM. Several may be in flight at once."""

    rate: int
    """Samples per second of the chunks; known once the engine is open."""

    def synthesize(self, text: str, state: SpeechState | None = None, after: SpeechState | None = None) -> Speech:
        """The sound of ``text``; what is left of it where ``state`` was saved of its speech. ``after``: the sentence
        before, whose prosody is kept where the engine can. Empty or unspeakable text yields nothing.
        Raises PredtuiError where the engine cannot say it."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Speaker(Protocol):
    """A synthesiser that tells what its texts are to be; one that does not speaks what ``tts.language`` names."""

    language: str
    """What it speaks, as eSpeak NG names it: "en-us", "de"."""
    espeak_phonemes: bool
    """Whether ``[[...]]`` in a text are eSpeak NG's phonemes to it. Only what the user has respelt has them."""


@runtime_checkable
class NeuralSynthesizer(Protocol):
    """A synthesiser that is a network."""

    title: str
    """What it is, and where it runs."""
    advice: str
    """What a person should know who is going to listen to it; empty for nothing."""

    @property
    def counters(self) -> Counters: ...


@dataclass(frozen=True, slots=True)
class Remainder:
    """The state of a speech that was made at once: the sound that is left."""

    chunks: tuple[bytes, ...] = ()

    @property
    def nbytes(self) -> int:
        return sum(map(len, self.chunks))


class BufferedSpeech(Iterator[bytes]):
    """A speech of an engine so fast that saving it means making the rest."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def __next__(self) -> bytes:
        return next(self._chunks)

    def save(self) -> Remainder:
        rest = tuple(self._chunks)
        self._chunks = iter(rest)
        return Remainder(rest)
