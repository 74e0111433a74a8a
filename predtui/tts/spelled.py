"""Numbers as they are said: "1984" is "nineteen eighty-four", "$3.50" is "three dollars and fifty cents".

For synthesisers that know no digits. Must not know of any synthesiser, nor of anything in a text but its numbers.
"""

from __future__ import annotations

import re

_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_MONEY = re.compile(r"([$£€])\s?(\d+)(?:\.(\d\d))?(?!\.?\d)")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNITS = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent")}
_YEARS = range(1001, 3000)
_LONGEST = 18
"""Digits of the longest number said as one; longer ones are said digit by digit."""


def spelled(text: str, language: str = "en") -> str:
    """``text`` with its numbers in words of ``language`` (an eSpeak name: "en-us", "de"). Where the numbers of a
    language are not known, they stay as they are."""
    words = _Words(language)
    if not words.known:
        return text
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if words.language == "en":
        text = _MONEY.sub(lambda match: _money(words, match[1], match[2], match[3] or ""), text)
        text = _ORDINAL.sub(lambda match: words.say(match[1], "ordinal"), text)
    return _NUMBER.sub(lambda match: words.say(match[0]), text)


class _Words:
    """num2words for one language, as it names it."""

    def __init__(self, language: str) -> None:
        from num2words import CONVERTER_CLASSES

        parts = language.replace("-", "_").split("_")
        exact = f"{parts[0]}_{parts[1].upper()}" if len(parts) > 1 else parts[0]
        self._name = exact if exact in CONVERTER_CLASSES else parts[0]
        self.language = parts[0]
        self.known = self._name in CONVERTER_CLASSES

    def say(self, number: str, kind: str = "cardinal") -> str:
        from num2words import num2words

        if len(number) > _LONGEST:
            return " ".join(self.say(digit) for digit in number if digit.isdecimal())
        if kind == "cardinal" and number.isdecimal() and int(number) in _YEARS and int(number) % 1000:
            kind = "year"
        value = float(number) if "." in number else int(number)
        try:
            return str(num2words(value, lang=self._name, to=kind))
        except (NotImplementedError, OverflowError, ValueError, TypeError, IndexError, KeyError):
            return number


def _money(words: _Words, sign: str, whole: str, part: str) -> str:
    unit, small = _UNITS[sign]
    said = [f"{words.say(whole)} {_counted(unit, whole)}"] if int(whole) or not part else []
    if part and int(part):
        said.append(f"{words.say(str(int(part)))} {_counted(small, part)}")
    return " and ".join(said) or f"zero {_counted(unit, '0')}"


def _counted(noun: str, number: str) -> str:
    if int(number) == 1:
        return noun
    return "pence" if noun == "penny" else f"{noun}s"
