"""Text to phonemes in the form that Zonos was trained on: word by word in IPA, punctuation and spaces kept.

Must not know of tensors.
"""

from __future__ import annotations

import re
from functools import lru_cache

from predtui.errors import PredtuiError
from predtui.tts.espeak import transcribe
from predtui.tts.spelled import spelled
from predtui.tts.zonos.symbols import LANGUAGES, PUNCTUATION

_MARKS = re.compile(rf"([{re.escape(PUNCTUATION)}\s]+)")


@lru_cache(maxsize=64)
def phonemes(text: str, language: str) -> str:
    """``text`` in IPA: punctuation stays where it is, each word between is transcribed by itself. Empty for a text
    without words. Cached, since a sentence is measured before it is spoken. Raises PredtuiError for a ``language``
    (eSpeak NG's name) that eSpeak NG or the checkpoint does not know."""
    check_language(language)
    parts = _MARKS.split(spelled(text, language))
    words = transcribe(parts[::2], language)
    if not any(words):
        return ""
    return "".join(part for pair in zip(words, [*parts[1::2], ""], strict=True) for part in pair).strip()


def check_language(language: str) -> None:
    """Raises PredtuiError for a language that Zonos does not know."""
    if language not in LANGUAGES:
        raise PredtuiError(f"Zonos knows no language {language!r}.", f"tts.language is one of {', '.join(LANGUAGES)}.")
