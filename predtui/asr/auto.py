"""Two recognisers over the same sound, and for each utterance the one that hears it. The default engine.

The general one knows people's voices and hardly understands synthetic ones; with the pocket Whisper it is the other way
round. How well a Whisper hears, it says itself: by the mean log-probability of what it writes, its authors' own measure
of a decoding that failed (Radford et al., 2022, section 4.5). Must not know of turns.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from predtui.asr.base import Hypothesis, Measured, Recognizer
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.models.shipped import POCKET
from predtui.registry import RECOGNISERS
from predtui.settings import AsrSettings
from predtui.state.events import Work
from predtui.words import joined

SURE = -0.3
"""Mean log-probability of the last round. Of 200 rounds over two seconds of the pocket domain, all over five
voices of eSpeak NG were above, all over four voices of Flite's, which are made of people's recordings, below."""
DOUBT = 0.1
"""Nearer than this to ``SURE``, what a moment's sound has told is not relied upon."""
DECIDED_SECONDS, AGAIN_SECONDS, LATEST_SECONDS = 2.0, 1.0, 4.0
"""Speech after which one of the two goes on alone; in doubt another look is taken so much later, but never after the
last. Until then every word is tentative."""


class Sure(Recognizer, Protocol):
    """A recogniser that knows how sure it is."""

    log_probability: float | None
    """Mean over the tokens of its last round; None before the first."""

    @property
    def keeps_up(self) -> bool:
        """Whether it hears while the sound goes on; else all of it takes its time at the end."""
        ...

    def sureness(self) -> float | None:
        """That of a round over the sound so far, whatever rounds were made before: the same for the same sound, however
        busy the machine is. None without sound."""
        ...


class AutoRecognizer:
    """Recognizer over ``special``, which is believed where it is surer than ``SURE``, and ``general``, which is
    otherwise. Both take the same rate."""

    def __init__(self, special: Sure, general: Recognizer) -> None:
        """Raises ValueError for two rates."""
        if special.rate != general.rate:
            raise ValueError(f"one recogniser wants {special.rate} Hz, the other {general.rate} Hz")
        self.rate = special.rate
        self._special, self._general = special, general
        self.start()

    def start(self) -> None:
        self._special.start()
        self._general.start()
        self._chosen: Recognizer | None = None
        self._left = False
        self._said = {True: Hypothesis(), False: Hypothesis()}
        self._last = Hypothesis()
        self._heard = 0.0
        self._look = DECIDED_SECONDS

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """The favourite's words: tentative until one recogniser is chosen, from then on as that one has them."""
        self._heard += len(pcm) / 2 / self.rate * voiced
        new = self._chosen.feed(pcm, voiced) if self._chosen else self._undecided(pcm, voiced)
        if new is None or new == self._last:
            return None
        self._last = new
        return new

    def finish(self) -> Hypothesis:
        if self._chosen:
            return self._chosen.finish()
        said = self._special.finish()
        self._chosen = self._special if said.stable and self._sure_at_last() else self._general
        return said if self._chosen is self._special else self._general.finish()

    def worked(self) -> list[Work]:
        """What the special one did, where it tells."""
        return self._special.worked() if isinstance(self._special, Measured) else []

    def summary(self) -> str:
        """What the chosen one has to tell."""
        if self._left:
            return "too busy a machine for the Whisper: the lighter recogniser has heard this alone"
        return self._chosen.summary() if isinstance(self._chosen, Measured) else ""

    @property
    def _sure(self) -> bool:
        probability = self._special.log_probability
        return probability is not None and probability > SURE

    def _undecided(self, pcm: bytes, voiced: bool) -> Hypothesis:
        for special, recognizer in ((True, self._special), (False, self._general)):
            self._said[special] = recognizer.feed(pcm, voiced) or self._said[special]
        said = self._said[self._sure]
        believed = self._decided() if self._heard >= self._look else None
        if believed is None:
            return Hypothesis("", joined((said.stable, said.tentative)), said.unfinished)
        self._chosen = self._special if believed else self._general
        return self._said[believed]

    def _decided(self) -> bool | None:
        """Whether the special one goes on alone, by the sound so far and nothing else; None in doubt. One that does not
        keep up is left, unless it has been sure."""
        self._left = not self._special.keeps_up and not self._sure
        probability = None if self._left else self._special.sureness()
        if probability is None:
            return False if self._left else None
        if abs(probability - SURE) < DOUBT and self._look < LATEST_SECONDS:
            self._look += AGAIN_SECONDS
            return None
        return probability > SURE

    def _sure_at_last(self) -> bool:
        """Whether the special one is, over all of the sound: the last round's guide, the round before, differs with the
        machine's load, and so may its probability, a little."""
        probability = self._special.log_probability
        if probability is not None and abs(probability - SURE) < DOUBT:
            probability = self._special.sureness()
        return probability is not None and probability > SURE


def create(options: AsrSettings) -> Recognizer:
    """A Whisper that knows people's voices, in the engine that hears sooner with it: padded to 30 s, as WhisperFlow has
    to without a hush word, a round takes longer there than in faster-whisper. With the pocket Whisper two recognisers,
    neither of which knows all voices. Raises PredtuiError where one cannot be had."""

    def made(engine: str, options: AsrSettings) -> Recognizer:
        one: Recognizer = RECOGNISERS.factory(engine)(options)
        return one

    if options.model == POCKET:
        special: Sure = RECOGNISERS.factory("whisperflow")(options)
        return AutoRecognizer(special, made("pocketsphinx", options))
    engine, folder = _engine_for(options)
    return made(engine, replace(options, model=str(folder)))


def check(options: AsrSettings) -> str:
    """The engine that is chosen and the folder of its Whisper; empty for the pocket one, which ships. Raises
    PredtuiError where there is none."""
    return "" if options.model == POCKET else "{}, {}".format(*_engine_for(replace(options, download=False)))


def _engine_for(options: AsrSettings) -> tuple[str, Path]:
    """The recogniser that hears soonest with the Whisper of ``options``, and its folder. Raises PredtuiError."""
    folder = find_model(options)
    return "faster-whisper" if find_hush(folder) is None else "whisperflow", folder
