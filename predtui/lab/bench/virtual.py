"""Another machine's time: a clock with appointments, and a synthesiser that takes as long as a profile says.

Work advances the clock; what is due by then happens, so input arrives in the middle of work as it does in life. Must
not know which stages run.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from predtui.clock import Clock, VirtualClock
from predtui.lab.profiles import HardwareProfile
from predtui.tts.base import SpeechState

CHUNK_SECONDS = 0.1
STEP_S = 0.02
"""What a synthesiser works on before it can be asked for something else, about: a frame or two of a network's."""
CHARACTERS_A_SECOND = 15.0
"""How fast text is spoken: some 180 words a minute."""


class Timetable(VirtualClock):
    """A virtual clock that keeps appointments: each is carried out once the clock has reached its time."""

    def __init__(self, start: float = 0.0) -> None:
        super().__init__(start)
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Carry out ``action`` at ``time``, at the next step where that has passed. Equal times keep their order."""
        heapq.heappush(self._due, (time, next(self._count), action))

    @property
    def next(self) -> float | None:
        """When the next appointment is."""
        return self._due[0][0] if self._due else None

    def advance(self, seconds: float) -> None:
        super().advance(seconds)
        while self._due and self._due[0][0] <= self._now:
            heapq.heappop(self._due)[2]()

    def until(self, time: float) -> None:
        """Let time pass to ``time``, or none where that has passed."""
        self._now = max(self._now, time)
        self.advance(0.0)


@dataclass(frozen=True, slots=True)
class PricedState:
    """Steps that were taken already."""

    taken: int
    nbytes = 0


class PricedSpeech(Iterator[bytes]):
    """Silent chunks, each after its price in seconds of ``clock``; in steps, as a network that makes a frame a forward
    can be stopped between them."""

    def __init__(self, clock: Clock, prices: Sequence[float], taken: int) -> None:
        self._clock, self._taken = clock, taken
        self._steps = [step for price in prices for step in _steps(price)]
        """Seconds, and whether a chunk is complete after them."""

    def __next__(self) -> bytes:
        if self._taken == len(self._steps):
            raise StopIteration
        seconds, complete = self._steps[self._taken]
        self._clock.sleep(seconds)
        self._taken += 1
        return bytes(2 * round(PricedSynthesizer.rate * CHUNK_SECONDS)) if complete else b""

    def save(self) -> PricedState:
        return PricedState(self._taken)


def _steps(price: float) -> Iterator[tuple[float, bool]]:
    count = max(1, round(price / STEP_S))
    yield from ((price / count, number == count) for number in range(1, count + 1))


class PricedSynthesizer:
    """Silence as long as the text would be spoken, its first chunk after the profile's ``first_audio_ms``."""

    rate = 16000

    def __init__(self, profile: HardwareProfile, clock: Clock) -> None:
        self._profile, self._clock = profile, clock

    def synthesize(self, text: str, state: SpeechState | None = None, after: SpeechState | None = None) -> PricedSpeech:
        chunks = round(len(text) / CHARACTERS_A_SECOND / CHUNK_SECONDS)
        return PricedSpeech(self._clock, self._prices(chunks), state.taken if isinstance(state, PricedState) else 0)

    def _prices(self, chunks: int) -> list[float]:
        """Seconds that each chunk takes."""
        following = CHUNK_SECONDS / self._profile.speech_rate
        return [following if number else self._profile.first_audio_ms / 1000 for number in range(chunks)]

    def close(self) -> None:
        """Nothing was opened."""
