"""Sentences in the making and not yet released, within a budget of memory. Must not know when one is released."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from predtui.tts.base import Speech, SpeechState, Synthesizer

KEPT_SENTENCES = 8
"""Recognisers flip back and forth, and so do candidates."""


@dataclass(slots=True)
class Utterance:
    """One sentence with the sound that is made of it, and the state to go on from."""

    engine: Synthesizer
    text: str
    after: SpeechState | None = None
    chunks: list[bytes] = field(default_factory=list)
    complete: bool = False
    state: SpeechState | None = None
    first_s: float = 0.0
    """Seconds that its first sound took."""
    _speech: Speech | None = None

    def pull(self) -> bytes | None:
        """The next chunk, kept as well; empty where none is complete yet, None at the end. Raises PredtuiError."""
        if self._speech is None:
            self._speech = self.engine.synthesize(self.text, self.state, self.after)
        chunk = next(self._speech, None)
        if chunk is None:
            self.complete = True
        elif chunk:
            self.chunks.append(chunk)
        return chunk

    def park(self) -> None:
        """Keep the state only."""
        if self._speech is not None:
            self.state, self._speech = self._speech.save(), None

    @property
    def seconds(self) -> float:
        """Of sound made."""
        return sum(map(len, self.chunks)) / 2 / self.engine.rate

    @property
    def nbytes(self) -> int:
        """Memory held, once parked."""
        return sum(map(len, self.chunks)) + (self.state.nbytes if self.state else 0)


class SpeechCache:
    """Parked utterances by sentence. Where they are too many or hold more than ``budget`` bytes, the unlikely ones are
    dropped, then the others, the oldest first; the newest stays, unless it is unlikely."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._utterances: OrderedDict[str, Utterance] = OrderedDict()
        self._unlikely: set[str] = set()

    def __len__(self) -> int:
        return len(self._utterances)

    @property
    def nbytes(self) -> int:
        return sum(utterance.nbytes for utterance in self._utterances.values())

    def get(self, sentence: str) -> Utterance | None:
        """What is kept of ``sentence``."""
        return self._utterances.get(sentence)

    def take(self, sentence: str) -> Utterance | None:
        """The same, no longer kept."""
        self._unlikely.discard(sentence)
        return self._utterances.pop(sentence, None)

    def put(self, sentence: str, utterance: Utterance, likely: bool = True) -> None:
        """``likely``: whether it is thought to be what is spoken next."""
        self.take(sentence)
        utterance.park()
        self._utterances[sentence] = utterance
        if not likely:
            self._unlikely.add(sentence)
        while len(self) > 1 and (len(self) > KEPT_SENTENCES or self.nbytes > self._budget):
            self.take(min(self._utterances, key=lambda one: one not in self._unlikely))

    def doubt(self) -> None:
        """None of what is kept is likely any more: the reply that it was thought to be is known."""
        self._unlikely = {*self._utterances}

    def clear(self) -> None:
        self._utterances.clear()
        self._unlikely.clear()
