"""Texts in a script that a voice does not read, in Latin letters where they are short; and pictures.

Must not know of any synthesiser.
"""

from __future__ import annotations

import re
import unicodedata

from predtui.tts.spoken.lexicon import Lexicon, base
from predtui.words import count

_NATIVE = {
    "CYRILLIC": "ru uk be bg mk sr kk ky tt ba cv kaa uz", "GREEK": "el grc", "HANGUL": "ko", "HEBREW": "he yi",
    "CJK": "zh cmn yue hak ja ko", "HIRAGANA": "ja", "KATAKANA": "ja", "ARABIC": "ar fa ur ug sd ps ku",
    "DEVANAGARI": "hi mr ne kok sa bpy", "BENGALI": "bn as bpy", "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn",
    "MALAYALAM": "ml", "GUJARATI": "gu", "GURMUKHI": "pa", "ORIYA": "or", "SINHALA": "si", "MYANMAR": "my shn",
    "GEORGIAN": "ka", "ARMENIAN": "hy hyw", "ETHIOPIC": "am ti", "THAI": "th", "LAO": "lo", "KHMER": "km",
    "TIBETAN": "bo", "CHEROKEE": "chr",
}  # fmt: skip
"""The languages that are written so, as eSpeak NG names them."""
_LETTERS = (
    "\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2c80-\u2dff\u2e80-\ua63f\ua800-\uab2f\uab70-\ufaff\ufb13-\ufdff"
    "\ufe70-\ufefe\uff66-\uffdc\U00010000-\U0001d3ff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_LETTERS}](?:[{_LETTERS}\\s]{{0,2000}}[{_LETTERS}])?")
_GREEK = re.compile(r"(?<!\w)[\u0391-\u03c9](?!\w)")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST = 6
"""Words, or letters of a script without spaces, that are still said in Latin letters."""


def said(text: str, language: str, words: Lexicon) -> str:
    """With short runs of other scripts in Latin letters, and one phrase for a long one."""
    if text.isascii():
        return text
    if words.scripts and base(language) not in _NATIVE["GREEK"].split():
        text = _GREEK.sub(lambda match: unicodedata.name(match[0], " ").split()[-1].lower(), text)
    return _RUN.sub(lambda match: _run(match[0], base(language), words), text)


def _run(run: str, language: str, words: Lexicon) -> str:
    scripts = [_script(letter) for letter in run if letter.isalpha()]
    if not scripts or any(language in _NATIVE.get(script, "").split() for script in scripts):
        return run
    if count(run) > _LONGEST and words.scripts:
        kana = next((script for script in scripts if script in ("HIRAGANA", "KATAKANA")), scripts[0])
        return f" {words.scripts.get(kana, words.scripts[''])} "
    return f" {_romanised(run) or run} "


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ")[0]


def _romanised(run: str) -> str:
    from anyascii import anyascii

    return _JOINED.sub(" ", anyascii(run)).strip()


def without_pictures(text: str) -> str:
    """Pictures are silent, unless a text is nothing else: then the first three are named, once each. Private characters
    stand for words."""
    words = "".join(character for character in text if not _is_pictograph(character))
    if any(character.isalnum() or unicodedata.category(character) == "Co" for character in words):
        return words
    names = dict.fromkeys(_name(character) for character in text if _is_named(character))
    return ", ".join(list(names)[:3])


def _is_pictograph(character: str) -> bool:
    if character.isascii():
        return False
    return unicodedata.category(character) in ("So", "Cs", "Sk") or character in "\u200d\ufe0f\ufe0e\u20e3"


def _is_named(character: str) -> bool:
    return unicodedata.category(character) == "So" and bool(unicodedata.name(character, ""))


def _name(character: str) -> str:
    name = unicodedata.name(character).lower()
    return "flag" if name.startswith("regional indicator") else name.removesuffix(" sign")
