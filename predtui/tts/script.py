"""What a synthesiser is given to say for a sentence: in words of its language, as the user wants them said.

Must not know of any synthesiser, nor when a sentence is spoken.
"""

from __future__ import annotations

from pathlib import Path

from predtui.settings import TtsSettings
from predtui.tts.base import Speaker, Synthesizer
from predtui.tts.pronunciations import Pronunciations, read
from predtui.tts.speakable import speakable

LANGUAGE = TtsSettings().language


class Script:
    """Sentences as they are to be said. ``file``: the user's pronunciations, if any; it is read anew where it has
    changed. ``language``: of engines that tell of none."""

    def __init__(self, file: Path | None = None, language: str = LANGUAGE) -> None:
        self._file, self._language = file, language
        self._read_at = -1
        self._words = Pronunciations()

    def refresh(self) -> str:
        """Reads the user's file where it has changed. What of it cannot be used, in a line; else nothing."""
        if self._file is None or (changed := _changed(self._file)) == self._read_at:
            return ""
        self._read_at = changed
        self._words, problem = read(self._file)
        return problem

    def text(self, sentence: str, engine: Synthesizer) -> str:
        """What ``engine`` is to say for ``sentence``."""
        if not isinstance(engine, Speaker):
            return speakable(sentence, self._language, self._words.without_phonemes())
        words = self._words if engine.espeak_phonemes else self._words.without_phonemes()
        return speakable(sentence, engine.language, words)


def _changed(file: Path) -> int:
    """When, in nanoseconds; 0 where there is none."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
