"""The recogniser in every install: CMU Sphinx with the US-English sounds of its wheel. Must not know of turns.

With the shipped language model of the pocket domain it searches those words only, which halves its errors there;
without it, the general model of the wheel. Hears only what voice activity detection calls speech, and believes nothing
of what rises and falls too little to be one person's.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from predtui.asr.agreement import LocalAgreement, Word, joined
from predtui.asr.base import Hypothesis
from predtui.asr.contrast import Contrast
from predtui.errors import PredtuiError
from predtui.models.shipped import asset
from predtui.settings import AsrSettings

RATE = 16000
STEP_SECONDS = 0.1
"""Speech between two looks at the partial hypothesis."""
SETTLED_SECONDS = 1.2
"""Age at which an agreed word becomes stable: younger ones change so often that holding on to them costs accuracy."""
FRAME_SECONDS = 0.01

SEARCH = {"topn": 8, "lw": 8.0, "beam": 1e-60, "wbeam": 1e-40, "pbeam": 1e-60, "pl_window": 0, "fwdflat": False}
"""Wider than the defaults: fewer errors, at 0.1 of real time. The flat second pass would delay the end of a turn."""

_ALTERNATE = re.compile(r"\(\d+\)$")


def create(options: AsrSettings) -> PocketsphinxRecognizer:
    """The recogniser of the pocket domain. Raises PredtuiError where the wheel is broken."""
    return PocketsphinxRecognizer(asset("asr", "pocket.arpa"), asset("asr", "pocket.dict"))


class PocketsphinxRecognizer:
    """Recognizer over one Decoder. ``model``: a trigram file (ARPA), ``dictionary``: words that the wheel cannot
    pronounce, as "word PH ON EMES" lines; both may be missing. Raises PredtuiError where the wheel is broken."""

    rate = RATE

    def __init__(self, model: Path | None = None, dictionary: Path | None = None) -> None:
        try:
            from pocketsphinx import Decoder, get_model_path

            folder = Path(get_model_path("en-us"))
            domain = model is not None and model.is_file()
            self._decoder: Any = Decoder(
                hmm=str(folder / "en-us"),
                dict=str(folder / "cmudict-en-us.dict"),
                lm=None if domain else str(folder / "en-us.lm.bin"),
                loglevel="FATAL",
                **SEARCH,
            )
            if domain:
                self._search_domain(str(model), dictionary)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise PredtuiError(
                f"pocketsphinx cannot be loaded: {error}.", "Try: pip install --force-reinstall pocketsphinx"
            ) from error
        self._open = False
        self.start()

    def start(self) -> None:
        if self._open:
            self._decoder.end_utt()
        self._open = False
        self._words = LocalAgreement()
        self._contrast = Contrast(RATE)
        self._last = Hypothesis()
        self._heard = self._unseen = 0.0

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """A pause completes the last word: it is then no longer ``unfinished``."""
        if voiced:
            self._hear(pcm)
        if not self._open or (voiced and self._unseen < STEP_SECONDS) or (not voiced and not self._last.unfinished):
            return None
        if self._unseen > 0:
            self._unseen = 0.0
            held = -math.inf if self._contrast.doubtful else math.inf
            words = self._believed() if self._contrast.told else []  # a scrap of voice among many is no word yet
            self._words.update(words, until=self._heard - SETTLED_SECONDS, held=held)
        return self._changed(Hypothesis(joined(self._words.stable), joined(self._words.tentative), unfinished=voiced))

    def finish(self) -> Hypothesis:
        if self._open:
            self._decoder.end_utt()
            self._open = False
            self._words.finish(self._believed())
        return Hypothesis(joined(self._words.stable), unfinished=False)

    def _search_domain(self, model: str, dictionary: Path | None) -> None:
        if dictionary is not None and dictionary.is_file():
            for line in dictionary.read_text(encoding="ascii").splitlines():
                word, phones = line.split(maxsplit=1)
                self._decoder.add_word(word, phones, False)
        self._decoder.add_lm_file("domain", model)
        self._decoder.activate_search("domain")

    def _hear(self, pcm: bytes) -> None:
        if not self._open:
            self._decoder.start_utt()
            self._open = True
        self._decoder.process_raw(pcm)
        self._contrast.push(pcm)
        self._heard += len(pcm) / 2 / RATE
        self._unseen += len(pcm) / 2 / RATE

    def _changed(self, hypothesis: Hypothesis) -> Hypothesis | None:
        changed, self._last = hypothesis != self._last, hypothesis
        return hypothesis if changed else None

    def _believed(self) -> list[Word]:
        """Of far voices nothing; but what was stable before stays."""
        return [] if self._contrast.flat else self._segments()

    def _segments(self) -> list[Word]:
        """The words of the best path so far; silences and noises are none."""
        if self._decoder.hyp() is None:
            return []
        return [
            Word(
                _ALTERNATE.sub("", segment.word).lower(),
                segment.start_frame * FRAME_SECONDS,
                (segment.end_frame + 1) * FRAME_SECONDS,
            )
            for segment in self._decoder.seg()
            if segment.word[0] not in "<[+"
        ]
