"""How a prompt is written down: with care, by a speech recogniser, or typed in haste.

Works on the finished wording; the meaning never changes. Knows nothing of intents or templates.
"""

from __future__ import annotations

import random
import re
import unicodedata
from typing import Literal

from predtui.lab.numerals import in_words
from predtui.lab.training.corpus.read import rows

Style = Literal["written", "recognised", "typed"]

_STYLES: tuple[Style, ...] = ("written", "recognised", "typed")
_SHARES = (0.40, 0.85, 1.0)
_SYMBOLS = {"+": "plus", "-": "minus", "*": "times", "×": "times", "/": "divided by", "=": "equals", "%": "percent"}
_SYMBOL = re.compile(r"(?:(?<=\s)|^)[+\-*×/=](?=\s|$)|%")
_PUNCTUATION = re.compile(r"[^\w\s'.:]|(?<!\d)[.:]|[.:](?!\d)|(?<!\w)'|'(?!\w)")
_DIGITS = re.compile(r"\d")
_EXPANSIONS = {row["short"]: row["long"] for row in rows("contractions")}
_CONTRACTION = re.compile("|".join(rf"\b{re.escape(short)}\b" for short in _EXPANSIONS))
_PRONOUN = re.compile(r"\bi\b(?!\.)")


def draw_style(rng: random.Random) -> Style:
    """A style by its share: 40 % written, 45 % recognised, 15 % typed."""
    at = rng.random()
    return _STYLES[0 if at < _SHARES[0] else 1 if at < _SHARES[1] else 2]


def render(text: str, mark: str, style: Style, rng: random.Random, slots: frozenset[str] = frozenset()) -> str:
    """``text`` as ``style`` writes it. ``mark`` is its final punctuation, where the style has any;
    ``slots`` are the lower-case words that no typing error may touch."""
    if style == "recognised":
        return _recognised(text, rng)
    if style == "typed":
        return _typed(text, mark, rng, slots)
    return _written(text, mark, rng)


def _written(text: str, mark: str, rng: random.Random) -> str:
    text = _PRONOUN.sub("I", text)
    if rng.random() < 0.2 and _DIGITS.search(text):
        text = in_words(text)
    if rng.random() < 0.9:
        text += mark
    return text[:1].upper() + text[1:]


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _recognised(text: str, rng: random.Random) -> str:
    text = _SYMBOL.sub(lambda match: f" {_SYMBOLS[match[0]]} ", text.lower())
    if _DIGITS.search(text) and rng.random() < 0.65:
        text = in_words(text)
    if "'" in text:
        at = rng.random()
        if at < 0.2:
            text = _CONTRACTION.sub(lambda match: _EXPANSIONS[match[0]], text)
        elif at < 0.4:
            text = text.replace("'", "")
    if not text.isascii() and rng.random() < 0.6:
        text = _without_accents(text)
    return " ".join(_PUNCTUATION.sub(" ", text).split())


def _mistyped(word: str, rng: random.Random) -> str:
    """One letter inside the word swapped with the next, left out or doubled."""
    at = rng.randrange(1, len(word) - 2)
    kind = rng.randrange(3)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    return word[:at] + word[at] + word[at:]


def _typed(text: str, mark: str, rng: random.Random, slots: frozenset[str]) -> str:
    if rng.random() < 0.85:
        text = text.lower()
    if rng.random() < 0.5:
        text = _without_accents(text).replace("'", "")
    text = " ".join(
        _mistyped(word, rng) if len(word) > 4 and word.isalpha() and rng.random() < 0.04 and word.lower() not in slots
        else word
        for word in text.split(" ")
    )  # fmt: skip
    return text + mark if rng.random() < 0.3 else text
