"""Numbers as they are said: "1984" is "nineteen eighty-four", "3.50" is "three point five zero".

For synthesisers that know no digits. Must not know of any synthesiser, nor of anything in a text but its numbers.
"""

from __future__ import annotations

import re

_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_GROUPED_BY_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])")
_POINTED = frozenset(["en", "he", "hi", "ja", "ko", "th", "zh", "te", "kn", "bn"])
"""Languages that write a point before decimals; others write a comma."""
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NUMBER_WITH_COMMA = re.compile(r"\d+(?:[.,]\d+)?")
_YEARS = range(1001, 3000)
_LONGEST = 18
"""Digits of the longest number said as one; longer ones are said digit by digit."""


def spelled(text: str, language: str = "en") -> str:
    """``text`` with its numbers in words of ``language`` (an eSpeak name: "en-us", "de"). Where the numbers of a
    language are not known, they stay as they are."""
    words = NumberWords(language)
    if not words.known:
        return text
    if words.language not in _POINTED:
        text = _GROUPED_BY_POINTS.sub(lambda match: match[0].replace(".", ""), text)
        return _NUMBER_WITH_COMMA.sub(lambda match: words.number(match[0].replace(",", ".")), text)
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if words.language == "en":
        text = _ORDINAL.sub(lambda match: words.ordinal(match[1]), text)
    return _NUMBER.sub(lambda match: words.number(match[0]), text)


class NumberWords:
    """num2words for one language, as it names it. Numbers are digits, with a point before decimals."""

    def __init__(self, language: str) -> None:
        from num2words import CONVERTER_CLASSES

        parts = language.replace("-", "_").split("_")
        exact = f"{parts[0]}_{parts[1].upper()}" if len(parts) > 1 else parts[0]
        self._name = exact if exact in CONVERTER_CLASSES else parts[0]
        self.language = parts[0]
        self.known = self._name in CONVERTER_CLASSES

    def number(self, written: str) -> str:
        """A year where it may be one, else as ``cardinal``."""
        if written.isdecimal() and int(written[:_LONGEST]) in _YEARS and int(written[:_LONGEST]) % 1000:
            return self.year(written)
        return self.cardinal(written)

    def cardinal(self, written: str) -> str:
        """Decimals are said digit by digit."""
        whole, _, decimals = written.partition(".")
        if not decimals:
            return self._said(whole, "cardinal")
        if self.language != "en":
            return self._said(written, "cardinal")
        return f"{self.cardinal(whole)} point {self.digits(decimals)}"

    def ordinal(self, written: str) -> str:
        return self._said(written, "ordinal")

    def year(self, written: str) -> str:
        return self._said(written, "year")

    def digits(self, written: str) -> str:
        """One by one."""
        return " ".join(self._said(digit, "cardinal") for digit in written if digit.isdecimal())

    def _said(self, written: str, kind: str) -> str:
        from num2words import num2words

        if len(written) > _LONGEST:
            return self.digits(written)
        value = float(written) if "." in written else int(written)
        try:
            return str(num2words(value, lang=self._name, to=kind)).replace(",", "")
        except (NotImplementedError, OverflowError, ValueError, TypeError, IndexError, KeyError):
            return written
