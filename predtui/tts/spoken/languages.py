"""The languages whose words are known: a file each, and a line here."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from predtui.tts.spoken.lexicon import Lexicon, base

LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
_UNKNOWN = Lexicon()


@lru_cache(maxsize=8)
def lexicon(language: str) -> Lexicon:
    """Of a language, as eSpeak NG names it. None is imported but the one that is asked for."""
    name = LANGUAGES.get(base(language))
    if name is None:
        return _UNKNOWN
    found: Lexicon = import_module(f"predtui.tts.spoken.{name}").LEXICON
    return found
