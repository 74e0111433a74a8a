"""The languages whose words are known: a file each, and a line here."""

from __future__ import annotations

from predtui.tts.spoken import english, french, german, spanish
from predtui.tts.spoken.lexicon import Lexicon, base

LANGUAGES = {"en": english.LEXICON, "de": german.LEXICON, "fr": french.LEXICON, "es": spanish.LEXICON}


def lexicon(language: str) -> Lexicon:
    """Of a language, as eSpeak NG names it."""
    return LANGUAGES.get(base(language)) or Lexicon()
